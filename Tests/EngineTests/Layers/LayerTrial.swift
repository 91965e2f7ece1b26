import CoreMLModel
import Kernels
import TensorCore

@testable import Engine

/// One run of the engine against the reference: a layer and the shapes of its inputs,
/// `[Seq, Batch, C, H, W]`, or exact ones of any rank.
struct LayerTrial {
  var layer: any LayerParameters
  var inputs: [[Int]]
  /// Bounds of the random inputs.
  var range: ClosedRange<Float> = -2...2
  /// The values of single inputs that are not random.
  var values: [Int: [Float]] = [:]
  /// Says in a failure which trial it was.
  var label: String

  /// Whether the network takes arrays as they are.
  var isExact: Bool {
    inputs.contains { $0.count != 5 } || type(of: layer).specificationVersion > 3
  }

  /// The same without the sequence axis, for networks of exact shapes; nil where it is in use or
  /// the type needs it.
  var withoutSequence: LayerTrial? {
    let shapes = inputs.map { Array($0.dropFirst()) }
    guard !isExact, !(layer is Custom), !inputs.isEmpty,
      inputs.allSatisfy({ $0.first == 1 }), (try? layer.blobShapes(shapes)) != nil
    else { return nil }
    return LayerTrial(label + ", rank 4", layer, shapes, range: range, values: values)
  }

  /// A custom layer's class has two outputs of the input's shape here.
  func outputShapes() throws -> [[Int]] {
    try layer is Custom ? inputs + inputs : layer.blobShapes(inputs)
  }

  init(
    _ label: String, _ layer: any LayerParameters, _ inputs: [[Int]],
    range: ClosedRange<Float> = -2...2, values: [Int: [Float]] = [:]
  ) {
    self.label = label
    self.layer = layer
    self.inputs = inputs
    self.range = range
    self.values = values
  }
}

/// A type of layer with trials of odd shapes and parameters.
protocol TestedLayer: LayerParameters {
  static func trials(_ random: inout RandomNumbers) throws -> [LayerTrial]
}

/// Every type of layer whose engine implementation is compared with its reference.
let testedLayerTypes = layerTypes.compactMap { $0 as? any TestedLayer.Type }

/// SplitMix64, so that a seed gives the same trials everywhere.
struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func values(_ count: Int, in range: ClosedRange<Float> = -1...1) -> [Float] {
    (0..<count).map { _ in Float.random(in: range, using: &self) }
  }

  mutating func weights(_ count: Int, in range: ClosedRange<Float> = -1...1) -> Weights {
    Weights(values(count, in: range))
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  mutating func flag() -> Bool { Bool.random(using: &self) }
}

extension ValidPadding {
  init(_ top: Int, _ bottom: Int, _ left: Int, _ right: Int) {
    self.init()
    paddingAmounts = BorderAmounts(top: top, bottom: bottom, left: left, right: right)
  }
}

extension SamePadding {
  init(_ mode: Mode) {
    self.init()
    asymmetryMode = mode
  }
}
