import ByteFormats
import CoreMLModel
import TensorCore

extension ONNXModel {
  /// The structure of the file at `path` if this program wrote it as ONNX; nil for other files.
  package static func written(at path: String) throws -> ONNXModel? {
    guard path != "-", isONNX(path) else { return nil }
    let (bytes, format, _) = try FileFormat.readPackage(path, limit: Limits.modelBytes)
    guard format == .foreign(.onnx) else { return nil }
    let model = try inFile(path) { try ONNXModel(bytes: bytes) }
    return model.producerName == "Assay" ? model : nil
  }

  /// The problems with the structure.
  package var findings: [ModelError] {
    guard let graph else { return [ModelError(.malformed, "the model has no graph")] }
    var errors: [ModelError] = []
    func report(_ message: String, _ node: ONNXNode? = nil) {
      let error = ModelError(.malformed, message)
      errors.append(node.map { error.inLayer($0.name, class: $0.type) } ?? error)
    }
    if opset == 0 { report("the version of the operators is missing") }
    var defined = Set(graph.inputs.map(\.name))
    for tensor in graph.initializers {
      defined.insert(tensor.name)
      guard let type = ONNXDataType(rawValue: tensor.type),
        let count = try? checkedProduct(tensor.sizes, limit: Limits.tensorElements)
      else {
        report("the initializer '\(tensor.name)' has an unknown type or wrong sizes")
        continue
      }
      let stored =
        tensor.location == 0
        ? tensor.data.count
        : tensor.externalData.first { $0.key == "length" }.flatMap { Int($0.value) }
      if stored != (count * type.bitWidth + 7) / 8 {
        report("the initializer '\(tensor.name)' of \(tensor.sizes) has \(stored ?? 0) bytes")
      }
    }
    func check(_ graph: ONNXGraph, _ around: Set<String>) {
      var defined = around.union(graph.inputs.map(\.name))
      for node in graph.nodes {
        for input in node.inputs where !input.isEmpty && !defined.contains(input) {
          report("the input '\(input)' is not defined before it is used", node)
        }
        for inner in node.attributes.compactMap(\.graph) { check(inner, defined) }
        for output in node.outputs where !output.isEmpty && !defined.insert(output).inserted {
          report("the output '\(output)' is defined twice", node)
        }
      }
      for output in graph.outputs where !defined.contains(output.name) {
        report("nothing gives the output '\(output.name)'")
      }
    }
    check(graph, defined)
    return errors
  }
}

extension ONNXDataType {
  fileprivate var bitWidth: Int {
    switch self {
    case .uint4, .int4: 4
    case .uint8, .int8, .bool: 8
    case .float16: 16
    case .float, .int32: 32
    case .int64, .double: 64
    }
  }
}

extension ONNXValueInfo {
  /// The type and sizes, such as `float[1, 3, n, n]`.
  package var text: String {
    let tensor = type?.tensor
    let name = ONNXDataType(rawValue: tensor?.elementType ?? 0).map { "\($0)" } ?? "unknown"
    let sizes = (tensor?.shape?.dimensions ?? []).map { dimension in
      switch dimension.size {
      case .number(let size)?: "\(size)"
      case .name(let name)?: name
      case nil: "?"
      }
    }
    return "\(name)[\(sizes.joined(separator: ", "))]"
  }
}
