import ByteFormats
import ImportSupport

/// A function that a functional model calls like a layer: TFOpLambda and SlicingOpLambda of
/// tf.keras 2.4 to 2.15, and the operations of Keras 3.
enum KerasOperationLayer: KerasLayer {
  static let classes = [SourceLayer](
    "TFOpLambda", "SlicingOpLambda", "TensorFlowOpLayer", becomes: "see the operations below",
    options: "Keras 3's operations as well", refused: "operations not listed")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    // The operation of a graph, if the layer stores one.
    let node =
      configuration.className == "TensorFlowOpLayer" ? try GraphNode(configuration) : nil
    let name =
      node?.operation ?? configuration["function"]?.string ?? configuration.className
    let operation = try OperationTable.operation(named: name).orThrow(
      configuration.unsupported(
        nil, "operation '\(name)' is not supported",
        hint: "make it a custom layer with a rule: \(setting: "customLayers") FILE.json with "
          + CustomLayerSubject(layer: configuration.name, layerClass: configuration.className)
          .suggestedRule))
    var layer = conversion { call, network in
      var call = call
      if let node { call.arguments = try node.arguments(call) }
      let operationCall = OperationCall(
        call, fields: node == nil ? configuration.fields : JSONObject())
      return try operation.convert(operationCall, &network)
    }
    layer.operation = operation
    layer.leadingAxes =
      if OperationTable.decidingLeadingAxes.contains(operation.names[0]) {
        .decides
      } else {
        operation.isElementwise || OperationTable.keepingLeadingAxes[operation.names[0]] != nil
          ? .keeps : .refuses
      }
    return layer
  }
}

/// The conversion of an operation.
struct Operation: Sendable {
  /// The names, normalized by `OperationTable.key`.
  let names: [String]
  let convert: Convert
  /// Whether each element of the result depends on only one element of the input.
  var isElementwise = false

  typealias Convert = @Sendable (OperationCall, inout KerasWriter) throws -> [KerasTensor]
  typealias ConvertElements =
    @Sendable (OperationCall, String, inout KerasWriter) throws -> String

  init(_ names: String..., convert: @escaping Convert) {
    self.init(names: names, convert: convert)
  }

  /// An operation on one tensor.
  init(
    _ names: String...,
    convert:
      @escaping @Sendable (OperationCall, KerasTensor, inout KerasWriter) throws ->
      [KerasTensor]
  ) {
    self.init(names: names) { call, network in try convert(call, call.input, &network) }
  }

  init(names: [String], convert: @escaping Convert) {
    self.names = names
    self.convert = convert
  }

  /// An elementwise operation on the input; `convert` returns the blob of the result.
  static func elements(_ names: String..., convert: @escaping ConvertElements) -> Operation {
    elements(names: names, convert: convert)
  }

  static func elements(names: [String], convert: @escaping ConvertElements) -> Operation {
    var operation = Operation(names: names) { call, network in
      let input = try call.input
      return [input.with(try convert(call, input.blob, &network))]
    }
    operation.isElementwise = true
    return operation
  }
}

/// All operations that Assay converts.
enum OperationTable {
  static let operations: [Operation] =
    arithmetic + comparisons + functions + reductions + orderings + shapes + slices + images
    + windows + products + composed

  private static let byName = Dictionary(
    operations.flatMap { operation in operation.names.map { ($0, operation) } },
    uniquingKeysWith: { first, _ in first })

  /// Applies the operation with this name to a call's inputs.
  static func convert(
    _ name: String, _ call: LayerCall, _ fields: KeyValuePairs<String, JSONValue>,
    into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    guard let operation = operation(named: name) else {
      throw call.unsupported("operation '\(name)' is not supported")
    }
    var object = JSONObject()
    for (name, value) in fields { object[name] = value }
    var call = call
    call.arguments = CallArguments()
    call.arguments.positional = call.inputs.indices.map { .tensor($0) }
    return try operation.convert(OperationCall(call, fields: object), &network)
  }

  static func operation(named name: String) -> Operation? { byName[key(name)] }

  /// Whether the operation ignores its operands' axes if all have the same rank.
  static func isOfElements(_ name: String) -> Bool {
    guard let operation = operation(named: name) else { return false }
    return operation.isElementwise || ["relu", "gelu", "clip"].contains(operation.names[0])
      || (arithmetic + comparisons).contains { $0.names == operation.names }
  }

  /// The normalized name: `reducemean` for `math.reduce_mean`, `expanddims` for `ExpandDims`.
  static func key(_ name: String) -> String {
    let plain = name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? name[...]
    return plain.filter { $0 != "_" }.lowercased()
  }
}
