import KernelInterface

/// See `WinogradPackingArguments`.
@inline(never)
func packWinogradWeights(_ a: WinogradPackingArguments) {
  switch a.size {
  case 2: packWeights(a, Winograd2.self)
  case 4: packWeights(a, Winograd4.self)
  default: packWeights(a, Winograd6.self)
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
  target: UnsafeMutablePointer<Float>, pointStride: Int
) {
  // [tap][output channel]
  var taps = InlineArray<9, SIMD8<Float>>(repeating: .zero)
  let used =
    input < a.inputChannels ? min(WinogradWeights.scalarCount, a.outputChannels &- output) : 0
  withUnsafeMutableBytes(of: &taps) { bytes in
    guard let stage = bytes.baseAddress?.assumingMemoryBound(to: Float.self) else { return }
    var lane = 0
    while lane < used {
      let source =
        a.source + ((output &+ lane) &* a.outputStride &+ input &* a.inputStride) &* 4
      for y in 0..<3 {
        for x in 0..<3 {
          stage[(3 &* y &+ x) &* 8 &+ lane] =
            (source + (y &* a.rowStride &+ x &* a.columnStride) &* 4)
            .loadUnaligned(as: Float.self)
        }
      }
      lane &+= 1
    }
  }
  var scale = WinogradWeights(repeating: 1)
  if let scales = a.scale {
    for lane in 0..<8 where lane < used { scale[lane] = Double(scales[output &+ lane]) }
  }
  var kernel = InlineArray<9, WinogradWeights>(repeating: .zero)
  for tap in 0..<9 { kernel[tap] = WinogradWeights(taps[tap]) * scale }
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
