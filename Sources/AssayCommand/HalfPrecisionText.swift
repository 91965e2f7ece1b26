/// The output of `diff --precision float16` about layers.
struct HalfPrecisionText {
  /// The largest number of layers that are listed.
  private static let layerCount = 10

  let study: HalfPrecisionStudy

  func text() -> String {
    "in half precision, compared with single precision:\n" + outputsText + layersText + keptText
  }

  /// For each output, the comparison on the input with the largest error.
  private var worst: [OutputComparison] {
    study.outputs.joined().reduce(into: []) { worst, output in
      func error(_ output: OutputComparison) -> Double {
        output.metrics?.relativeToLargest ?? .infinity
      }
      guard let index = worst.firstIndex(where: { $0.name == output.name }) else {
        return worst.append(output)
      }
      if error(output) > error(worst[index]) { worst[index] = output }
    }
  }

  private var outputsText: String {
    worst.map { output in
      let verdict = output.agrees ? "agrees" : "DIFFERS"
      guard let metrics = output.metrics else { return "" }
      return "  \(Console.escaped(output.name))  \(verdict), largest error "
        + "\(numberText(metrics.largestAbsoluteError, digits: 3)) of values up to "
        + "\(numberText(metrics.largestExpected, digits: 3))\n"
    }.joined()
  }

  private static var layers: [Column<HalfPrecisionStudy.Layer>] {
    [
      Column("layer", "name") { $0.name }, Column("type", "type") { $0.type },
      Column("error", "error", digits: 2) { $0.error },
      Column(nil, "notFinite") { $0.overflowCount },
      Column("", nil) {
        $0.overflowCount > 0 ? "overflows, \(counted($0.overflowCount, "value")) not finite" : ""
      },
    ]
  }

  private var layersText: String {
    guard !study.layers.isEmpty else { return "" }
    let count = study.layers.count
    return "layers that lose most, each by itself; errors relative to their largest value:\n"
      + Self.layers.table(study.layers.prefix(Self.layerCount), indent: 2)
      + (count > Self.layerCount ? "  … and \(count - Self.layerCount) more\n" : "")
  }

  private var keptText: String {
    if study.agrees { return "no layer needs single precision\n" }
    let names = study.kept.map { "--keep-float32\($0.hasPrefix("-") ? "=" : " ")\($0.shellWord)" }
    let count = counted(study.kept.count, "layer")
    return
      (study.isMinimal
      ? "\(count) in single precision \(study.kept.count == 1 ? "is" : "are") enough, and none can be left out:\n"
      : "\(count) in single precision are enough; the time was too short to look for fewer, see --budget:\n")
      + "  --precision float16 \(names.joined(separator: " "))\n"
  }

  func json() -> JSONText {
    [
      "agrees": study.agrees,
      "outputs": worst.json {
        [
          "name": $0.name, "agrees": $0.agrees,
          "largestAbsoluteError": $0.metrics?.largestAbsoluteError,
        ]
      }, "layers": Self.layers.json(study.layers), "keepFloat32": study.kept,
      "isMinimal": study.isMinimal,
    ]
  }
}
