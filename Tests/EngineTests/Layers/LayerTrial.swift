import CoreMLModel
import Kernels
import TensorCore
import TestSupport

@testable import Engine

/// One comparison of the engine with the reference implementation: a layer and the shapes of its
/// inputs, `[Seq, Batch, C, H, W]`, or exact shapes of any rank.
struct LayerTrial {
  var layer: any LayerParameters
  var inputs: [[Int]]
  /// The range of the random inputs.
  var range: ClosedRange<Float> = -2...2
  /// The values of single inputs, if they are not random.
  var values: [Int: [Float]] = [:]
  /// Identifies the trial in a failure.
  var label: String
  /// The number of blobs, `out0` and so on, that networks inside the layer write.
  var innerOutputs = 0

  /// Whether the network takes arrays with exact shapes.
  var isExact: Bool {
    inputs.contains { $0.count != 5 } || type(of: layer).specificationVersion > 3
  }

  /// The same trial without the sequence axis, for networks with exact shapes; nil if the axis is
  /// used or the type requires it.
  var withoutSequence: LayerTrial? {
    let shapes = inputs.map { Array($0.dropFirst()) }
    guard !isExact, !(layer is Custom), !inputs.isEmpty,
      inputs.allSatisfy({ $0.first == 1 }), (try? layer.blobShapes(shapes)) != nil
    else { return nil }
    return LayerTrial(label + ", rank 4", layer, shapes, range: range, values: values)
  }

  /// In these tests, the class of a custom layer has two outputs with the input's shape.
  func outputShapes() throws -> [[Int]] {
    if let dynamic = layer as? any DynamicLayer,
      case let deciding = dynamic.decidingInputs(inputs.count), !deciding.isEmpty
    {
      return try dynamic.blobShapes(inputs, deciding.map { values[$0] ?? [] })
    }
    return try layer is Custom ? inputs + inputs : layer.blobShapes(inputs)
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
  static func trials(_ random: inout SplitMix64) throws -> [LayerTrial]
}

/// Every type of layer whose engine implementation is compared with its reference implementation.
let testedLayerTypes = layerTypes.compactMap { $0 as? any TestedLayer.Type }

extension SplitMix64 {
  mutating func weights(_ count: Int, in range: ClosedRange<Float> = -1...1) -> Weights {
    Weights(values(count, in: range))
  }
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
