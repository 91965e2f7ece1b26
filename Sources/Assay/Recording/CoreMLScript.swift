import ByteFormats
import CoreMLModel
import ModelPrediction
import TensorCore

/// A Python script that predicts with Core ML on a Mac, through coremltools, and writes
/// `core_ml.npz` and `core_ml_layers.npz`, which `diff` reads with `--expected` and `--layers`.
package struct CoreMLScript: Sendable {
  package let text: String

  /// - Parameters:
  ///   - path: the model's file.
  ///   - words: the inputs of one prediction, as `diff` takes them.
  /// - Throws: `.usage` without inputs, `.unsupported` if coremltools cannot run the model.
  package init(_ model: Model, path: String, inputs words: [String]) throws {
    let description = model.description ?? ModelDescription()
    let custom = Inspection(model).customClasses.map(\.className)
    try require(
      custom.isEmpty, .unsupported,
      "coremltools cannot load the code of custom layers: " + custom.joined(separator: ", "),
      hint:
        "let the app save the outputs of its Core ML, and compare them with \(setting: "expected")")
    try require(
      !words.isEmpty, .usage, "record needs the inputs of the prediction",
      hint: "give " + description.input.compactMap(\.needed).joined(separator: ", and "))
    let isProgram = model.isMLProgram
    let hasLayers = isProgram || model.neuralNetwork != nil
    let inputs = try CoreMLScriptInputs(model, words)
    let outputs = CoreMLScriptOutputs(model)
    try require(
      outputs.image != nil || !outputs.arrays.isEmpty, .unsupported,
      "no output is an array or an image, so there is nothing to compare")
    let expected = outputs.image == nil ? "core_ml.npz" : "core_ml.png"
    let usesPillow = inputs.hasImages
    func filled(_ text: String) -> String {
      text.replacing("@FUNCTION@", with: JSONValue.quoted(description.programFunction))
        .replacing("@ARGUMENTS@", with: description.state.isEmpty ? "INPUTS" : "INPUTS, state")
    }
    var compare = ["\"assay\"", "\"diff\"", "MODEL"] + words.map(JSONValue.quoted)
    compare += ["\"--expected\"", JSONValue.quoted(expected)]
    if model.usesHalfPrecision { compare += ["\"--tolerance\"", "\"fp16\""] }
    if !outputs.otherImages.isEmpty {
      for name in outputs.otherImages { compare += ["\"--atol\"", JSONValue.quoted(name + "=1")] }
    }
    var parts = [
      CoreMLScriptParts.title
        .replacing(
          "@FILES@",
          with: expected + (hasLayers ? " (the outputs) and core_ml_layers.npz (the layers)" : "")
        )
        .replacing(
          "@SYSTEM@",
          with: SpecificationVersion.oldestSystem(model.specificationVersion)?
            .split(separator: ", ").last.map(String.init) ?? "macOS 15"
        )
        .replacing("@PILLOW@", with: usesPillow ? " pillow" : ""),
      CoreMLScriptParts.modules + (usesPillow ? "\nfrom PIL import Image" : "") + """


        MODEL = \(JSONValue.quoted(path))
        INPUTS = {
        \(inputs.lines.map { "    \($0),\n" }.joined())}
        UNITS = ct.ComputeUnit.CPU_ONLY  # ALL also takes the GPU and the Neural Engine, with 16 bits
        COMPARE = [\(compare.joined(separator: ", "))]

        """,
      RecordingScriptParts.save + "\n",
    ]
    if outputs.needsClasses {
      parts.append(
        filled(isProgram ? CoreMLScriptParts.programClasses : CoreMLScriptParts.classes) + "\n")
    }
    if let axes = outputs.axes {
      parts.append(
        CoreMLScriptParts.source.replacing("@INNER@", with: axes.inner)
          .replacing("@AXES@", with: axes.named) + "\n")
    }
    var body = "model = ct.models.MLModel(MODEL, compute_units=UNITS)\nspec = model.get_spec()\n"
    if !description.state.isEmpty { body += "state = model.make_state()\n" }
    body += filled("outputs = model.predict(@ARGUMENTS@)\n")
    if outputs.needsClasses { body += "labels = classes(spec)\n" }
    if let image = outputs.image {
      body += "outputs[\(JSONValue.quoted(image))].convert(\"RGB\").save(\"core_ml.png\")"
    } else {
      body += """
        save("core_ml.npz", [
        \(outputs.arrays.map { "    (\(JSONValue.quoted($0.name)), \($0.value)),\n" }.joined())])
        """
    }
    parts.append(body + "\n")
    if hasLayers {
      parts.append(filled(isProgram ? CoreMLScriptParts.program : CoreMLScriptParts.network) + "\n")
      if !description.state.isEmpty { parts.append("state = model.make_state()") }
      parts.append(
        filled(CoreMLScriptParts.layers)
          .replacing("@LAYER@", with: outputs.axes == nil ? "value" : "source(name, value)"))
    }
    parts[parts.count - 1] += "\n" + CoreMLScriptParts.end
    text = parts.joined(separator: "\n\n") + "\n"
  }
}

extension FeatureDescription {
  /// The kind of value that a required input takes, in words; nil for an optional one.
  fileprivate var needed: String? {
    guard type?.isOptional != true else { return nil }
    let value =
      switch type?.kind {
      case .image(let image): "an image of \(image.width)×\(image.height) pixels"
      case .multiArray(let array): "an array of shape \(array.shape) in a .npy file"
      case .int64, .double: "a number in a .json file"
      case .string: "a text in a .json file"
      default: "a dictionary in a .json file"
      }
    return "\(value) for '\(name)'"
  }
}

extension Model {
  /// Whether an ML Program computes in half precision.
  fileprivate var usesHalfPrecision: Bool {
    guard case .mlProgram(let program)? = type else { return false }
    let operations = program.functions.flatMap { $0.value?.body?.operations ?? [] }
    return operations.contains { operation in
      guard operation.type != "const" else { return false }
      return operation.outputs.contains { $0.type?.tensor?.dataType == .float16 }
    }
  }
}
