/// The options of a help page, grouped by task.
///
/// ArgumentParser groups options only by the structs that declare them, and each struct costs time
/// at every start. These titles therefore apply to the finished text.
enum HelpSections {
  /// The sections that are divided; their other options stay.
  private static let divided = ["CONVERSION", "CONVERSION AND INTERFACE", "OPTIONS"]

  /// The titles in the order in which they appear, with their options.
  private static let titles: [(title: String, options: String)] = [
    ("NAMES AND SHAPES", "--input-name --output-name --reference-names --input-shape --array-type"),
    (
      "IMAGE INPUTS AND OUTPUTS",
      "--image-input --image-output --color --image-scale --red-bias --green-bias --blue-bias "
        + "--gray-bias --image-mean --image-std --preset --mean --recipe"
    ),
    ("CLASSES", "--class-labels --predicted-feature-name --predicted-probabilities-output"),
    (
      "LAYERS",
      "--custom-layers --lambda --phase --level --stage --max-spec --respect-trainable --precision"
    ),
    (
      "METADATA",
      "--author --license --short-description --version-string --metadata "
        + "--input-description --output-description"
    ),
    ("INPUTS", "--inputs --shard --carry-states"),
    (
      "COMPARISON",
      "--truth --check --expected --prove --rtol --atol --profile --layers --reference --diagnose --budget "
        + "--against"
    ),
    (
      "RESULTS",
      "-o --format --top --labels --wnid --layout --feature --all-outputs --layer --confusion "
        + "--worst --spec --plan --graph --export-weights --swift-stubs --json --report"
    ),
    ("TIMING", "--warmup --runs --min-seconds"),
    ("DIAGNOSTICS", "--dry-run --verbose --steps --trace"),
  ]

  /// The text with its options under these titles.
  static func arranged(_ help: String) -> String {
    var text: [Substring] = []
    var title = ""
    var entries: [[Substring]] = []
    func finish() {
      text += divided.contains(title) ? sections(entries, title) : Array(entries.joined())
      entries = []
    }
    for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
      if let heading = heading(line) {
        finish()
        title = heading
        if !divided.contains(title) { text.append(line) }
      } else if line.hasPrefix("  -") || entries.isEmpty {
        entries.append([line])
      } else {
        entries[entries.count - 1].append(line)
      }
    }
    finish()
    return text.joined(separator: "\n")
  }

  /// The title of a section that starts with this line.
  private static func heading(_ line: Substring) -> String? {
    guard line.hasSuffix(":"), line.dropLast().allSatisfy({ $0.isUppercase || $0 == " " }) else {
      return nil
    }
    return String(line.dropLast())
  }

  private static func sections(_ entries: [[Substring]], _ title: String) -> [Substring] {
    // The last entry also holds the empty lines that end the section.
    var entries = entries.map { $0.filter { !$0.isEmpty } }
    var text: [Substring] = []
    for section in titles + [(title, "")] {
      let options = section.options.split(separator: " ")
      let chosen = section.options.isEmpty ? entries : entries.filter { options.contains(name($0)) }
      guard !chosen.isEmpty else { continue }
      entries.removeAll { entry in chosen.contains { $0 == entry } }
      text.append("\(section.title):")
      text += chosen.joined()
      text.append("")
    }
    return text
  }

  /// The first long name of an option, or its short one if there is none.
  private static func name(_ entry: [Substring]) -> Substring {
    let names = (entry.first ?? "").split(whereSeparator: { $0 == " " || $0 == "," })
      .prefix { $0.hasPrefix("-") }
    return names.first { $0.hasPrefix("--") } ?? names.first ?? ""
  }
}
