import CoreMLModel
import CustomLayers
import TensorCore

/// The plain reference implementation of one type of layer: its textbook formula in double precision, on dense row-major
/// arrays. It is what the engine's kernels are compared with, and it is never optimized.
protocol ReferenceLayer: LayerParameters {
  /// The outputs for `inputs`.
  /// - Throws: `ModelError` if the inputs do not fit the parameters.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor]
}

/// What the formulas need beside a layer's own parameters.
struct ReferenceSettings {
  /// Whether `forgetBias` of an LSTM adds 1. The specification says so; files of the reference
  /// Keras converter set it although their bias already holds the 1, and give Keras's numbers only
  /// where it is ignored.
  var addsForgetBias = false
  /// The classes that implement custom layers.
  var customLayers = CustomLayerRegistry()
  /// The objects that have been made of them, and whose turn it is.
  let instances = CustomLayerInstances()
  var layerIndex = 0
  /// Decides the numbers of random layers, with how many runs of loops have begun.
  var seed: UInt64 = 0
  var round = 0
}

/// A reference that needs nothing beside the parameters and the inputs.
protocol ReferenceFormula: ReferenceLayer {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor]
}

extension ReferenceFormula {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try referenceOutputs(inputs)
  }

  /// The only output, each element computed from its place in `[Seq, Batch, C, H, W]`.
  func planeOutput(
    _ inputs: [ReferenceTensor], _ element: (ReferenceTensor.Position) throws -> Double
  ) throws -> [ReferenceTensor] {
    [try ReferenceTensor(shape: outputShape(inputs), element)]
  }

  /// The only output, each element computed from its index.
  func arrayOutput(
    _ inputs: [ReferenceTensor], _ element: ([Int]) throws -> Double
  ) throws -> [ReferenceTensor] {
    [try ReferenceTensor.indexed(outputShape(inputs), element)]
  }
}

extension ReferenceLayer {
  /// The outputs for inputs of any rank, which layers of planes see as `[Seq, Batch, C, H, W]`.
  func exactReferenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    guard Self.usesFiveAxes, inputs.contains(where: { $0.shape.count != 5 }) else {
      return try referenceOutputs(inputs, settings)
    }
    let shapes = try blobShapes(inputs.map(\.shape))
    let planes = try inputs.map {
      $0.reshaped(try BlobRank.fiveAxes($0.shape, vectorRank: Self.vectorRank))
    }
    return zip(try referenceOutputs(planes, settings), shapes).map { $0.reshaped($1) }
  }

  /// The shape of the only output; checks the inputs.
  func outputShape(_ inputs: [ReferenceTensor]) throws -> [Int] {
    let shapes = try outputShapes(inputs.map(\.shape))
    guard let shape = shapes.first else {
      throw ModelError(.internal, "a \(typeName) layer has no output")
    }
    return shape
  }
}
