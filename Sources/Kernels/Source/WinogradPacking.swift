import KernelInterface

/// See `WinogradPackingArguments`.
@inline(never)
func packWinogradWeights(_ a: WinogradPackingArguments) {
  a.form.perform(WeightPacking(a: a))
}

private struct WeightPacking: WinogradTask {
  let a: WinogradPackingArguments

  @inline(__always)
  func run<V: WinogradTransform, H: WinogradTransform>(_: V.Type, _: H.Type) {
    let panelWidth = panelVectors &* lanes
    let channels = (a.inputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
    let outputs = (a.outputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
    var panel = a.firstPanel
    while panel < a.firstPanel &+ a.panelCount {
      let first = panel &* panelWidth
      let width = min(panelWidth, outputs &- first)
      let target = a.packed + panel &* V.points &* H.points &* channels &* panelWidth
      var channel = 0
      while channel < channels {
        var column = 0
        while column < width {
          pack(
            V.self, H.self, output: first &+ column, input: channel,
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
  private func pack<V: WinogradTransform, H: WinogradTransform>(
    _: V.Type, _: H.Type, output: Int, input: Int, target: UnsafeMutablePointer<Float>,
    pointStride: Int
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
        for y in 0..<V.taps {
          for x in 0..<H.taps {
            stage[(H.taps &* y &+ x) &* 8 &+ lane] =
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
    // [column][row]
    var columns = InlineArray<7, WinogradWeightLine>(repeating: .init(repeating: .zero))
    for x in 0..<H.taps {
      var line = WinogradWeightLine(repeating: .zero)
      for y in 0..<V.taps { line[y] = WinogradWeights(taps[H.taps &* y &+ x]) * scale }
      columns[x] = V.weights(line)
    }
    for y in 0..<V.points {
      var line = WinogradWeightLine(repeating: .zero)
      for x in 0..<H.taps { line[x] = columns[x][y] }
      let row = H.weights(line)
      for x in 0..<H.points {
        UnsafeMutableRawPointer(target + (H.points &* y &+ x) &* pointStride)
          .storeBytes(of: SIMD8<Float>(row[x]), as: SIMD8<Float>.self)
      }
    }
  }
}
