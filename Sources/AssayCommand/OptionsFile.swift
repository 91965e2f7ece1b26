/// Options in a JSON file: `@FILE.json` on the command line, or `assay.json` beside the model.
///
/// `{"convert": {"preset": "keras-tf", "labels": "labels.txt"}, "run": {"top": 3}}`
struct OptionsFile {
  let path: String
  /// `--NAME` or `--NAME=VALUE` for each option of the command.
  private(set) var words: [String] = []

  private static let commands = ["convert", "run", "diff"]
  /// Options that a file found beside the model must not set, since they write files or load code.
  static let reserved: Set = ["coco", "output", "plugin", "report"]
  /// Options whose relative paths are relative to the options file if such a file exists.
  static let paths: Set = [
    "custom-layers", "expected", "image-mean", "inputs", "labels", "layer-source", "layers",
    "plugin",
  ]

  var note: String { "options of \(path): " + words.joined(separator: " ") }

  /// The parser's message, with the file's name if its first line names one of the file's options.
  func blamed(for message: String) -> String? {
    let line = message.prefix { $0 != "\n" }
    guard words.contains(where: { line.contains($0.prefix { $0 != "=" }) }) else { return nil }
    return message.replacing("Error: ", with: "Error: \(path): ", maxReplacements: 1)
  }

  /// - Parameter arguments: the command line's arguments; its options precede those of the file.
  private init(_ path: String, isNamed: Bool, for arguments: [String]) throws {
    self.path = path
    let bytes = try MappedFile.read(path, limit: 1 << 20)
    let all = try JSONValue(parsing: bytes.withUnsafeBytes { [UInt8]($0) }).object
    guard let all,
      all.members.allSatisfy({ Self.commands.contains($0.name) && $0.value.object != nil })
    else {
      throw ModelError(
        .malformed, "is not an object with the options of convert, run and diff",
        hint: #"for example: {"convert": {"preset": "keras-tf"}, "run": {"top": 3}}"#)
    }
    let given = Set(arguments.map { String($0.prefix { $0 != "=" }) })
    for (name, value) in all[arguments[0]]?.object?.members ?? [] {
      try require(!name.contains("="), .malformed, "'\(name)' is not the name of an option")
      try require(
        isNamed || !Self.reserved.contains(name), .unsupported,
        "'\(name)' is not set by a file that the command line does not name",
        hint: "give --\(name), or name the file: @\(path)")
      if !given.contains("--" + name) { try add(name, value) }
    }
  }

  private mutating func add(_ name: String, _ value: JSONValue) throws {
    switch value {
    case .bool(true): words.append("--" + name)
    case .bool(false): break
    case .string(let text): words.append("--\(name)=\(resolved(text, name))")
    case .int(let number): words.append("--\(name)=\(number)")
    case .double(let number): words.append("--\(name)=\(number)")
    case .array(let list):
      for item in list {
        try require(item.array == nil, "a list in a list", field: name)
        try add(name, item)
      }
    default:
      throw ModelError(
        .malformed, "is neither text, a number, true or false, nor a list of these", field: name)
    }
  }

  private func resolved(_ text: String, _ name: String) -> String {
    guard Self.paths.contains(name), let slash = path.lastIndex(of: "/") else { return text }
    // NAME=FILE
    let key = name == "image-mean" || name == "inputs" ? text.split(separator: "=").dropLast() : []
    let start = key.first.map { "\($0)=" } ?? ""
    let own = String(path[...slash] + text.dropFirst(start.count))
    return Folder.exists(own) ? start + own : text
  }

  /// The options files that the arguments name; removes these arguments.
  static func named(in arguments: inout [String]) throws -> [OptionsFile] {
    let end = arguments.firstIndex(of: "--") ?? arguments.count
    let names = arguments[..<end].dropFirst().filter { $0.hasPrefix("@") && $0.hasSuffix(".json") }
    guard !names.isEmpty else { return [] }
    try require(
      commands.contains(arguments[0]), .usage, "\(arguments[0]) takes no options file",
      hint: "convert, run and diff do")
    arguments = arguments[..<end].filter { !names.contains($0) } + arguments[end...]
    return try names.map { name in
      let path = String(name.dropFirst())
      return try inFile(path) { try OptionsFile(path, isNamed: true, for: arguments) }
    }
  }

  /// The options file beside the model; nil if it is missing or the command reads none.
  static func beside(_ model: String?, for arguments: [String]) throws -> OptionsFile? {
    guard let model, commands.contains(arguments[0]) else { return nil }
    let folder = model.lastIndex(of: "/").map { String(model[...$0]) } ?? ""
    let path = folder + "assay.json"
    guard Folder.exists(path) else { return nil }
    return try inFile(path) { try OptionsFile(path, isNamed: false, for: arguments) }
  }
}
