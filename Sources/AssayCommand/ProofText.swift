import Assay

/// The output of `convert --prove` and `diff` about a proof.
struct ProofText {
  let proof: Proof

  init(_ proof: Proof) { self.proof = proof }

  func text() -> String {
    let compared =
      "\(groupedText(proof.agreeing.count)) of \(counted(proof.layers.count, "layer")) compared on "
      + counted(proof.inputs.count, "input")
    let largest = "largest difference \(numberText(proof.largest, digits: 2))"
    guard let finding = proof.finding else {
      if proof.isComplete { return "proved: \(compared), \(largest)\n" }
      var text = "proved in part: \(compared), \(largest)\n"
      if let missing = proof.missing {
        text += "  not interpreted: \(Console.escaped(missing.description))\n"
      }
      if !proof.takenOver.isEmpty {
        let count = counted(proof.takenOver.count, "layer")
        text += "  \(count) copied from the model, not proved:\n"
        for layer in proof.takenOver.prefix(8) {
          text += "    \(Console.escaped(layer.description))\n"
        }
      }
      if !proof.openOutputs.isEmpty {
        let names = proof.openOutputs.sorted().map { "'\(Console.escaped($0))'" }
        text += "  not compared: \(names.prefix(8).joined(separator: ", "))\n"
      }
      return text
    }
    return "not proved: \(compared)\n" + findingText(finding)
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
    .object([
      ("proved", .bool(proof.isComplete)), ("layers", .int(proof.layers.count)),
      ("compared", .int(proof.agreeing.count)),
      ("inputs", .array(proof.inputs.map { .string($0) })),
      ("largestDifference", .number(proof.largest)),
      ("notInterpreted", .optional(proof.missing?.description)),
      ("takenOver", .array(proof.takenOver.map { .string($0.description) })),
      ("notCompared", .array(proof.openOutputs.sorted().map { .string($0) })),
      (
        "differs",
        proof.finding.map { finding in
          .object([
            ("layer", .string(finding.layer)), ("blob", .string(finding.blob)),
            ("input", .string(finding.input)), ("difference", .number(finding.difference.largest)),
            ("largestValue", .number(finding.difference.scale)),
            ("explained", .number(finding.allowed)),
          ])
        } ?? .null
      ),
    ])
  }
}
