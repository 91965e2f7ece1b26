import CVector
import KernelInterface

/// See `WinogradExpansionArguments`.
@inline(never)
func expandWinogradWeights(_ a: WinogradExpansionArguments) {
  switch a.values {
  case .linear: expand(a, stage: nil)
  case .table:
    withUnsafeTemporaryAllocation(of: Float.self, capacity: channelsAtOnce &* 9 &* a.width) {
      expand(a, stage: $0.baseAddress)
    }
  }
}

/// - Parameter stage: for the values of some channels, where they are looked up.
@inline(never)
private func expand(_ a: WinogradExpansionArguments, stage: UnsafeMutablePointer<Float>?) {
  switch a.size {
  case 2: expand(a, Winograd2.self, stage)
  case 4: expand(a, Winograd4.self, stage)
  default: expand(a, Winograd6.self, stage)
  }
}

/// Channels whose values are looked up at a time: they stay in the nearest cache.
private var channelsAtOnce: Int {
  @inline(__always) get { 8 }
}

/// Bytes from the codes that are used to those that are asked for.
private var fetchDistance: Int {
  @inline(__always) get { 4096 }
}

@inline(__always)
private func fetchCodes(_ codes: UnsafePointer<UInt8>, count: Int) {
  var byte = 0
  while byte < count {
    vector_prefetch(codes + byte)
    byte &+= 64
  }
}

@inline(__always)
private func expand<T: WinogradTransform>(
  _ a: WinogradExpansionArguments, _: T.Type, _ stage: UnsafeMutablePointer<Float>?
) {
  let channelCodes = 9 &* a.width
  switch a.values {
  case .linear(let scale, let bias):
    var channel = 0
    while channel < a.inputChannels {
      let codes = a.codes + channel &* channelCodes
      fetchCodes(codes + fetchDistance, count: channelCodes)
      transformKernels(a, T.self, channel: channel) { tap, column in
        let x = UnsafeRawPointer(codes + (tap &* a.width &+ column))
          .loadUnaligned(as: vector_bytes.self)
        return vector_scale(vector_from_bytes(x), load(scale + column), load(bias + column))
      }
      channel &+= 1
    }
  case .table(let table, let scale):
    guard let stage else { return }
    var first = 0
    while first < a.inputChannels {
      let end = min(first &+ channelsAtOnce, a.inputChannels)
      expandBytes(
        a.codes + first &* channelCodes, rows: 1, rowStride: 0,
        count: (end &- first) &* channelCodes, table, to: stage, outputStride: 0)
      var channel = first
      while channel < end {
        fetchCodes(a.codes + (channel &* channelCodes &+ fetchDistance), count: channelCodes)
        let own = stage + (channel &- first) &* channelCodes
        if let scale {
          transformKernels(a, T.self, channel: channel) { tap, column in
            load(own + (tap &* a.width &+ column)) * load(scale + column)
          }
        } else {
          transformKernels(a, T.self, channel: channel) { tap, column in
            load(own + (tap &* a.width &+ column))
          }
        }
        channel &+= 1
      }
      first = end
    }
  }
  var channel = a.inputChannels
  while channel < a.channels {
    transformKernels(a, T.self, channel: channel) { _, _ in .zero }
    channel &+= 1
  }
}

/// The kernels of one input channel, from their values by tap and column.
@inline(__always)
private func transformKernels<T: WinogradTransform>(
  _ a: WinogradExpansionArguments, _: T.Type, channel: Int, _ value: (Int, Int) -> Vector
) {
  var column = 0
  while column < a.width {
    var g = InlineArray<9, Vector>(repeating: .zero)
    for tap in 0..<9 { g[tap] = value(tap, column) }
    // [column][row]
    let columns: InlineArray<3, WinogradLine> = [
      T.weights([g[0], g[3], g[6]]), T.weights([g[1], g[4], g[7]]),
      T.weights([g[2], g[5], g[8]]),
    ]
    var target = a.packed + (channel &* a.width &+ column)
    for y in 0..<T.edge {
      let row = T.weights([columns[0][y], columns[1][y], columns[2][y]])
      for x in 0..<T.edge {
        store(row[x], target)
        target += a.pointStride
      }
    }
    column &+= lanes
  }
}
