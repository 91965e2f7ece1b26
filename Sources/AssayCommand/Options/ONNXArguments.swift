/// The options for writing a program as ONNX.
struct ONNXArguments: ParsableArguments {
  @Option(
    help: .usual(
      "The version of ONNX's operators: \(ONNXOptions.opsets.lowerBound) to "
        + "\(ONNXOptions.opsets.upperBound); default: \(ONNXOptions.opsets.lowerBound), or the "
        + "lowest that has every operator.", "N"))
  var opset: Int?

  @Flag(
    name: .customLong("external-data"), help: "Write the weights to OUT.onnx.data, as beyond 2 GB.")
  var isExternal = false

  @Flag(
    name: .customLong("raw-images"),
    help: "Leave out the scaling of images, and record it in the metadata.")
  var takesRawImages = false

  func validate(writesONNX: Bool) throws {
    if let opset, !ONNXOptions.opsets.contains(opset) {
      throw ValidationError(
        "--opset \(opset): opsets \(ONNXOptions.opsets.lowerBound) to "
          + "\(ONNXOptions.opsets.upperBound) are written")
    }
    if opset != nil || isExternal || takesRawImages, !writesONNX {
      throw ValidationError(
        "--opset, --external-data and --raw-images are for ONNX: write an .onnx")
    }
  }

  /// Prepares the network for the conversion.
  func prepare(_ model: inout Model) { if takesRawImages { model.recordPreprocessing() } }

  /// - Parameter names: the program's names of features that have other names in the source.
  func model(of program: Model, names: [String: String]) throws -> ONNXModel {
    var options = ONNXOptions()
    options.opset = opset
    options.producerVersion = assayVersion
    options.names = Dictionary(names.map { ($1, $0) }) { first, _ in first }
    let model = try program.onnx(options)
    if let label = program.description?.predictedFeatureName, !label.isEmpty {
      Console.warn(
        "ONNX has no output '\(Console.escaped(label))': the labels are in the metadata, under "
          + "assay.labels, in the order of the scores")
    }
    return model
  }
}
