import Assay

/// Prints predictions and writes their files.
struct PredictionWriter {
  /// Whether there may be other predictions beside each.
  let isSingle: Bool
  let json: Bool
  let quiet: Bool
  var outputNames: [String] = []
  var labels: ClassNames?
  var top = 5
  /// A file, or a folder for several predictions.
  var destination: String?
  /// Finds boxes in the outputs, which are printed in the place of them.
  var detection: ImageDetection?
  /// The COCO results of all predictions; nil if they are not wanted.
  var results: [JSONText]?

  mutating func write(
    _ prediction: Prediction, of source: InputSource, _ values: [String: FeatureValue]
  ) throws {
    let outputs = try selected(prediction)
    if let detection {
      let result = try detection.result(outputs, of: values, from: source)
      return try write(result, outputs, of: source)
    }
    let shown = try PredictionText(outputs, labels: labels, top: top)
    // What cannot be shown is not written either.
    let text = json ? try shown.json(input: source.name).text + "\n" : try shown.text()
    if let destination {
      let path =
        isSingle
        ? destination
        : try OutputFiles.path(in: destination, for: source.outputStem ?? "output", outputs)
      try OutputFiles.write(outputs, to: path)
    }
    show(text, of: source)
  }

  /// Boxes as text or JSON, the image with them as a `.png`; arrays remain what they are.
  private mutating func write(
    _ result: ImageDetection.Result, _ outputs: [PredictedOutput], of source: InputSource
  ) throws {
    let shown = DetectionText(result: result)
    if let destination {
      let stem = source.outputStem ?? "output"
      let path =
        isSingle ? destination : try OutputFiles.path(in: destination, for: stem, extension: "png")
      if path.lowercased().hasSuffix(".png") {
        try result.drawn().writePNG(to: path)
      } else {
        try OutputFiles.write(outputs, to: path)
      }
    }
    results?.append(contentsOf: shown.coco(input: source.name))
    show(json ? shown.json(input: source.name).text + "\n" : shown.text(), of: source)
  }

  private func show(_ text: String, of source: InputSource) {
    if json {
      Console.write(text)
    } else if destination == nil || !quiet {
      Console.write(isSingle ? text : Console.escaped(source.name) + "\n" + text)
    }
  }

  private func selected(_ prediction: Prediction) throws -> [PredictedOutput] {
    guard !outputNames.isEmpty else { return prediction.outputs }
    return try outputNames.map { name in
      guard let output = prediction.outputs.first(where: { $0.name == name }) else {
        throw ModelError(
          .mismatch, "the model has no output '\(name)'",
          hint: "its outputs are "
            + prediction.outputs.map(\.name).joined(separator: ", "))
      }
      return output
    }
  }
}
