import TensorCore

/// A layer: named input and output blobs, and the parameters of its type.
package struct NeuralNetworkLayer: SpecificationMessage {
  package var name = ""
  package var input: [String] = []
  package var output: [String] = []
  package var inputTensor: [TensorDescription] = []
  package var outputTensor: [TensorDescription] = []
  package var isUpdatable = false
  package var parameters: (any LayerParameters)?
  package var unknownFields = UnknownFields()

  package init() {}

  package init(
    _ name: String, _ parameters: any LayerParameters, input: [String], output: [String]
  ) {
    (self.name, self.parameters, self.input, self.output) = (name, parameters, input, output)
  }

  /// The name to report for the layer at `index`.
  package func label(at index: Int) -> String { name.isEmpty ? "#\(index)" : name }

  package static func == (a: NeuralNetworkLayer, b: NeuralNetworkLayer) -> Bool {
    guard
      a.name == b.name, a.input == b.input, a.output == b.output,
      a.inputTensor == b.inputTensor, a.outputTensor == b.outputTensor,
      a.isUpdatable == b.isUpdatable, a.unknownFields == b.unknownFields
    else { return false }
    switch (a.parameters, b.parameters) {
    case (nil, nil): return true
    case (let x?, let y?): return x.isEqual(to: y)
    default: return false
    }
  }

  package static let fields: Fields = [
    .string("name", \.name), .strings("input", \.input), .strings("output", \.output),
    .messages("inputTensor", \.inputTensor), .messages("outputTensor", \.outputTensor),
    .bool("isUpdatable", \.isUpdatable), parametersField,
  ]
}

/// Rank and sizes of a blob, which some converters record.
package struct TensorDescription: SpecificationMessage {
  package var rank = 0
  package var dimValue: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.int("rank", \.rank), .ints("dimValue", \.dimValue)]
}

/// The parameters of one type of layer.
package protocol LayerParameters: EncodedMessage {
  /// The name of the type in the specification, such as `innerProduct`. By default, the name of the
  /// Swift type in lower camel case.
  static var typeName: String { get }
  /// The lowest specification version with this type.
  static var specificationVersion: Int { get }
  /// The lowest version with this type and all fields in use.
  var requiredSpecificationVersion: Int { get }
  /// The numbers of inputs and outputs that the type allows.
  static var inputCount: ClosedRange<Int> { get }
  static var outputCount: ClosedRange<Int> { get }
  /// The minimum rank of an input. If it is not 0, a scalar input is read as shape `[1]`.
  static var minimumRank: Int { get }
  /// Up to this rank, an input's last axis is C; above it, W.
  static var vectorRank: Int { get }
  /// Shapes of all possible outputs for shapes of the inputs; a layer may name fewer outputs. They
  /// are `[Seq, Batch, C, H, W]` for types from specification 1 to 3, and of any rank for later
  /// types; `blobShapes` accepts any rank for all types. Throws if the shapes do not fit the
  /// parameters.
  func outputShapes(_ inputs: [[Int]]) throws -> [[Int]]
  /// The number of multiply-adds for these valid shapes: matrix products and convolutions count,
  /// element functions do not. All costs are based on this number.
  func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int
  /// Weights in field order, with the field's name and the shape implied by the other fields.
  var weights: [NamedWeights] { get }
  /// Records problems with the parameters that do not depend on the network.
  func check(_ faults: inout ValidationIssues)
}

/// A weight of a layer: the name of its field and the shape implied by the layer's sizes.
package struct NamedWeights: Sendable {
  package var name: String
  package var shape: [Int]
  package var values: Weights
  /// The axis along which quantization may vary.
  package var channelAxis: Int

  package init(_ name: String, _ shape: [Int], _ values: Weights, channelAxis: Int = 0) {
    (self.name, self.shape, self.values, self.channelAxis) = (name, shape, values, channelAxis)
  }
}

extension LayerParameters {
  package static var typeName: String {
    let name = "\(Self.self)"
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  package static var specificationVersion: Int { 1 }
  package var requiredSpecificationVersion: Int { Self.specificationVersion }
  package static var inputCount: ClosedRange<Int> { 1...1 }
  package static var outputCount: ClosedRange<Int> { 1...1 }
  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int { 0 }
  package var weights: [NamedWeights] { Self.fields.compactMap { $0.weight?.named(self) } }
  package func check(_ faults: inout ValidationIssues) {}
  package var typeName: String { Self.typeName }

  /// The number of values in the weights; nil if the sizes in a file are impossible.
  package var parameterCount: Int? { try? checkedSum(weights.map { try checkedProduct($0.shape) }) }

  func isEqual(to other: any LayerParameters) -> Bool { (other as? Self) == self }
}
