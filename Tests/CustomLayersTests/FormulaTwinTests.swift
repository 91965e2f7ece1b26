import Foundation
import TensorCore
import TestSupport
import Testing

@testable import CustomLayers

/// The built-in layers compared with their formulas in double precision.
@Suite struct FormulaTwinTests {
  private func expectClose(
    _ result: CaseTensor, _ shape: [Int], _ expected: [Double], _ label: String = "",
    tolerance: Double = 2e-6
  ) {
    #expect(result.shape == shape, "\(label)")
    #expect(result.values.count == expected.count)
    let largest = expected.reduce(1) { max($0, abs($1)) }
    for (index, (value, exact)) in zip(result.values, expected).enumerated()
    where !(abs(Double(value) - exact) <= tolerance * largest) {
      Issue.record("\(label)[\(index)] is \(value), not \(exact)")
      return
    }
  }

  @Test func elementwise() throws {
    var random = SplitMix64(seed: 1)
    var input = random.array([1, 2, 3, 40, 50])
    for index in input.values.indices { input.values[index] *= 6 }
    let functions: [(String, [String: CustomLayerParameter], @Sendable (Double) -> Double)] = [
      ("HardSwish", [:], { $0 * min(max($0 + 3, 0), 6) / 6 }),
      ("Mish", [:], { $0 * tanh(log1p(exp($0))) }),
      ("GELU", [:], { $0 / 2 * erfc(-$0 / 2.0.squareRoot()) }),
      (
        "GELU", ["approximate": .bool(true)],
        { $0 / 2 * (1 + tanh((2 / Double.pi).squareRoot() * ($0 + 0.044715 * $0 * $0 * $0))) }
      ),
      ("Swish", ["beta": .double(0.5)], { $0 / (1 + exp(-$0 / 2)) }),
      ("DeprocessStylizedImage", [:], { ($0 + 1) * 127.5 }),
      ("identity", [:], { $0 }),
    ]
    for (name, parameters, function) in functions {
      let result = try LayerRun.run(try LayerRun.make(name, parameters), [input])[0]
      expectClose(result, input.shape, input.values.map { function(Double($0)) }, name)
    }
  }

  @Test func normalizations() throws {
    var random = SplitMix64(seed: 2)
    let shape = [2, 3, 8, 5, 7]
    let input = random.array(shape)
    let (gamma, beta) = (random.array([8]).values, random.array([8]).values)
    for (name, groups, parameters) in [
      ("GroupNormalization", 4, ["groups": CustomLayerParameter.int(4)]),
      ("InstanceNormalization", 8, ["epsilon": .double(1e-5)]),
    ] {
      let layer = try LayerRun.make(
        name, parameters, [CustomLayerWeight(gamma), CustomLayerWeight(beta)])
      var expected: [Double] = []
      let length = 8 / groups * 35
      for group in 0..<6 * groups {
        let values = input.values[group * length..<(group + 1) * length].map(Double.init)
        let mean = values.reduce(0, +) / Double(length)
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(length)
        for (index, value) in values.enumerated() {
          let channel = group % groups * (8 / groups) + index / 35
          expected.append(
            Double(gamma[channel]) * (value - mean) / (variance + 1e-5).squareRoot()
              + Double(beta[channel]))
        }
      }
      expectClose(try LayerRun.run(layer, [input])[0], shape, expected, name)
    }
  }

  @Test(arguments: [-1, -2, -3, 0])
  func alongAnAxis(axis: Int) throws {
    var random = SplitMix64(seed: 3)
    let shape = [3, 4, 5, 6]
    let input = random.array(shape)
    let view = try AxisShape(shape, axis: axis)
    func alongAxis(_ function: ([Double]) -> [Double]) -> [Double] {
      var result = input.values.map(Double.init)
      for outer in 0..<view.outer {
        for inner in 0..<view.inner {
          let places = (0..<view.length).map { (outer * view.length + $0) * view.inner + inner }
          for (place, value) in zip(places, function(places.map { result[$0] })) {
            result[place] = value
          }
        }
      }
      return result
    }
    let parameters: [String: CustomLayerParameter] = ["axis": .int(Int32(axis))]
    expectClose(
      try LayerRun.run(try LayerRun.make("Softmax", parameters), [input])[0], shape,
      alongAxis { values in
        let total = values.reduce(0) { $0 + exp($1) }
        return values.map { exp($0) / total }
      }, "softmax")
    expectClose(
      try LayerRun.run(try LayerRun.make("L2Normalization", parameters), [input])[0], shape,
      alongAxis { values in
        let length = values.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return values.map { $0 / length }
      }, "L2")
  }

