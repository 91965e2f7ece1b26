import KernelInterface

/// See `WinogradPackingArguments`.
@inline(never)
func packWinogradWeights(_ a: WinogradPackingArguments) {
  let panelWidth = panelVectors &* lanes
  let channels = (a.inputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
  let outputs = (a.outputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
  var panel = a.firstPanel
  while panel < a.firstPanel &+ a.panelCount {
    let first = panel &* panelWidth
    let width = min(panelWidth, outputs &- first)
    let target = a.packed + panel &* WinogradTiles.points &* channels &* panelWidth
    var channel = 0
    while channel < channels {
      var column = 0
      while column < width {
        packKernels(
          a, output: first &+ column, input: channel,
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
private func packKernels(
  _ a: WinogradPackingArguments, output: Int, input: Int, target: UnsafeMutablePointer<Float>,
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
  let columns: InlineArray<3, InlineArray<6, WinogradWeights>> = [
    winogradWeights((kernel[0], kernel[3], kernel[6])),
    winogradWeights((kernel[1], kernel[4], kernel[7])),
    winogradWeights((kernel[2], kernel[5], kernel[8])),
  ]
  for y in 0..<6 {
    let row = winogradWeights((columns[0][y], columns[1][y], columns[2][y]))
    for x in 0..<6 {
      UnsafeMutableRawPointer(target + (6 &* y &+ x) &* pointStride)
        .storeBytes(of: SIMD8<Float>(row[x]), as: SIMD8<Float>.self)
    }
  }
}
