import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

extension SplitMix64 {
  /// Integers in −bound ..< bound.
  fileprivate mutating func places(_ shape: [Int], _ bound: Int) -> [Float] {
    (0..<shape.reduce(1, *)).map { _ in Float(number(-bound...bound - 1)) }
  }
}

extension Scatter: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int], Int)] = [
      ([7], [3], 0), ([3, 5], [4], 1), ([3, 5], [2, 2], 0), ([2, 17, 3, 4], [5], 1),
      ([2, 3, 4], [2, 3], -2), ([5], [1], 0),
    ]
    return zip(cases.indices, cases).map { index, item in
      let (shape, places, axis) = item
      var layer = Scatter()
      layer.axis = axis
      layer.mode = ScatterMode.allCases[index % 7]
      let place = axis < 0 ? axis + shape.count : axis
      let updates = Array(shape[..<place]) + places + shape[(place + 1)...]
      return LayerTrial(
        "\(shape) along \(axis), \(layer.mode)", layer, [shape, places, updates],
        values: [
          1: random.places(places, shape[place]),
          2: random.values(updates.reduce(1, *), in: 0.5...2),
        ])
    }
  }
}

extension ScatterND: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([7], [3, 1]), ([4, 5], [3, 2]), ([4, 5], [2]), ([4, 5], [2, 3, 1]), ([4, 4, 5], [2, 2, 2]),
      ([6, 3], [9, 1]), ([8], [11, 1]),
    ]
    return zip(cases, ScatterMode.allCases).map { item, mode in
      let (shape, places) = item
      var layer = ScatterND()
      layer.mode = mode
      let parts = places.dropLast() + shape.dropFirst(places.last ?? 0)
      let updates = parts.isEmpty ? [1] : Array(parts)
      return LayerTrial(
        "\(shape) at \(places), \(mode)", layer, [shape, places, updates],
        values: [
          1: random.places(places, 4), 2: random.values(updates.reduce(1, *), in: 0.5...2),
        ])
    }
  }
}

extension ScatterAlongAxis: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int], Int)] = [
      ([7], [3], 0), ([3, 5], [3, 2], 1), ([4, 5], [6, 5], -2), ([2, 17, 3, 4], [2, 5, 3, 4], 1),
      ([9], [9], 0), ([3, 2, 5], [3, 2, 9], -1), ([4, 3], [2, 3], 0),
    ]
    return zip(cases, ScatterMode.allCases).map { item, mode in
      let (shape, places, axis) = item
      var layer = ScatterAlongAxis()
      (layer.axis, layer.mode) = (axis, mode)
      return LayerTrial(
        "\(shape) along \(axis), \(mode)", layer, [shape, places, places],
        values: [
          1: random.places(places, shape[axis < 0 ? axis + shape.count : axis]),
          2: random.values(places.reduce(1, *), in: 0.5...2),
        ])
    }
  }
}

/// Compared with NumPy's `at` functions, which combine one element after the other.
@Suite struct ScatterTests {
  private static let names = ["update", "add", "sub", "mul", "div", "max", "min"]

  @Test(arguments: ScatterMode.allCases) func modes(mode: ScatterMode) throws {
    let name = Self.names[mode.rawValue]
    let golden = Goldens.computed("scatter")
    var scatter = Scatter()
    (scatter.axis, scatter.mode) = (1, mode)
    try golden.check(scatter, ["x", "indices", "updates"], ["axis_\(name)"])
    var along = ScatterAlongAxis()
    (along.axis, along.mode) = (-1, mode)
    try golden.check(along, ["x", "along", "along_updates"], ["along_\(name)"])
    var nd = ScatterND()
    nd.mode = mode
    try golden.check(nd, ["x", "places", "nd_updates"], ["nd_\(name)"])
  }

  @Test func referenceTakesNaNForTheFirstPosition() throws {
    var scatter = Scatter()
    scatter.mode = .update
    let inputs = [[1, 2, 3], [.nan], [9]].map { ReferenceTensor(shape: [$0.count], $0) }
    #expect(try scatter.referenceOutputs(inputs)[0].elements == [9, 2, 3])
    var slice = SliceBySize()
    slice.size = 2
    #expect(try slice.referenceOutputs(Array(inputs.prefix(2)))[0].elements == [1, 2])
  }

  @Test func updatesOfAnotherShapeAreRefused() {
    #expect(throws: ModelError.self) { try Scatter().outputShapes([[3, 4], [2], [3, 4]]) }
    #expect(throws: ModelError.self) { try ScatterND().outputShapes([[3, 4], [2, 3], [2]]) }
    #expect(throws: ModelError.self) { try ScatterAlongAxis().outputShapes([[3], [3, 1], [3]]) }
  }
}
