/// The values of the previous version's `--color-output`; only `NO_COLOR` turns colors off now.
enum ColorOutput: String, ExpressibleByArgument { case auto, always, never }

/// Options of the previous version and their current names; the old ones work for one more version.
enum EarlierSpellings {
  private struct Spelling: Sendable {
    let earlier: String
    let current: String
    /// The command that has the option; nil for all commands.
    var command: String?
    /// The current value for an earlier one; nil for an option without a value.
    var value: @Sendable (String) -> String? = { $0 }
  }

  private static let options: [Spelling] = [
    Spelling(earlier: "--class-labels", current: "--labels"),
    Spelling(earlier: "--weights-precision", current: "--precision"),
    Spelling(earlier: "--precision", current: "--arithmetic", command: "run"),
    Spelling(earlier: "--precision", current: "--arithmetic", command: "diff"),
    Spelling(earlier: "--precision", current: "--arithmetic", command: "eval"),
    Spelling(earlier: "--precision", current: "--arithmetic", command: "bench"),
    Spelling(earlier: "--check", current: "--inputs", command: "convert"),
    Spelling(earlier: "--mean", current: "--image-mean"),
    Spelling(earlier: "--max-spec", current: "--target"),
    Spelling(earlier: "--specification-version", current: "--target"),
    Spelling(earlier: "--phase", current: "--net-state") { "phase=\($0)" },
    Spelling(earlier: "--level", current: "--net-state") { "level=\($0)" },
    Spelling(earlier: "--stage", current: "--net-state") { "stage=\($0)" },
    Spelling(earlier: "--author", current: "--metadata") { "author=\($0)" },
    Spelling(earlier: "--license", current: "--metadata") { "license=\($0)" },
    Spelling(earlier: "--short-description", current: "--metadata") { "shortDescription=\($0)" },
    Spelling(earlier: "--version-string", current: "--metadata") { "versionString=\($0)" },
    Spelling(earlier: "--remove-metadata", current: "--metadata") { "\($0)=" },
    Spelling(earlier: "--input-description", current: "--description"),
    Spelling(earlier: "--output-description", current: "--description"),
    Spelling(earlier: "--profile", current: "--tolerance", command: "diff"),
    Spelling(earlier: "--profile", current: "--steps", command: "run"),
    Spelling(earlier: "--layers", current: "--steps", command: "bench"),
    Spelling(earlier: "--input", current: "--inputs", command: "bench"),
    Spelling(earlier: "--all-outputs", current: "--layer=*", command: "run"),
    Spelling(earlier: "--truth", current: "--expected", command: "eval"),
    Spelling(earlier: "--anchors", current: "--detector") { "anchors=\($0)" },
    Spelling(earlier: "--threshold", current: "--detector") { "threshold=\($0)" },
    Spelling(earlier: "--iou", current: "--detector") { "iou=\($0)" },
    Spelling(earlier: "--trace", current: "--verbose", command: "run") { _ in nil },
    Spelling(earlier: "--table", current: "--mode", command: "compress"),
    Spelling(earlier: "--type", current: "--layer", command: "compress"),
    Spelling(earlier: "--skip-type", current: "--skip-layer"),
    Spelling(earlier: "--block-size", current: "--group-size"),
    Spelling(earlier: "--remove-function", current: "--rename-function") { "\($0)=" },
    Spelling(earlier: "--required", current: "--optional") { "\($0)=false" },
    Spelling(earlier: "--allow-shape", current: "--shape"),
    Spelling(earlier: "--shape-range", current: "--shape"),
    Spelling(earlier: "--fixed-shape", current: "--shape") { "\($0)=fixed" },
    Spelling(earlier: "--custom-class", current: "--custom-layer") { field("className", of: $0) },
    Spelling(earlier: "--custom-description", current: "--custom-layer") {
      field("description", of: $0)
    },
    Spelling(earlier: "--custom-parameter", current: "--custom-layer"),
    Spelling(earlier: "--remove-custom-parameter", current: "--custom-layer"),
    Spelling(earlier: "--custom-weights", current: "--custom-layer") { field("weights", of: $0) },
    Spelling(earlier: "--weight-format", current: "--weight-files") { "format=\($0)" },
    Spelling(earlier: "--weight-layout", current: "--weight-files") { "layout=\($0)" },
    Spelling(earlier: "--per", current: "--weight-files") { "per=\($0)" },
    Spelling(earlier: "--suffix", current: "--weight-files") { "suffix=\($0)" },
    Spelling(earlier: "--swift", current: "--weight-files=format=swift", command: "inspect"),
  ]

  /// `LAYER=VALUE` or `LAYER:N=VALUE` rewritten as `LAYER.FIELD=VALUE` or `LAYER.FIELD:N=VALUE`.
  private static func field(_ field: String, of text: String) -> String {
    guard let equals = text.firstIndex(of: "=") else { return text }
    var layer = text[..<equals]
    var position: Substring = ""
    if field == "weights", let colon = layer.lastIndex(of: ":"),
      Int(layer[layer.index(after: colon)...]) != nil
    {
      (layer, position) = (layer[..<colon], layer[colon...])
    }
    return "\(layer).\(field)\(position)\(text[equals...])"
  }

  /// The arguments in the current spelling.
  static func replaced(in arguments: [String]) -> [String] {
    guard let first = arguments.first else { return arguments }
    let command = first == "upgrade" ? "convert" : first
    let end = arguments.firstIndex(of: "--") ?? arguments.count
    var words: [String] = []
    var index = 0
    while index < end {
      let word = arguments[index]
      index += 1
      let name = word.prefix { $0 != "=" }
      // A function that builds the network precedes its weights; a seed for random weights replaces
      // them.
      if ["--model-source", "--random-weights"].contains(name) {
        let isJoined = name.count < word.count
        guard isJoined || index < end else {
          words.append(word)
          continue
        }
        let value = isJoined ? String(word.dropFirst(name.count + 1)) : arguments[index]
        if name == "--model-source" {
          words.insert(value, at: 1)
        } else {
          words.append("random:" + value)
        }
        index += isJoined ? 0 : 1
        continue
      }
      // These commands take their inputs without an option.
      if ["--input", "--inputs"].contains(name), ["run", "diff", "eval"].contains(command) {
        if name.count < word.count { words.append(String(word.dropFirst(name.count + 1))) }
        continue
      }
      let spelling = options.first { $0.earlier == name && $0.command ?? command == command }
      guard let spelling else {
        words.append(word)
        continue
      }
      words.append(spelling.current)
      if name.count < word.count {
        words[words.count - 1] +=
          spelling.value(String(word.dropFirst(name.count + 1))).map { "=" + $0 } ?? ""
      } else if index < end, !spelling.current.contains("="), spelling.current != "--steps" {
        if let value = spelling.value(arguments[index]) { words.append(value) }
        index += 1
      }
    }
    if end > 0 { words[0] = command }
    return words + arguments[end...]
  }
}
