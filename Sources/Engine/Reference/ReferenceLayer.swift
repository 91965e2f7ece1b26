import CoreMLModel
import CustomLayers
import TensorCore

/// The reference implementation of one layer type: its textbook formula in double precision, on
/// dense row-major arrays. Tests compare the engine's kernels with it. It is never optimized.
protocol ReferenceLayer: LayerParameters {
  /// The outputs for `inputs`.
  /// - Throws: `ModelError` if the inputs do not fit the parameters.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor]
}

/// Settings for the formulas besides a layer's parameters.
struct ReferenceSettings {
  /// Whether the `forgetBias` of an LSTM adds 1. The specification says so, but the reference Keras
  /// converter sets it although the stored bias includes the 1, so its files match Keras only if
  /// the field is ignored.
  var addsForgetBias = false
  /// Whether sums are rounded to half precision after each addition.
  var hasHalfSums = false
  /// The classes that implement custom layers.
  var customLayers = CustomLayerRegistry()
  /// The objects created from these classes.
  let instances = CustomLayerInstances()
  var layerIndex = 0
  /// Determines the numbers of random layers, together with the number of loop iterations started.
  var seed: UInt64 = 0
  var round = 0
}

/// A reference implementation that needs only the parameters and the inputs.
protocol ReferenceFormula: ReferenceLayer {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor]
}

extension ReferenceFormula {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try referenceOutputs(inputs)
  }

  /// The only output, with each element computed from its position in `[Seq, Batch, C, H, W]`.
  func planeOutput(
    _ inputs: [ReferenceTensor], _ element: (ReferenceTensor.Position) throws -> Double
  ) throws -> [ReferenceTensor] {
    [try ReferenceTensor(shape: outputShape(inputs), element)]
  }

  /// The only output, with each element computed from its index.
  func arrayOutput(
    _ inputs: [ReferenceTensor], _ element: ([Int]) throws -> Double
  ) throws -> [ReferenceTensor] {
    [try ReferenceTensor.indexed(outputShape(inputs), element)]
  }
}

extension ReferenceLayer {
  /// The outputs for inputs of any rank, which plane-based layers see as `[Seq, Batch, C, H, W]`.
  func exactReferenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let inputs = inputs.map { $0.reshaped(Self.seenShape($0.shape)) }
    guard Self.usesFiveAxes, inputs.contains(where: { $0.shape.count != 5 }) else {
      return try referenceOutputs(inputs, settings)
    }
    let shapes = try blobShapes(inputs.map(\.shape))
    let planes = try inputs.map {
      $0.reshaped(try BlobRank.fiveAxes($0.shape, vectorRank: Self.vectorRank))
    }
    return zip(try referenceOutputs(planes, settings), shapes).map { $0.reshaped($1) }
  }

  /// The shape of the only output. Checks the inputs.
  func outputShape(_ inputs: [ReferenceTensor]) throws -> [Int] {
    let shapes = try outputShapes(inputs.map(\.shape))
    guard let shape = shapes.first else {
      throw ModelError(.internal, "a \(typeName) layer has no output")
    }
    return shape
  }
}
