/// The output of `convert --prove` and `diff` about a proof.
struct ProofText {
  let proof: Proof

  /// - Parameter source: the path of the source network.
  func text(_ source: String) -> String {
    let file = Console.escaped(String(source.split(separator: "/").last ?? ""))
    let open = proof.lacking.count + proof.unmatched.count
    let total = proof.agreeing.count + open + (proof.finding == nil ? 0 : 1)
    var text =
      "\(groupedText(proof.agreeing.count)) of \(counted(total, "layer")) "
      + "\(total == 1 ? "agrees" : "agree") with a second reading of \(file)"
    if proof.finding != nil { text += "; 1 differs" }
    if open > 0 {
      let classes = Set(proof.lacking.map(\.layerClass)).sorted().map(Console.escaped)
      let names = (classes + Self.quoted(proof.unmatched)).prefix(8).joined(separator: ", ")
      text += "; \(groupedText(open)) \(open == 1 ? "was" : "were") not compared (\(names))"
    }
    text += "\n"
    guard proof.finding == nil else { return text + (proof.finding.map(findingText) ?? "") }
    text +=
      "  largest difference \(numberText(proof.largest, digits: 2)), on "
      + "\(counted(proof.inputs.count, "input"))\n"
    for layer in proof.lacking.prefix(8) {
      let copied = layer == proof.missing ? "" : "; copied from the model"
      text += "  not compared: \(Console.escaped(layer.description))\(copied)\n"
    }
    if !proof.openOutputs.isEmpty {
      let names = Self.quoted(proof.openOutputs.sorted()).prefix(8).joined(separator: ", ")
      text += "  outputs not compared: \(names)\n"
    }
    return text
  }

  private static func quoted(_ names: [String]) -> [String] {
    names.map { "'\(Console.escaped($0))'" }
  }

  private func findingText(_ finding: Proof.Finding) -> String {
    let difference = finding.difference
    let layer = "'\(Console.escaped(finding.layer))'"
    var text = "  layer \(layer)"
    if finding.blob != finding.layer { text += " (blob '\(Console.escaped(finding.blob))')" }
    text += " differs on \(Console.escaped(finding.input)) although its inputs agree\n"
    guard difference.fits else {
      return text
        + "  shape \(Self.shape(difference.actualShape)), expected \(Self.shape(difference.expectedShape))\n"
    }
    text +=
      "  largest difference \(numberText(difference.largest, digits: 3)) of values up to "
      + "\(numberText(difference.scale, digits: 3)); rounding explains "
      + "\(numberText(finding.allowed, digits: 2))\n"
    text +=
      "  element \(difference.index): \(numberText(difference.actual)), expected "
      + "\(numberText(difference.expected))\n"
    return text
  }

  private static func shape(_ shape: [Int]) -> String {
    shape.map(String.init).joined(separator: "×")
  }

  func json() -> JSONText {
    [
      "proved": proof.isComplete, "layers": proof.layers.count, "compared": proof.agreeing.count,
      "inputs": proof.inputs, "largestDifference": proof.largest,
      "notInterpreted": proof.missing?.description, "takenOver": proof.takenOver.map(\.description),
      "notCompared": proof.openOutputs.sorted(), "layersNotCompared": proof.unmatched,
      "differs": proof.finding.map {
        [
          "layer": $0.layer, "blob": $0.blob, "input": $0.input,
          "difference": $0.difference.largest, "largestValue": $0.difference.scale,
          "explained": $0.allowed,
        ] as JSONText
      },
    ]
  }
}
