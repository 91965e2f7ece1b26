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
    (self.model, self.folds, self.layers) = (model, folds, layers)
    bytesBefore = original.weightByteCount
    bytesAfter = model.weightByteCount
  }

  var text: String {
    var text = foldText
    text += layerColumns.table(layers)
    for layer in layers {
      guard let note = layer.note else { continue }
      text += "'\(Console.escaped(layer.name))' keeps its precision: \(Console.escaped(note))\n"
    }
    if !points.isEmpty { text += "\n" + pointColumns.table(points) }
    if let change { text += "\n" + SummaryText(summary: change).changeTable + "\n" }
    let share = bytesBefore == 0 ? 0 : 100 * Double(bytesAfter) / Double(bytesBefore)
    return text + "weights  \(groupedText(bytesBefore)) bytes → \(groupedText(bytesAfter)) bytes, "
      + "\(fixedText(share, decimals: 1))%\n"
  }

  private var layerColumns: [Column<CompressedLayer>] {
    [
      Column("layer", "name") { $0.name }, Column("type", "type") { $0.type },
      Column(nil, "storage") { $0.storage }, Column("weights", "count") { $0.count },
      Column("stored as", nil) { $0.storage + ($0.note == nil ? "" : " (kept)") },
      Column(nil, "bytesBefore") { $0.bytesBefore },
      Column("bytes", "bytesAfter") { $0.bytesAfter },
      Column(nil, "squaredError") { $0.error.squaredError },
      Column(nil, "squaredValues") { $0.error.squaredValues },
      Column(">SNR", nil) { $0.isChanged ? decibels($0.error.signalToNoise) : "" },
      Column("largest error", "largestError") {
        $0.error.largest
      } cell: {
        $0.isChanged ? numberText($0.error.largest, digits: 4) : ""
      }, Column(nil, "note") { $0.note },
    ]
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

  private var pointColumns: [Column<CompressionPoint>] {
    let hasClasses = points.contains { $0.agreement != nil }
    return [
      Column("", nil) { $0 == chosen ? "→" : "" }, Column("bytes", "bytes") { $0.byteCount },
      Column("largest error", "largestError", digits: 4) { $0.largestError },
      Column("relative error", "relativeError", digits: 4) { $0.relativeError },
      Column(">SNR", nil) { $0.decibels },
      Column(hasClasses ? ">same best class" : nil, "agreement", SummaryText.percent) {
        $0.agreement
      }, Column("layers", "layers") { $0.label },
    ]
  }

  private func decibels(_ ratio: Double) -> String {
    ratio == .infinity ? "exact" : fixedText(10 * log10(ratio), decimals: 1) + " dB"
  }

  var json: JSONText {
    .versioned([
      "bytesBefore": bytesBefore, "bytesAfter": bytesAfter,
      "folds": folds.json {
        ["layer": $0.layer, "neighbor": $0.neighbor, "error": $0.error, "done": $0.isDone]
      }, "layers": layerColumns.json(layers), "points": pointColumns.json(points),
      "chosen": chosen.map(pointColumns.object),
      "outputs": change.map { SummaryText(summary: $0).outputsJSON } ?? .array([]),
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