  /// Half-pixel sampling according to PyTorch's documentation.
  @Test func resize() throws {
    var random = SplitMix64(seed: 4)
    let input = random.array([1, 1, 2, 5, 4])
    let layer = try LayerRun.make(
      "Resize", ["height": .int(8), "width": .int(3), "half_pixel": .bool(true)])
    func places(_ length: Int, _ count: Int) -> [(Int, Int, Double)] {
      (0..<count).map { index in
        let place = max(0, (Double(index) + 0.5) * Double(length) / Double(count) - 0.5)
        let first = Int(place)
        return (first, min(first + 1, length - 1), place - Double(first))
      }
    }
    var expected: [Double] = []
    for channel in 0..<2 {
      func x(_ row: Int, _ column: Int) -> Double {
        Double(input.values[(channel * 5 + row) * 4 + column])
      }
      for (top, bottom, dy) in places(5, 8) {
        for (left, right, dx) in places(4, 3) {
          let upper = x(top, left) * (1 - dx) + x(top, right) * dx
          let lower = x(bottom, left) * (1 - dx) + x(bottom, right) * dx
          expected.append(upper * (1 - dy) + lower * dy)
        }
      }
    }
    expectClose(try LayerRun.run(layer, [input])[0], [1, 1, 2, 8, 3], expected)
  }

  @Test(arguments: ["DCR", "CRD"])
  func depthToSpaceUndoesSpaceToDepth(mode: String) throws {
    var random = SplitMix64(seed: 5)
    let input = random.array([2, 1, 3, 6, 9])
    let parameters: [String: CustomLayerParameter] = [
      "block_size": .int(3), "mode": .string(mode),
    ]
    let deep = try LayerRun.run(try LayerRun.make("SpaceToDepth", parameters), [input])
    #expect(deep[0].shape == [2, 1, 27, 2, 3])
    // Row 4, column 7 of channel 1 is the offset (1, 1) of the block (1, 2).
    let channel = mode == "DCR" ? (1 * 3 + 1) * 3 + 1 : 1 * 9 + 1 * 3 + 1
    #expect(deep[0].values[(channel * 2 + 1) * 3 + 2] == input.values[(6 + 4) * 9 + 7])
    let back = try LayerRun.run(try LayerRun.make("DepthToSpace", parameters), deep)
    #expect(back[0].shape == input.shape)
    #expect(back[0].values == input.values)
  }

  /// Without offsets it is a convolution; an offset of one row shifts everything by one row.
  @Test func deformableConvolutionWithWholeOffsets() throws {
    var random = SplitMix64(seed: 6)
    let input = random.array([1, 1, 2, 5, 6])
    let kernel = random.array([3, 2, 3, 3])
    let layer = try LayerRun.make(
      "DeformableConvolution",
      ["kernel_h": .int(3), "kernel_w": .int(3), "pad_h": .int(1), "pad_w": .int(1)],
      [CustomLayerWeight(kernel.values)])
    for shift in [0, 1] {
      var offset = CaseTensor(shape: [1, 1, 18, 5, 6], values: [Float](repeating: 0, count: 540))
      for index in offset.values.indices where index / 30 % 2 == 0 {
        offset.values[index] = Float(shift)
      }
      var expected: [Double] = []
      for output in 0..<3 {
        for y in 0..<5 {
          for x in 0..<6 {
            var sum = 0.0
            for (channel, i, j) in product(2, 3, 3) {
              let (row, column) = (y + i - 1 + shift, x + j - 1)
              guard (0..<5).contains(row), (0..<6).contains(column) else { continue }
              sum +=
                Double(kernel.values[((output * 2 + channel) * 3 + i) * 3 + j])
                * Double(input.values[(channel * 5 + row) * 6 + column])
            }
            expected.append(sum)
          }
        }
      }
      expectClose(
        try LayerRun.run(layer, [input, offset])[0], [1, 1, 3, 5, 6], expected, "shift \(shift)")
    }
  }

  private func product(_ a: Int, _ b: Int, _ c: Int) -> [(Int, Int, Int)] {
    (0..<a * b * c).map { ($0 / (b * c), $0 / c % b, $0 % c) }
  }

  /// The least-squares solution of a tall matrix leaves a residual orthogonal to its columns.
  @Test func leastSquaresLeaveAnOrthogonalRest() throws {
    var random = SplitMix64(seed: 7)
    let a = random.array([3, 7])
    let b = random.array([7])
    let results = try LayerRun.run(try LayerRun.make("dneprDroid_lstsq"), [a, b])
    #expect(results.map(\.shape) == [[3], [1], [1], [7]])
    let x = results[0].values.map(Double.init)
    let rest = (0..<7).map { row -> Double in
      let product = (0..<3).reduce(0.0) { $0 + x[$1] * Double(a.values[$1 * 7 + row]) }
      return Double(b.values[row]) - product
    }
    for column in 0..<3 {
      let product = (0..<7).reduce(0) { $0 + rest[$1] * Double(a.values[column * 7 + $1]) }
      #expect(abs(product) < 1e-5)
    }
    #expect(results[2].values == [3])
    // The squares of the singular values have the same sum as those of the elements.
    let squares = results[3].values.reduce(0) { $0 + Double($1) * Double($1) }
    #expect(abs(squares - a.values.reduce(0) { $0 + Double($1) * Double($1) }) < 1e-4)
  }
}
