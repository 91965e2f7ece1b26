import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// Weights transformed from panels of codes in single precision, compared with exact ones.
@Suite struct WinogradExpansionTests {
  private typealias Derivation = WinogradDerivation

  @Test(arguments: availableSets, WinogradForm.allCases)
  func equalExactTransforms(_ set: InstructionSet, _ form: WinogradForm) {
    let block = set.kernels.channelBlock
    let fullWidth = block * set.kernels.panelBlocks
    let points = form.points
    let taps = form.taps
    let vertical = Derivation.used(form.vertical).weightTransform.map { $0.map(\.double) }
    let horizontal = Derivation.used(form.horizontal).weightTransform.map { $0.map(\.double) }
    for (inputs, width) in [(1, block), (block + 3, fullWidth), (2 * block, fullWidth)] {
      var generator = SplitMix64(seed: UInt64(inputs))
      let channels = (inputs + block - 1) / block * block
      let codes = (0..<taps * inputs * width).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      // Few bits, so that linear values are exact.
      let scale = generator.values(width, in: 0.005...0.01).map { ($0 * 0x1p15).rounded() / 0x1p15 }
      let bias = scale.map { $0 * -120 }
      let table = generator.values(256)
      let padded = [UInt8](repeating: 0, count: (4 - codes.count % 4) % 4) + codes
      let source = GuardedBuffer(
        padded.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: .end)
      let first = UnsafeRawPointer(source.pointer) + (padded.count - codes.count)
      let scales = GuardedBuffer(scale, at: .end)
      let biases = GuardedBuffer(bias, at: .end)
      let values = GuardedBuffer(table, at: .end)
      let cases: [(PanelValues, UnsafePointer<Float>?, (Int, Int) -> Double)] = [
        (
          .linear(scale: scales.constant, bias: biases.constant), nil,
          { Double(scale[$1]) * Double($0) + Double(bias[$1]) }
        ),
        (
          .halves(scale: scales.constant, bias: biases.constant), nil,
          { Double(Float16(scale[$1] * Float($0) + bias[$1])) }
        ),
        (
          .halves(scale: scales.constant, bias: biases.constant), scales.constant,
          { Double(Float16(scale[$1] * Float($0) + bias[$1])) * Double(scale[$1]) }
        ),
        (.table(values.constant), nil, { code, _ in Double(table[code]) }),
        (
          .table(values.constant), scales.constant,
          { Double(table[$0]) * Double(scale[$1]) }
        ),
      ]
      for (codeValues, factor, value) in cases {
        let pointStride = channels * width + 5
        let packed = GuardedBuffer(count: (points - 1) * pointStride + channels * width, at: .end)
        set.kernels.expandWinogradWeights(
          WinogradExpansionArguments(
            form: form,
            panel: CodePanel(
              codes: first.assumingMemoryBound(to: UInt8.self), values: codeValues, factor: factor,
              inputChannels: inputs, width: width), channels: channels,
            packed: PointBuffer(packed.pointer, stride: pointStride)))
        let found = packed.values
        var worst = 0.0
        for channel in 0..<channels {
          for column in 0..<width {
            let g = (0..<taps).map { tap in
              channel < inputs
                ? value(Int(codes[(taps * channel + tap) * width + column]), column) : 0
            }
            for point in 0..<points {
              let (y, x) = point.quotientAndRemainder(dividingBy: form.horizontal.points)
              var exact = 0.0
              for (tap, g) in g.enumerated() {
                let (ky, kx) = tap.quotientAndRemainder(dividingBy: form.horizontal.taps)
                exact += vertical[y][ky] * g * horizontal[x][kx]
              }
              let place = point * pointStride + channel * width + column
              worst = max(worst, abs(Double(found[place]) - exact))
            }
          }
        }
        // Two lines of three terms below (16/15)² · (7/4)² · 1.3, each rounded several times; one
        // line of seven terms is below 8/225 · 33 · 1.3.
        #expect(worst <= 16 * 4.6 * Double(Float.ulpOfOne) / 2, "\(set) \(form): \(worst)")
        // Elements between the points are unchanged.
        for point in 1..<points {
          let gap = point * pointStride - 5..<point * pointStride
          #expect(found[gap].allSatisfy { $0 == GuardedBuffer.untouched })
        }
      }
    }
  }
}
