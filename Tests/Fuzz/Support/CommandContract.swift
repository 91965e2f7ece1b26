import Foundation
import TensorCore

/// The contract of every command for any file: a documented exit code, lines of error that name the
/// file, no control characters, no leftover files, and limits on seconds and bytes.
package struct CommandContract: Sendable {
  /// Valid files, for commands that take one in addition to the hostile one.
  package struct Companions: Sendable {
    package var model: String
    package var image: String

    package init(model: String, image: String) {
      self.model = model
      self.image = image
    }
  }

  private let program: String
  private let scratch: String
  private let companions: Companions?

  /// Success, a difference, a bad file, one that needs other options, a lack of memory.
  package static let codes: Set<Int32> = [0, 1, 2, 64, 75]
  /// The number of bytes per byte of the file, in addition to those that any file may take.
  private static let memoryRatio = 4

  /// - Parameter scratch: a folder for the commands' outputs.
  package init(_ program: String, scratch: String, companions: Companions? = nil) {
    self.program = program
    self.scratch = scratch
    self.companions = companions
  }

  /// The arguments of every command, with `path` in each position that takes a file.
  ///
  /// - Parameter output: the path at which a command writes its file.
  package func commands(_ path: String, output: String) -> [[String]] {
    let model = [
      ["inspect", path], ["inspect", path, "--json"], ["inspect", path, "--spec"],
      ["inspect", path, "--plan"], ["inspect", path, "--export-weights", output + ".weights"],
      ["inspect", path, "--swift-stubs", output + ".stubs"], ["check", path],
      ["convert", path, "-o", output], ["convert", path, "--dry-run"],
      ["compress", path, "-o", output, "--bits", "4"],
      ["compress", path, "-o", output, "--precision", "float16"],
      ["edit", path, "-o", output, "--author", "a"], ["diff", path, path],
      ["bench", path, "--runs", "1", "--warmup", "0"],
      ["record", path, "-o", output + ".py"],
      ["inspect", path, "--graph", output + ".svg"], ["inspect", path, "--graph", output + ".dot"],
      ["inspect", path, "--graph", output + ".md"],
      ["inspect", path, "--report", output + ".html"],
      ["plugin", "new", output + ".layers", "--for", path],
    ]
    guard let companions else { return model }
    let other = [
      ["run", path, companions.image], ["run", companions.model, path],
      ["run", companions.model, companions.image, "--labels", path],
      ["diff", companions.model, companions.image, "--expected", path],
      ["diff", companions.image, path],
      ["eval", companions.model, path, "--truth", path],
      ["edit", companions.model, "-o", output, "--class-labels", path],
      ["bench", companions.model, "--runs", "1", "--warmup", "0", "--against", path],
    ]
    return model + other
  }

  /// The violations of the contract by commands on the file at `path`.
  package func breaches(
    _ path: String, seconds: Double, megabytes: Int
  ) throws -> [String] {
    let output = "\(scratch)/output-\(getpid()).mlmodel"
    return try commands(path, output: output).flatMap { words in
      try breaches(of: words, path, output: output, seconds: seconds, megabytes: megabytes)
        .map { "\(words[0]): \($0)" }
    }
  }

  /// The violations by one command.
  package func breaches(
    of words: [String], _ path: String, output: String, seconds: Double, megabytes: Int
  ) throws -> [String] {
    let folder = "\(scratch)/run-\(getpid())-\(UUID().uuidString)"
    let files = FileManager.default
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? files.removeItem(atPath: folder) }
    // The commands' outputs have a folder of their own, in which nothing else may be left.
    let outputs = folder + "/outputs"
    try files.createDirectory(atPath: outputs, withIntermediateDirectories: false)
    let name = output.split(separator: "/").last.map(String.init) ?? ""
    let placed = words.map { $0.replacingOccurrences(of: output, with: "\(outputs)/\(name)") }
    let result = try Subprocess.run(
      program, placed, output: folder + "/out", messages: folder + "/err", limit: 10 * seconds)
    let size = (try? files.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    let said = files.contents(atPath: folder + "/err") ?? Data()
    let printed = files.contents(atPath: folder + "/out") ?? Data()
    var breaches = Self.breaches(
      result, of: words[0], named: names(in: words, path), errors: said, output: printed)
    let left = (try? files.contentsOfDirectory(atPath: outputs)) ?? []
    if result.code != 0, !left.isEmpty {
      breaches.append("leaves \(left.sorted().joined(separator: ", "))")
    }
    breaches += Self.controls(below: outputs)
    if result.seconds > seconds { breaches.append("takes \(result.seconds) s") }
    if result.peakBytes > megabytes << 20 + Self.memoryRatio * size {
      breaches.append("takes \(result.peakBytes >> 20) MiB")
    }
    return breaches
  }

  /// The names of the command's files: if two of them do not match, either may be wrong.
  private func names(in words: [String], _ path: String) -> [String] {
    ([path, companions?.model, companions?.image].compactMap { $0 }).filter(words.contains)
      .compactMap { $0.split(separator: "/").last.map(String.init) }
  }

  /// Texts with control characters that a command wrote.
  private static func controls(below folder: String) -> [String] {
    let files = FileManager.default
    let names = files.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.sorted().compactMap { name in
      guard let bytes = files.contents(atPath: "\(folder)/\(name)"),
        let text = String(validating: bytes, as: UTF8.self),
        !text.unicodeScalars.contains("\0"),
        let scalar = text.unicodeScalars.first(where: isControl)
      else { return nil }
      return "\(name) has U+\(String(scalar.value, radix: 16))"
    }
  }

  private static func breaches(
    _ result: Subprocess.Result, of command: String, named names: [String], errors: Data,
    output: Data
  ) -> [String] {
    var breaches: [String] = []
    let text = String(decoding: errors, as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("error: ") }
    if let code = result.code {
      if !codes.contains(code) { breaches.append("exits with \(code): \(text.prefix(300))") }
      // Errors of a document take one line each, and are what `check` prints.
      if code >= 2, command != "check" || output.isEmpty {
        if lines.isEmpty { breaches.append("says no error: \(text.prefix(300))") }
        if !lines.allSatisfy({ line in names.contains { line.contains($0) } }) {
          breaches.append("does not name the file: \(text.prefix(300))")
        }
      } else if code < 2, !lines.isEmpty {
        breaches.append("exits with \(code) and says \(lines[0])")
      }
    } else {
      breaches.append("is ended by signal \(result.signal ?? 0): \(text.prefix(300))")
    }
    for (stream, bytes) in [("standard error", errors), ("standard output", output)] {
      if let scalar = String(decoding: bytes, as: UTF8.self).unicodeScalars.first(where: isControl)
      {
        breaches.append("\(stream) has U+\(String(scalar.value, radix: 16))")
      }
    }
    return breaches
  }

  /// Characters that move a terminal's cursor, or change the direction of text.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
