import LibC

/// The output of `compress`.
struct CompressionText {
  let model: Model
  let folds: [BatchnormFold]
  var layers: [CompressedLayer]
  private let bytesBefore: Int
  private let bytesAfter: Int
  /// Whether each fold is printed on a separate line.
  var listsFolds = false
  /// The measurements of a search, and its choice.
  var points: [CompressionPoint] = []
  var chosen: CompressionPoint?
  /// The measured change of the outputs.
  var change: ComparisonSummary?

  init(_ model: Model, from original: Model, folds: [BatchnormFold], layers: [CompressedLayer]) {
    self.model = model
    self.folds = folds
    self.layers = layers
    bytesBefore = original.weightByteCount
    bytesAfter = model.weightByteCount
  }

  var text: String {
    var text = foldText
    var table = TextTable([
      ("layer", .left), ("type", .left), ("weights", .right), ("stored as", .left),
      ("bytes", .right), ("SNR", .right), ("largest error", .right),
    ])
    for layer in layers {
      table.add([
        Console.escaped(layer.name), layer.type, groupedText(layer.count),
        layer.storage + (layer.note == nil ? "" : " (kept)"),
        groupedText(layer.bytesAfter), layer.isChanged ? decibels(layer.error.signalToNoise) : "",
        layer.isChanged ? numberText(layer.error.largest, digits: 4) : "",
      ])
    }
    text += table.text
    for layer in layers {
      guard let note = layer.note else { continue }
      text += "'\(Console.escaped(layer.name))' keeps its precision: \(Console.escaped(note))\n"
    }
    if !points.isEmpty { text += "\n" + pointText }
    if let change { text += "\n" + SummaryText(summary: change).changeTable + "\n" }
    let share = bytesBefore == 0 ? 0 : 100 * Double(bytesAfter) / Double(bytesBefore)
    return text
      + "weights  \(groupedText(bytesBefore)) bytes → \(groupedText(bytesAfter)) bytes, "
      + "\(fixedText(share, decimals: 1))%\n"
  }

  private var foldText: String {
    let done = folds.filter(\.isDone)
    var text = folds.filter { !$0.isDone || listsFolds }.map { fold in
      let error = numberText(fold.error, digits: 2)
      return fold.isDone
        ? "folded '\(Console.escaped(fold.layer))' into '\(Console.escaped(fold.neighbor))', "
          + "relative error \(error)\n"
        : "'\(Console.escaped(fold.layer))' was not folded into '\(Console.escaped(fold.neighbor))': "
          + "the results would differ by \(error)\n"
    }.joined()
    if let worst = done.map(\.error).max(), !listsFolds {
      text +=
        (done.count == 1
          ? "folded a layer into its neighbor, "
          : "folded \(done.count) layers into their neighbors, ")
        + "relative error at most \(numberText(worst, digits: 2))\n"
    }
    return text
  }

  private var pointText: String {
    let hasClasses = points.contains { $0.agreement != nil }
    var table = TextTable(
      [
        ("", .left), ("bytes", .right), ("largest error", .right), ("relative error", .right),
        ("SNR", .right),
      ] + (hasClasses ? [("same best class", .right)] : []) + [("layers", .left)])
    for point in points {
      let agreement = point.agreement.map { fixedText(100 * $0, decimals: 2) + "%" } ?? ""
      table.add(
        [
          point == chosen ? "→" : "", groupedText(point.byteCount),
          numberText(point.largestError, digits: 4), numberText(point.relativeError, digits: 4),
          point.decibels,
        ] + (hasClasses ? [agreement] : []) + [point.label])
    }
    return table.text
  }

  private func decibels(_ ratio: Double) -> String {
    ratio == .infinity ? "exact" : fixedText(10 * log10(ratio), decimals: 1) + " dB"
  }

  var json: JSONText {
    .versioned([
      "bytesBefore": .int(bytesBefore), "bytesAfter": .int(bytesAfter),
      "folds": .list(folds) {
        .object([
          "layer": .string($0.layer), "neighbor": .string($0.neighbor), "error": .number($0.error),
          "done": .bool($0.isDone),
        ])
      },
      "layers": .list(layers) { layer in
        .object([
          "name": .string(layer.name), "type": .string(layer.type),
          "storage": .string(layer.storage), "count": .int(layer.count),
          "bytesBefore": .int(layer.bytesBefore), "bytesAfter": .int(layer.bytesAfter),
          "squaredError": .number(layer.error.squaredError),
          "squaredValues": .number(layer.error.squaredValues),
          "largestError": .number(layer.error.largest),
          "note": layer.note.map { .string($0) } ?? .null,
        ])
      }, "points": .array(points.map(pointJSON)), "chosen": chosen.map(pointJSON) ?? .null,
      "outputs": change.map { SummaryText(summary: $0).outputsJSON } ?? .array([]),
    ])
  }

  private func pointJSON(_ point: CompressionPoint) -> JSONText {
    .object([
      "bytes": .int(point.byteCount), "largestError": .number(point.largestError),
      "relativeError": .number(point.relativeError),
      "agreement": point.agreement.map { .number($0) } ?? .null, "layers": .string(point.label),
    ])
  }

  func report(title: String, destination: String, goal: String) -> Report {
    Report(
      title: title,
      facts: [
        ("compressed", destination), ("asked for", goal),
        ("weights", "\(groupedText(bytesBefore)) bytes → \(groupedText(bytesAfter)) bytes"),
        ("program", "assay \(assayVersion)"),
      ], points: points,
      chosen: chosen ?? CompressionPoint(byteCount: bytesAfter),
      layers: (
        ["Layer", "Type", "Weights", "Stored as", "Bytes", "SNR"],
        layers.map { layer in
          [
            layer.name, layer.type, groupedText(layer.count), layer.storage,
            groupedText(layer.bytesAfter),
            layer.isChanged ? decibels(layer.error.signalToNoise) : "",
          ]
        }
      ))
  }
}
