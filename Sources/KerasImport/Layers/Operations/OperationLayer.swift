import CoreMLModel
import ImportSupport
import TensorCore

/// A function that a functional model calls as it calls layers: TFOpLambda and SlicingOpLambda of
/// tf.keras 2.4 to 2.15, and the operations of Keras 3.
struct OperationLayer: KerasLayer {
  static let classNames = ["TFOpLambda", "SlicingOpLambda"]

  private let operation: Operation
  private let configuration: LayerConfiguration

  init(_ configuration: LayerConfiguration) throws {
    let name = configuration.fields["function"]?.string ?? configuration.className
    guard let operation = OperationTable.operation(named: name) else {
      throw configuration.unsupported(
        nil, "the operation '\(name)' is not supported",
        hint: "a rule makes it a custom layer: --custom-layers FILE.json with "
          + CustomLayerSubject(layer: configuration.name, layerClass: configuration.className)
          .suggestedRule)
    }
    self.operation = operation
    self.configuration = configuration
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let operationCall = OperationCall(call, fields: configuration.fields)
    return try operation.convert(operationCall, &network)
  }
}

/// What an operation becomes.
struct Operation: Sendable {
  /// As `OperationTable.key` has them.
  let names: [String]
  let convert: @Sendable (OperationCall, inout NetworkWriter) throws -> [KerasTensor]

  init(
    _ names: String...,
    convert: @escaping @Sendable (OperationCall, inout NetworkWriter) throws -> [KerasTensor]
  ) {
    self.names = names
    self.convert = convert
  }
}

/// Every operation that is read.
enum OperationTable {
  static let operations: [Operation] =
    arithmetic + functions + reductions + shapes + slices + images + products

  private static let byName = Dictionary(
    operations.flatMap { operation in operation.names.map { ($0, operation) } },
    uniquingKeysWith: { first, _ in first })

  static func operation(named name: String) -> Operation? { byName[key(name)] }

  /// `math.reduce_mean` is `reducemean`, Keras 3's `ExpandDims` is `expanddims`.
  static func key(_ name: String) -> String {
    let plain = name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? name[...]
    return plain.filter { $0 != "_" }.lowercased()
  }
}
