/// Prints predictions, then writes their files, so that nothing is written if printing fails.
struct PredictionWriter {
  /// Whether there is only one prediction.
  let isSingle: Bool
  let json: Bool
  let quiet: Bool
  var outputNames: [String] = []
  var labels: ClassNames?
  var top = 5
  /// A file, or a folder for several predictions.
  var destination: String?
  /// The outputs that are omitted from files of a single array.
  var states: Set<String> = []
  /// Finds the boxes in the outputs; they are printed instead of the outputs.
  var detection: ImageDetection?
  /// Whether a failure to find boxes is an error.
  var needsBoxes = false
  /// The rows of several predictions, if they are written to one file.
  private var table: PredictionTable?
  /// The COCO results of all predictions; nil if not requested.
  var results: [JSONText]?
  /// The number of files of several predictions.
  private var fileCount = 0

  init(isSingle: Bool, json: Bool, quiet: Bool) {
    (self.isSingle, self.json, self.quiet) = (isSingle, json, quiet)
  }

  mutating func write(
    _ prediction: Prediction, of source: InputSource, _ values: [String: FeatureValue],
    _ printed: () -> Void
  ) throws {
    var outputs = try selected(prediction)
    if outputNames.isEmpty, destination?.lowercased().hasSuffix(".npy") == true {
      let others = outputs.filter { !states.contains($0.name) }
      if others.count == 1, outputs.count > 1 {
        if !quiet {
          let names = outputs.map(\.name).filter(states.contains).map { "'\(Console.escaped($0))'" }
          Console.note("not written, because they are states: \(names.joined(separator: ", "))")
        }
        outputs = others
      }
    }
    do {
      if let result = try detection?.result(outputs, of: values, from: source) {
        return try write(result, outputs, of: source, printed)
      }
    } catch let error as ModelError where !needsBoxes {
      Console.warn("no boxes, but the outputs are shown: \(error)")
      detection = nil
    }
    let shown = try PredictionText(
      outputs, labels: labels, top: top, isWritten: destination != nil)
    let text = json ? try shown.json(input: source.name).text + "\n" : try shown.text()
    var writing: (() throws -> Void)?
    if table != nil {
      try table?.add(outputs, of: source.name, labels: labels?.names)
    } else if let destination {
      let path =
        isSingle ? destination : OutputFiles.path(for: source.outputStem ?? "output", outputs)
      writing = try OutputFiles.writing(outputs, to: path, in: folder())
      fileCount += 1
    }
    show(text, of: source)
    printed()
    try writing?()
  }

  /// Writes boxes as text or JSON, and the image with boxes as `.png`; writes arrays unchanged.
  private mutating func write(
    _ result: ImageDetection.Result, _ outputs: [PredictedOutput], of source: InputSource,
    _ printed: () -> Void
  ) throws {
    let shown = DetectionText(result: result)
    var writing: (() throws -> Void)?
    if let destination {
      let stem = source.outputStem ?? "output"
      let (path, folder) = (isSingle ? destination : stem + ".png", try folder())
      if path.lowercased().hasSuffix(".png") {
        let picture = try result.drawn()
        writing = { try picture.writePNG(to: path, in: folder) }
      } else {
        writing = try OutputFiles.writing(outputs, to: path, in: folder)
      }
      fileCount += 1
    }
    results?.append(contentsOf: shown.coco(input: source.name))
    show(json ? shown.json(input: source.name).text + "\n" : shown.text(), of: source)
    printed()
    try writing?()
  }

  /// Prepares the destination for several predictions: a folder, or one table.
  ///
  /// - Throws: `.usage` if it names a file for a single prediction.
  mutating func beginSeveral(hasBoxes: Bool) throws {
    guard let destination, !Folder.isFolder(destination) else { return }
    let suffix = destination.split(separator: ".").last?.lowercased() ?? ""
    if suffix == "csv", !hasBoxes {
      table = PredictionTable()
    } else if destination == "-" || suffix == "png"
      || ArraySet.Format(rawValue: suffix) != nil && destination.contains(".")
    {
      throw ModelError(
        .usage, "-o names one file, and there are several inputs", file: destination,
        hint: hasBoxes ? "name a folder" : "name a folder, or a .csv for a row of each")
    }
  }

  /// Writes the files for all predictions together.
  func finish() throws {
    guard let destination else { return }
    if let table {
      try AtomicFile.write(Array(table.text.utf8), to: destination)
      Console.wrote(destination, always: true)
    } else if isSingle {
      Console.wrote(destination, always: true)
    } else if fileCount > 0, !quiet {
      Console.note("wrote \(counted(fileCount, "file")) to \(Console.escaped(destination))")
    }
  }

  /// The folder for several predictions, which is created if missing.
  private func folder() throws -> String? {
    guard !isSingle, let destination else { return nil }
    try Folder.make(destination, for: "several inputs")
    return destination
  }

  private func show(_ text: String, of source: InputSource) {
    if destination == "-" { return }
    if json {
      Console.write(text)
    } else if destination == nil || !quiet {
      Console.write(isSingle ? text : Console.escaped(source.name) + "\n" + text)
    }
  }

  private func selected(_ prediction: Prediction) throws -> [PredictedOutput] {
    guard !outputNames.isEmpty else { return prediction.outputs }
    return try outputNames.map { name in
      try prediction.outputs.first(where: { $0.name == name }).orThrow(
        ModelError.unknown("output", name, among: prediction.outputs.map(\.name)))
    }
  }
}
