/// What `diff --precision float16` prints of the layers.
struct HalfPrecisionText {
  /// More layers than this are not listed.
  private static let layerCount = 10

  let study: HalfPrecisionStudy

  init(_ study: HalfPrecisionStudy) { self.study = study }

  func text() -> String {
    "in half precision, compared with single precision:\n" + outputsText + layersText + keptText
  }

  /// The worst input of each output.
  private var worst: [OutputComparison] {
    var found: [String: OutputComparison] = [:]
    var order: [String] = []
    for output in study.outputs.joined() {
      guard let known = found[output.name] else {
        order.append(output.name)
        found[output.name] = output
        continue
      }
      let error = { (output: OutputComparison) in
        output.metrics?.relativeToLargest ?? .infinity
      }
      if error(output) > error(known) { found[output.name] = output }
    }
    return order.compactMap { found[$0] }
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

  private var layersText: String {
    guard !study.layers.isEmpty else { return "" }
    var table = TextTable(
      [("layer", .left), ("type", .left), ("error", .right), ("", .left)], indent: 2)
    for layer in study.layers.prefix(Self.layerCount) {
      table.add([
        layer.name, layer.type, numberText(layer.error, digits: 2),
        layer.overflowCount > 0
          ? "overflows, \(counted(layer.overflowCount, "value")) not finite" : "",
      ])
    }
    let count = study.layers.count
    return "layers that lose most, each by itself; errors relative to their largest value:\n"
      + table.text + (count > Self.layerCount ? "  … and \(count - Self.layerCount) more\n" : "")
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
    .object([
      "agrees": .bool(study.agrees),
      "outputs": .list(worst) { output in
        .object([
          "name": .string(output.name), "agrees": .bool(output.agrees),
          "largestAbsoluteError": output.metrics.map { .number($0.largestAbsoluteError) } ?? .null,
        ])
      },
      "layers": .list(study.layers) { layer in
        .object([
          "name": .string(layer.name), "type": .string(layer.type), "error": .number(layer.error),
          "notFinite": .int(layer.overflowCount),
        ])
      }, "keepFloat32": .array(study.kept.map(JSONText.string)),
      "isMinimal": .bool(study.isMinimal),
    ])
  }
}
