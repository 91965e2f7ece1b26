import Testing

@testable import Kernels

/// Weights transformed from panels of codes in single precision, against the exact ones.
@Suite struct WinogradExpansionTests {
  private typealias Derivation = WinogradDerivation

  @Test(arguments: availableSets, Derivation.sizes)
  func equalExactTransforms(_ set: InstructionSet, _ size: Int) {
    let block = set.kernels.channelBlock
    let fullWidth = block * set.kernels.panelBlocks
    let points = WinogradTiles.points(size: size)
    let transform = Derivation.used(size: size).weightTransform.map { $0.map(\.double) }
    for (inputs, width) in [(1, block), (block + 3, fullWidth), (2 * block, fullWidth)] {
      var generator = Generator(state: UInt64(inputs))
      let channels = (inputs + block - 1) / block * block
      let codes = (0..<9 * inputs * width).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let scale = generator.floats(width, in: 0.005...0.01)
      let bias = generator.floats(width, in: -1.2 ... -1)
      let table = generator.floats(256)
      let padded = [UInt8](repeating: 0, count: (4 - codes.count % 4) % 4) + codes
      let source = GuardedBuffer(
        padded.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: .end)
      let first = UnsafeRawPointer(source.pointer) + (padded.count - codes.count)
      let scales = GuardedBuffer(scale, at: .end)
      let biases = GuardedBuffer(bias, at: .end)
      let values = GuardedBuffer(table, at: .end)
      let cases: [(PanelValues, (Int, Int) -> Double)] = [
        (
          .linear(scale: scales.constant, bias: biases.constant),
          { Double(scale[$1]) * Double($0) + Double(bias[$1]) }
        ),
        (.table(values.constant, scale: nil), { code, _ in Double(table[code]) }),
        (
          .table(values.constant, scale: scales.constant),
          { Double(table[$0]) * Double(scale[$1]) }
        ),
      ]
      for (form, value) in cases {
        let pointStride = channels * width + 5
        let packed = GuardedBuffer(count: (points - 1) * pointStride + channels * width, at: .end)
        set.kernels.expandWinogradWeights(
          WinogradExpansionArguments(
            size: size, codes: first.assumingMemoryBound(to: UInt8.self), values: form,
            inputChannels: inputs, channels: channels, width: width, packed: packed.pointer,
            pointStride: pointStride))
        let found = packed.values
        var worst = 0.0
        for channel in 0..<channels {
          for column in 0..<width {
            let g = (0..<9).map { tap in
              channel < inputs
                ? value(Int(codes[(9 * channel + tap) * width + column]), column) : 0
            }
            for point in 0..<points {
              let (y, x) = point.quotientAndRemainder(dividingBy: size + 2)
              var exact = 0.0
              for ky in 0..<3 {
                for kx in 0..<3 { exact += transform[y][ky] * g[3 * ky + kx] * transform[x][kx] }
              }
              let place = point * pointStride + channel * width + column
              worst = max(worst, abs(Double(found[place]) - exact))
            }
          }
        }
        // Two lines of three terms below (16/15)² · (7/4)² · 1.3, each rounded some times.
        #expect(worst <= 16 * 4.6 * Double(Float.ulpOfOne) / 2, "\(set) \(size): \(worst)")
        // What lies between the points stays.
        for point in 1..<points {
          let gap = point * pointStride - 5..<point * pointStride
          #expect(found[gap].allSatisfy { $0 == GuardedBuffer.untouched })
        }
      }
    }
  }
}
