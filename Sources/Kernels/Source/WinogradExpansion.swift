import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func expandWinogradWeights(_ a: WinogradExpansionArguments) {
    switch a.panel.values {
    case .linear: expand(a, stage: nil)
    case .halves, .table:
      let count = channelsAtOnce &* a.form.taps &* a.panel.width
      withUnsafeTemporaryAllocation(of: Float.self, capacity: count) {
        expand(a, stage: $0.baseAddress)
      }
    }
  }
}

/// - Parameter stage: buffer for the values of some channels, unless they are linear.
@inline(never)
private func expand(_ a: WinogradExpansionArguments, stage: UnsafeMutablePointer<Float>?) {
  a.form.perform(WeightExpansion(a: a, stage: stage))
}

/// Number of channels to look up at a time, so that their values stay in the L1 cache.
@inline(__always)
private var channelsAtOnce: Int { 8 }

/// Distance in bytes from the codes in use to those being prefetched.
@inline(__always)
private var fetchDistance: Int { 4096 }

@inline(__always)
private func fetchCodes(_ codes: UnsafePointer<UInt8>, count: Int) {
  var byte = 0
  while byte < count {
    vector_prefetch(codes + byte)
    byte &+= 64
  }
}

private struct WeightExpansion: WinogradTask {
  let a: WinogradExpansionArguments
  let stage: UnsafeMutablePointer<Float>?

  @inline(never)
  private func fillStage(_ codes: UnsafePointer<UInt8>, count: Int) {
    guard let stage else { return }
    switch a.panel.values {
    case .linear: break
    case .halves(let scale, let bias):
      expand(codes, rows: count / a.panel.width, width: a.panel.width, (scale, bias), to: stage)
      roundToHalf(stage, count: count)
    case .table(let table): expandBytes(ByteRows(base: codes), count: count, table, to: stage)
    }
  }

  @inline(__always)
  func run<V: WinogradTransform, H: WinogradTransform>(_: V.Type, _: H.Type) {
    let channelCodes = V.taps &* H.taps &* a.panel.width
    switch a.panel.values {
    case .linear(let scale, let bias):
      var channel = 0
      while channel < a.panel.inputChannels {
        let codes = a.panel.codes + channel &* channelCodes
        fetchCodes(codes + fetchDistance, count: channelCodes)
        transform(V.self, H.self, channel: channel) { tap, column in
          let x = UnsafeRawPointer(codes + (tap &* a.panel.width &+ column))
            .loadUnaligned(as: vector_bytes.self)
          return vector_scale(vector_from_bytes(x), load(scale + column), load(bias + column))
        }
        channel &+= 1
      }
    case .halves, .table:
      guard let stage else { return }
      var first = 0
      while first < a.panel.inputChannels {
        let end = min(first &+ channelsAtOnce, a.panel.inputChannels)
        fillStage(
          a.panel.codes + first &* channelCodes, count: (end &- first) &* channelCodes)
        var channel = first
        while channel < end {
          fetchCodes(
            a.panel.codes + (channel &* channelCodes &+ fetchDistance), count: channelCodes)
          let own = stage + (channel &- first) &* channelCodes
          if let factor = a.panel.factor {
            transform(V.self, H.self, channel: channel) { tap, column in
              load(own + (tap &* a.panel.width &+ column)) * load(factor + column)
            }
          } else {
            transform(V.self, H.self, channel: channel) { tap, column in
              load(own + (tap &* a.panel.width &+ column))
            }
          }
          channel &+= 1
        }
        first = end
      }
    }
    var channel = a.panel.inputChannels
    while channel < a.channels {
      transform(V.self, H.self, channel: channel) { _, _ in .zero }
      channel &+= 1
    }
  }

  /// Transforms the kernels of one input channel, given their values by tap and column.
  @inline(__always)
  private func transform<V: WinogradTransform, H: WinogradTransform>(
    _: V.Type, _: H.Type, channel: Int, _ value: (Int, Int) -> Vector
  ) {
    var column = 0
    while column < a.panel.width {
      var target = a.packed.base + (channel &* a.panel.width &+ column)
      transformKernel(V.self, H.self, SinglePrecision.self) {
        value($0, column)
      } store: { values in
        store(values, target)
        target += a.packed.stride
      }
      column &+= lanes
    }
  }
}
