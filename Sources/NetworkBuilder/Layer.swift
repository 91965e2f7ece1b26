import CoreMLModel
import TensorCore

/// A step of a network: ``Convolution``, ``Pooling``, ``AveragePooling``, ``Dense``, ``Softmax``,
/// ``ActivationLayer``, ``Resize``, ``Custom`` or, for any other, ``CoreMLLayer``.
///
/// A layer object has identity: if it is applied to several tensors, they share one set of weights,
/// which is requested once. It may be used from several threads.
public class Layer: @unchecked Sendable {
  // `@unchecked`: subclasses add no mutable state except a crop, which is behind a lock.

  /// The name used in errors and to request weights. The default is the layer's type and number:
  /// `convolution_1`.
  public let name: String?
  let definition: any LayerDefinition

  init(_ name: String?, _ definition: any LayerDefinition) {
    self.name = name
    self.definition = definition
  }
}

/// How a layer is written to the document.
protocol LayerDefinition: Sendable {
  static var typeName: String { get }
  /// The layer's type in errors, for definitions shared by several types.
  var typeName: String { get }

  /// Adds the document's layers, and returns the result.
  ///
  /// - Throws: `ModelError` without the layer's name, which the caller adds.
  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor
}

extension LayerDefinition {
  var typeName: String { Self.typeName }
}

/// A tensor in the document.
struct WrittenTensor {
  var blob: String
  var shape: TensorShape
  /// The shape of an array that is not `[1, 1, C, H, W]`.
  var exact: [Int]?

  /// `[Seq, Batch, C, H, W]`.
  ///
  /// - Throws: if a size is unknown, or the array has other axes.
  func knownShape() throws -> [Int] {
    try require(
      exact == nil, .mismatch, "'\(blob)' has the shape \(exact ?? []), not [1, 1, C, H, W]",
      hint: "reshape it with a CoreMLLayer")
    return try shape.blob.orThrow(
      ModelError(
        .mismatch, "needs the size of its input, which is unknown: \(shape)",
        hint: "pass sizes to Input(width:height:channels:), or add a Resize after it"))
  }
}

/// The context of a layer while it is written: its name, its weights and the document's layers.
struct LayerScope {
  /// The name of this application of the layer, and of its result's blob.
  let name: String
  /// The layer's name for requesting weights.
  let weightName: String
  let customLayers: CustomLayerRegistry
  let document: DocumentWriter

  /// The only input.
  func single(_ inputs: [WrittenTensor]) throws -> WrittenTensor {
    guard let input = inputs.first, inputs.count == 1 else {
      throw ModelError(.mismatch, "takes one input but gets \(inputs.count)")
    }
    return input
  }

  /// Adds a layer to the document; the sizes of its inputs must be known.
  ///
  /// - Parameter suffix: a suffix for the names of the layer and its blob, unless it is the last
  ///   one.
  func add(
    _ parameters: any LayerParameters, _ inputs: [WrittenTensor], suffix: String? = nil,
    isLast: Bool = true
  ) throws -> WrittenTensor {
    let shapes = try inputs.map { try $0.knownShape() }
    let output: [Int]
    do {
      output = try parameters.blobShapes(shapes).first ?? []
    } catch var error as ModelError {
      error.message += "; the input is \(inputs.map(\.shape.description).joined(separator: ", "))"
      throw error
    }
    return append(
      parameters, inputs, shape: try TensorShape(blob: output), suffix: suffix, isLast: isLast)
  }

  /// Adds a layer to the document whose result has the shape `shape`.
  func append(
    _ parameters: any LayerParameters, _ inputs: [WrittenTensor], shape: TensorShape,
    suffix: String? = nil, isLast: Bool = true, output: Int = 0, of outputs: Int = 1
  ) -> WrittenTensor {
    let own = suffix.map { document.unique("\(name)_\($0)") } ?? name
    let blob = isLast ? name : document.unique("\(name)_\(suffix ?? "linear")", isBlob: true)
    document.layers.append(
      NeuralNetworkLayer(
        own, parameters, input: inputs.map(\.blob),
        output: (0..<outputs).map {
          $0 == output ? blob : document.unique("\(blob)_\($0)", isBlob: true)
        }))
    return WrittenTensor(blob: blob, shape: shape)
  }

  /// The layer's weights, the same for each application.
  ///
  /// - Parameters:
  ///   - shape: the axes in the order in which the values are given.
  ///   - fanIn: inputs per output.
  func weights(_ kind: WeightKind, _ shape: [Int], fanIn: Int) throws -> FloatValues {
    try document.weights(weightName, kind, shape, fanIn: fanIn)
  }

  /// Adds the activation, if there is one.
  func activate(_ activation: Activation, _ input: WrittenTensor) throws -> WrittenTensor {
    guard let (parameters, suffix) = activation.parameters else { return input }
    return append(parameters, [input], shape: input.shape, suffix: suffix)
  }
}
