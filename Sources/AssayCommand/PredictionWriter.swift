import Assay
import TensorCore

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

  func write(_ prediction: Prediction, of source: InputSource) throws {
    let outputs = try selected(prediction)
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
