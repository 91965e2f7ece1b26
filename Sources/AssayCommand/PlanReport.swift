/// The output of `convert --dry-run`.
struct PlanReport {
  let plan: ConversionPlan
  let file: String

  /// One line per layer: name, class, and its result or the reason why it cannot be converted.
  var text: String {
    TextTable(
      ["", "", ""],
      rows: plan.entries.map { entry in
        guard let refusal = entry.refusal else {
          let target = entry.becomes.isEmpty ? "nothing" : entry.becomes.joined(separator: ", ")
          return [entry.layer, entry.layerClass, "→ " + target]
        }
        let reason = [refusal.error.field, refusal.error.message].compactMap(\.self)
        return [
          entry.layer, entry.layerClass,
          refusal.isOpen
            ? "→ open: it depends on a layer above that cannot be converted"
            : "→ cannot be converted: " + reason.joined(separator: ": "),
        ]
      }
    ).text
  }

  /// The result of the conversion; nil if it needs missing weights.
  ///
  /// - Throws: the reason for the failure, with a hint about the layers that cannot be converted;
  ///   their rules are printed first.
  func result() throws -> ConversionResult? {
    guard var error = plan.error else { return plan.result }
    let rules = plan.rules
    if !rules.isEmpty {
      error.hint = hints.joined(separator: "\n")
      Console.report(error.inFile(file))
      Console.note(
        "[\n" + rules.map { "  " + Console.escaped($0.text) }.joined(separator: ",\n") + "\n]")
      throw ExitCode(error.code.exitCode)
    }
    throw error
  }

  private var hints: [String] {
    var hints = plan.similarClasses.map { name, classes in
      "'\(name)' may be the built-in class \(classes.joined(separator: " or ")); "
        + "`assay plugin list` says what each computes"
    }
    if let own = plan.error?.hint, own.contains("--lambda auto") {
      hints.append("convert formulas with --lambda auto")
    }
    return hints + plan.remedies + [
      "if a layer is a formula, write \"expression\": \"x * sigmoid(x)\" into its rule instead of "
        + "\"className\"",
      "make all of them custom layers with --custom-layers allow, or by these rules with "
        + "--custom-layers FILE.json:",
    ]
  }
}
