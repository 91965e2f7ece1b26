import ByteFormats
import CoreMLModel
import TensorCore

/// How a program is written as ONNX.
package struct ONNXOptions: Sendable {
  /// The supported versions of the operators; the lowest one is the default.
  package static let opsets = 13...21

  /// The version of the operators; nil for 13, or the lowest later one that has every operator.
  package var opset: Int?
  /// New names for features, by their names in the program.
  package var names: [String: String] = [:]
  package var producerVersion = ""

  package init() {}
}

extension Model {
  /// Writes an ML Program as an ONNX model.
  ///
  /// - Throws: `.unsupported` with the operation that ONNX cannot express; `.mismatch` for other
  ///   models.
  package func onnx(_ options: ONNXOptions = ONNXOptions()) throws -> ONNXModel {
    var opset = options.opset ?? ONNXOptions.opsets.lowerBound
    while true {
      do {
        return try ONNXExport(self, options, opset).model()
      } catch let error as NewerOpsetNeeded {
        try require(
          options.opset == nil, .unsupported, "opset \(opset) has no \(error.what)",
          hint: "use \(setting: "opset") \(error.opset)")
        opset = error.opset
      }
    }
  }
}

/// The export of one program with one version of the operators.
private struct ONNXExport {
  let program: MILProgram
  let function: MILFunction
  let block: MILBlock
  let description: ModelDescription
  let options: ONNXOptions
  let opset: Int

  init(_ model: Model, _ options: ONNXOptions, _ opset: Int) throws {
    let model = try model.selectingFunction(nil)
    guard case .mlProgram(let program)? = model.type, let description = model.description,
      let function = program.function(description.programFunction), let block = function.body
    else {
      throw ModelError(
        .mismatch, "the model is neither a network nor an ML Program",
        hint: "pipelines, trees and other models of features are not written as ONNX")
    }
    (self.program, self.function, self.block) = (program, function, block)
    (self.description, self.options, self.opset) = (description, options, opset)
  }

  private func name(_ feature: String) -> String { options.names[feature] ?? feature }

  func model() throws -> ONNXModel {
    let outputs = Dictionary(block.outputs.map { ($0, name($0)) }) { first, _ in first }
    let writer = ProgramWriter(program, opset: opset, outputNames: outputs)
    var graph = ONNXGraph()
    graph.name = "main"
    var defaults: Set<String> = []
    for input in function.inputs { graph.inputs.append(try self.input(input, writer, &defaults)) }
    try writer.write(block)
    // A function may return a value twice.
    for output in block.outputs where !graph.outputs.contains(where: { $0.name == name(output) }) {
      guard let value = writer.find(output) ?? (try? writer.value(output)) else { continue }
      try writer.output(output, as: name(output))
      graph.outputs.append(try info(name(output), value, of: output))
    }
    for (state, value) in writer.states.sorted(by: { $0.key < $1.key }) {
      let own = writer.graph.unique(name(state) + "_next")
      writer.define(own, value)
      try writer.output(own, as: own)
      graph.outputs.append(try info(own, value, of: state))
    }
    try require(!graph.outputs.isEmpty, .unsupported, "no output is an array")
    writer.graph.prune(keeping: Set(graph.outputs.map(\.name)), defaults: defaults)
    graph.nodes = writer.graph.nodes
    graph.initializers = writer.graph.initializers
    var model = ONNXModel()
    model.irVersion = Self.irVersion(opset)
    model.producerName = "Assay"
    model.producerVersion = options.producerVersion
    model.docString = description.metadata?.shortDescription ?? ""
    model.graph = graph
    model.opsets = [ONNXOpset().with(\.version, opset)]
    model.metadata = metadata(writer)
    return model
  }

  /// The version of the format that was released with an opset.
  private static func irVersion(_ opset: Int) -> Int {
    switch opset {
    case ..<15: 7
    case ..<19: 8
    case ..<21: 9
    default: 10
    }
  }

  /// Defines an input. A state becomes an input as well; an optional input has a default.
  private func input(
    _ input: MILNamedType, _ writer: ProgramWriter, _ defaults: inout Set<String>
  ) throws -> ONNXValueInfo {
    let tensor = try (input.type?.tensor).orThrow(
      ModelError(.unsupported, "not an array", field: "input '\(input.name)'"))
    let own = writer.graph.unique(name(input.name))
    let value = GraphValue(name: own, type: tensor.dataType, shape: try tensor.checkedSizes)
    writer.define(input.name, value)
    let feature = description.input.first { $0.name == input.name }
    var standard: Float?
    if case .state? = input.type?.kind {
      writer.setState(input.name, value)
      standard = 0
    } else if feature?.type?.isOptional == true,
      case .multiArray(let array)? = feature?.type?.kind
    {
      standard =
        switch array.defaultValue {
        case .int(let value)?: Float(value)
        case .float(let value)?: value
        case .double(let value)?: Float(value)
        case nil: 0
        }
    }
    if let standard, let shape = value.sizes {
      let count = try checkedProduct(shape, limit: 1 << 26)
      var tensor = ONNXTensor()
      (tensor.name, tensor.sizes) = (own, shape)
      tensor.type = try ONNXDataType(value.type).rawValue
      let values = [Float](repeating: standard, count: count)
      switch value.type {
      case .float32: tensor.data = Bytes(values)
      case .float16: tensor.data = Half.bytes(values)
      default: tensor.data = Bytes(values.map { Int32(exactly: $0.rounded()) ?? 0 })
      }
      writer.graph.addDefault(tensor)
      defaults.insert(own)
    }
    return try info(own, value, of: input.name)
  }

  /// An input or output. All batch axes of unknown size share one name.
  private func info(
    _ name: String, _ value: GraphValue, of feature: String
  ) throws -> ONNXValueInfo {
    let isImage = (description.input + description.output).contains {
      if case .image? = $0.type?.kind { $0.name == feature } else { false }
    }
    let layout = description.metadata?.userDefined["assay.layout." + feature] ?? ""
    let hasBatch = isImage || layout.split(separator: ":").last?.first == "N"
    return ONNXValueInfo(
      name, try ONNXDataType(value.type),
      value.shape.enumerated().map { axis, size in
        size.map { .number($0) } ?? .name(axis == 0 && hasBatch ? "batch" : "\(name)_\(axis)")
      })
  }

  /// The model's metadata, with the names that features have in the file.
  private func metadata(_ writer: ProgramWriter) -> [ONNXEntry] {
    let metadata = description.metadata ?? Metadata()
    var entries = [
      "author": metadata.author, "license": metadata.license, "version": metadata.versionString,
    ].filter { !$0.value.isEmpty }
    for (key, value) in metadata.userDefined {
      let parts = key.split(separator: ".", maxSplits: 2).map(String.init)
      entries[
        parts.count == 3 && parts[0] == "assay" ? "assay.\(parts[1]).\(name(parts[2]))" : key] =
        value
    }
    for feature in description.input + description.output {
      guard case .image(let image)? = feature.type?.kind else { continue }
      entries["assay.image.\(name(feature.name))"] = "\(image.colorSpace)"
    }
    if let labels = writer.labels {
      entries["assay.labels"] = JSONValue.array(labels.map { .string($0) }).text
    }
    return entries.sorted { $0.key < $1.key }.map { ONNXEntry($0.key, $0.value) }
  }
}
