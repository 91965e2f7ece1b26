/// The output of `diff`.
struct ComparisonText {
  let comparison: Comparison
  /// Whether it compares two models, whose outputs may differ in name.
  var isOfModels = false

  func text() -> String {
    var text = comparison.outputs.map(outputText).joined()
    for name in comparison.unexpected {
      let reason =
        isOfModels ? "only one of the models has it" : "the expected file does not contain it"
      text += "\(Console.escaped(name))  not compared, \(reason)\n"
    }
    if let blobs = comparison.blobs { text += blobsText(blobs) }
    let differing = comparison.outputs.filter { !$0.agrees }.count
    if differing > 0 {
      text += "\(differing) of \(comparison.outputs.count) outputs differ\n"
    } else if isOfModels, !comparison.unexpected.isEmpty {
      text += "the common outputs agree\n"
    } else {
      text +=
        comparison.matches
        ? "agrees within tolerance\n" : "the outputs agree, but blobs inside differ\n"
    }
    return text
  }

  private func outputText(_ output: OutputComparison) -> String {
    let shape = output.expectedShape.map(String.init).joined(separator: "×")
    var text =
      "\(Console.escaped(output.name))  \(shape)  \(output.agrees ? "agrees" : "DIFFERS")\n"
    guard let metrics = output.metrics else {
      let actual = output.actualShape.map(String.init).joined(separator: "×")
      return text + "  shape \(actual), expected \(shape)\n"
    }
    func row(_ name: String, _ value: String) { text += "  \(name.padded(to: 26)) \(value)\n" }
    func number(_ value: Double) -> String { numberText(value, digits: 6) }
    row("largest absolute error", number(metrics.largestAbsoluteError))
    row("largest relative error", number(metrics.largestRelativeError))
    row("mean error", number(metrics.meanError))
    row("RMSE", number(metrics.rootMeanSquareError))
    row("cosine", numberText(metrics.cosine, digits: 9))
    row("PSNR", SummaryText.decibels(metrics.peakSignalToNoise))
    row("SNR", SummaryText.decibels(metrics.signalToNoise))
    if let classes = output.classes {
      row("same best class", fixedText(100 * classes.top1, decimals: 2) + "%")
      if classes.count > 1 {
        row("same \(classes.count) best classes", fixedText(100 * classes.topN, decimals: 2) + "%")
      }
    }
    let tolerance =
      "\(number(metrics.tolerance.absolute)) + \(number(metrics.tolerance.relative)) · |expected|"
    row(
      "outside the tolerance",
      "\(groupedText(metrics.countOutside)) of \(groupedText(metrics.count)) (\(tolerance))")
    if metrics.countNotFinite > 0 {
      row("of these not finite", groupedText(metrics.countNotFinite))
    }
    if let worst = metrics.worst {
      row(
        "worst element",
        "\(worst.index): \(numberText(worst.actual)), expected \(numberText(worst.expected))")
    }
    if let verdict = comparison.verdicts[output.name] { row("in double precision", words(verdict)) }
    return text
  }

  private func words(_ verdict: ReferenceVerdict) -> String {
    switch verdict {
    case .agrees: "no difference to explain"
    case .rounding: "the reference agrees with the expected output: the difference is rounding"
    case .model: "the reference differs too: the difference is in the model, not in its execution"
    case .engine: "the difference is larger than rounding explains: please report it"
    }
  }

  private func blobsText(_ blobs: BlobComparison) -> String {
    let table = TextTable(
      ["", "", ""], indent: 2,
      rows: (blobs.firstDifference == nil ? [] : blobs.blobs).map { blob in
        [
          blob.name, blob.agrees ? "agrees" : "DIFFERS",
          blob.metrics?.largestAbsoluteError.cell
            ?? "shape \(blob.actualShape), expected \(blob.expectedShape)",
        ]
      })
    var text = blobs.blobs.isEmpty ? "" : "\n" + table.text
    let errors = blobs.blobs.compactMap { $0.metrics?.largestAbsoluteError }
    if blobs.firstDifference == nil, let largest = errors.max() {
      let count =
        "\(counted(errors.count, "blob")) inside \(errors.count == 1 ? "agrees" : "agree")"
      text += "  \(count), largest error \(numberText(largest, digits: 6))\n"
    }
    for pair in blobs.similar {
      text +=
        "  '\(Console.escaped(pair.expected))' was compared with \(Console.escaped(pair.blob)), which "
        + "it resembles\n"
    }
    for name in blobs.unknown {
      text += "  \(Console.escaped(name)): the model has no such blob or layer\n"
    }
    if let first = blobs.firstDifference {
      text += "the first blob that differs is \(Console.escaped(first.name))\n"
    }
    return text
  }

  /// - Parameters:
  ///   - diagnosis: the findings of `--diagnose`.
  ///   - halfPrecision: the findings about half precision.
  func json(_ diagnosis: JSONText? = nil, halfPrecision: JSONText? = nil) -> JSONText {
    .versioned([
      "matches": comparison.matches, "outputs": comparison.outputs.map(outputJSON),
      "notCompared": comparison.unexpected,
      "layers": (comparison.blobs?.blobs ?? []).map(outputJSON),
      "firstDifferentLayer": comparison.blobs?.firstDifference?.name,
      "diagnosis": diagnosis.ifPresent, "halfPrecision": halfPrecision.ifPresent,
    ])
  }

  private func outputJSON(_ output: OutputComparison) -> JSONText {
    let start: JSONText = [
      "name": output.name, "agrees": output.agrees, "shape": output.actualShape,
      "expectedShape": output.expectedShape,
    ]
    return start + (output.metrics.map(Self.json) ?? [:]) + [
      "top1": (output.classes?.top1).ifPresent, "topN": (output.classes?.topN).ifPresent,
      "verdict": (comparison.verdicts[output.name]?.rawValue).ifPresent,
    ]
  }

  private static func json(_ metrics: ErrorMetrics) -> JSONText {
    [
      "largestAbsoluteError": metrics.largestAbsoluteError,
      "largestRelativeError": metrics.largestRelativeError, "meanError": metrics.meanError,
      "rmse": metrics.rootMeanSquareError, "cosine": metrics.cosine,
      "psnr": metrics.peakSignalToNoise, "snr": metrics.signalToNoise, "count": metrics.count,
      "countOutside": metrics.countOutside, "rtol": metrics.tolerance.relative,
      "atol": metrics.tolerance.absolute,
      "worst": metrics.worst.map {
        ["index": $0.index, "actual": $0.actual, "expected": $0.expected] as JSONText
      }.ifPresent,
    ]
  }
}
