import KernelInterface

/// See `WinogradPackingArguments`.
@inline(never)
func packWinogradWeights(_ a: WinogradPackingArguments) {
  if a.size == 6 {
    packWeights(a, Winograd6.self)
  } else {
    packWeights(a, Winograd4.self)
  }
}

@inline(__always)
private func packWeights<T: WinogradTransform>(_ a: WinogradPackingArguments, _: T.Type) {
  let panelWidth = panelVectors &* lanes
  let channels = (a.inputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
  let outputs = (a.outputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
  var panel = a.firstPanel
  while panel < a.firstPanel &+ a.panelCount {
    let first = panel &* panelWidth
    let width = min(panelWidth, outputs &- first)
    let target = a.packed + panel &* T.points &* channels &* panelWidth
    var channel = 0
    while channel < channels {
      var column = 0
      while column < width {
        packKernels(
          a, T.self, output: first &+ column, input: channel,
          target: target + (channel &* width &+ column), pointStride: channels &* width)
        column &+= WinogradWeights.scalarCount
      }
      channel &+= 1
    }
    panel &+= 1
  }
}

/// The kernels of eight output channels.
@inline(__always)
private func packKernels<T: WinogradTransform>(
  _ a: WinogradPackingArguments, _: T.Type, output: Int, input: Int,
  target: UnsafeMutablePointer<Float>,
  pointStride: Int
) {
  var kernel = InlineArray<9, WinogradWeights>(repeating: .zero)
  let used =
    input < a.inputChannels ? min(WinogradWeights.scalarCount, a.outputChannels &- output) : 0
  var lane = 0
  while lane < used {
    let scale = a.scale.map { Double($0[output &+ lane]) } ?? 1
    let source =
      a.source + ((output &+ lane) &* a.outputStride &+ input &* a.inputStride) &* 4
    for y in 0..<3 {
      for x in 0..<3 {
        let value = (source + (y &* a.rowStride &+ x &* a.columnStride) &* 4)
          .loadUnaligned(as: Float.self)
        kernel[3 &* y &+ x][lane] = Double(value) * scale
      }
    }
    lane &+= 1
  }
  // [column][row]
  let columns: InlineArray<3, WinogradWeightLine> = [
    T.weights([kernel[0], kernel[3], kernel[6]]),
    T.weights([kernel[1], kernel[4], kernel[7]]),
    T.weights([kernel[2], kernel[5], kernel[8]]),
  ]
  for y in 0..<T.edge {
    let row = T.weights([columns[0][y], columns[1][y], columns[2][y]])
    for x in 0..<T.edge {
      UnsafeMutableRawPointer(target + (T.edge &* y &+ x) &* pointStride)
        .storeBytes(of: SIMD8<Float>(row[x]), as: SIMD8<Float>.self)
    }
  }
}
