import KernelInterface

extension Table {
  @inline(never)
  package static func packWinogradWeights(
    _ a: PackingArguments, form: WinogradForm, scale: UnsafePointer<Float>?
  ) {
    form.perform(WeightPacking(a: a, scale: scale))
  }
}

private struct WeightPacking: WinogradTask {
  let a: PackingArguments
  let scale: UnsafePointer<Float>?

  @inline(__always)
  func run<V: WinogradTransform, H: WinogradTransform>(_: V.Type, _: H.Type) {
    let panelWidth = panelVectors &* lanes
    let channels = (a.layout.inputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
    let outputs = (a.layout.outputChannels &+ channelBlock &- 1) / channelBlock &* channelBlock
    var panel = a.panels.lowerBound
    while panel < a.panels.upperBound {
      let first = panel &* panelWidth
      let width = min(panelWidth, outputs &- first)
      let target = a.packed + panel &* V.points &* H.points &* channels &* panelWidth
      var channel = 0
      while channel < channels {
        var column = 0
        while column < width {
          pack(
            V.self, H.self, output: first &+ column, input: channel,
            to: PointBuffer(target + (channel &* width &+ column), stride: channels &* width))
          column &+= 8
        }
        channel &+= 1
      }
      panel &+= 1
    }
  }

  /// Transforms the kernels of eight output channels.
  @inline(__always)
  private func pack<V: WinogradTransform, H: WinogradTransform>(
    _: V.Type, _: H.Type, output: Int, input: Int, to target: PointBuffer
  ) {
    // [tap][output channel]
    var taps = InlineArray<9, SIMD8<Float>>(repeating: .zero)
    let used =
      input < a.layout.inputChannels
      ? min(8, a.layout.outputChannels &- output) : 0
    withUnsafeMutableBytes(of: &taps) { bytes in
      guard let stage = bytes.baseAddress?.assumingMemoryBound(to: Float.self) else { return }
      var lane = 0
      while lane < used {
        let source =
          a.source
          + ((output &+ lane) &* a.layout.outputStride &+ input &* a.layout.inputStride) &* 4
        for y in 0..<V.taps {
          for x in 0..<H.taps {
            stage[(H.taps &* y &+ x) &* 8 &+ lane] =
              (source + (y &* a.layout.rowStride &+ x &* a.layout.columnStride) &* 4)
              .loadUnaligned(as: Float.self)
          }
        }
        lane &+= 1
      }
    }
    var scale = SIMD8<Double>(repeating: 1)
    if let factors = self.scale {
      for lane in 0..<8 where lane < used { scale[lane] = Double(factors[output &+ lane]) }
    }
    var position = UnsafeMutableRawPointer(target.base)
    transformKernel(V.self, H.self, DoublePrecision.self) { tap in
      SIMD8<Double>(taps[tap]) * scale
    } store: { values in
      position.storeBytes(of: SIMD8<Float>(values), as: SIMD8<Float>.self)
      position += target.stride &* 4
    }
  }
}
