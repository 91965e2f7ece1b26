import Foundation
import TensorCore
import TestSupport
import Testing

/// The limits of `docs/security.md`: a file at each limit is read within 256 MiB, including 64 MiB
/// for the program itself; a file beyond is refused with one line that names it.
@Suite(.unsanitized) struct LimitTests {
  struct Limit: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let file: String
    /// The content of a file that exceeds the limit by the argument.
    let content: @Sendable (Int) -> String
    /// The number in the refusal.
    let bound: Int
    var command = "inspect"

    init(
      _ name: String, _ file: String, _ bound: Int, command: String = "inspect",
      _ content: @escaping @Sendable (Int) -> String
    ) {
      (testDescription, self.file, self.bound, self.command) = (name, file, bound, command)
      self.content = content
    }
  }

  private static let input = "input: 'd' input_shape { dim: 1 dim: 3 dim: 4 dim: 4 }\n"
  /// A layer with 11 values, including `input`.
  private static func relu(_ name: String = "r") -> String {
    "layer { name: '\(name)' type: 'ReLU' bottom: 'd' top: 't' }\n"
  }
  private static func section(_ fields: String) -> String {
    "[net]\nheight=4\nwidth=4\nchannels=1\n\(fields)\n"
  }
  private static func repeated(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }
  private static func padded(_ text: String, _ count: Int, with letter: Character = " ") -> String {
    text + String(repeating: letter, count: count - text.utf8.count)
  }
  private static func header(_ shape: String, _ count: Int) -> String {
    padded("{'descr': '<f4', 'fortran_order': False, 'shape': (\(shape))}", count - 1) + "\n"
  }

  static let limits = [
    Limit("name", "n.prototxt", Limits.nameBytes) {
      input + relu(repeated("n", Limits.nameBytes + $0))
    },
    Limit("text format, bytes", "n.prototxt", Limits.prototxtBytes) {
      padded(input + relu(), Limits.prototxtBytes + $0)
    },
    Limit("text format, values", "n.prototxt", Limits.prototxtValues) {
      input + relu() + repeated("x: 1 ", Limits.prototxtValues - 11 + $0)
    },
    // The outermost value is not nested.
    Limit("JSON, nesting", "a.json", Limits.jsonDepth) {
      repeated("[", Limits.jsonDepth + 1 + $0) + repeated("]", Limits.jsonDepth + 1 + $0)
    },
    Limit("JSON, bytes", "a.json", Limits.jsonBytes) {
      padded("{\"class_name\": 1}", Limits.jsonBytes + $0)
    },
    Limit("JSON, values", "a.json", Limits.jsonValues) {
      "[0" + repeated(",0", Limits.jsonValues - 2 + $0) + "]"
    },
    Limit("filters", "n.cfg", 1 << 20) {
      section("[convolutional]\nfilters=\((1 << 20) + $0)\nsize=1\nactivation=linear")
    },
    Limit("window", "n.cfg", 16_384) { section("[maxpool]\nstride=1\nsize=\(16_384 + $0)") },
    Limit("configuration, bytes", "n.cfg", 16 << 20) {
      padded(section("[maxpool]\nsize=1") + "#", (16 << 20) + $0, with: "\n")
    },
    Limit("layers", "n.prototxt", Limits.layers) {
      input + repeated("layer{type:'Silence' bottom:'d'}\n", Limits.layers - 2 + $0) + relu()
    },
  ]

  private static func run(_ words: String..., in folder: String) throws -> Command.Result {
    let result = try Program(Command.binary).run(words + ["--max-memory", "192M"], in: folder)
    #expect(result.exited)
    return result
  }

  /// Other errors may remain, such as that of a network without layers, but not one about a limit.
  @Test(arguments: limits)
  func aFileAtTheLimitIsRead(_ limit: Limit) throws {
    try withTemporaryFolder { folder in
      try writeFile(Array(limit.content(0).utf8), to: "\(folder)/\(limit.file)")
      let result = try Self.run("inspect", limit.file, in: folder)
      #expect([0, 2].contains(result.code), "\(result.code) \(result.errors.prefix(300))")
      let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
      #expect(!errors.contains { $0.contains("\(limit.bound)") }, "\(errors)")
    }
  }

  @Test(arguments: limits)
  func aFileBeyondTheLimitIsRefused(_ limit: Limit) throws {
    try withTemporaryFolder { folder in
      try writeFile(Array(limit.content(1).utf8), to: "\(folder)/\(limit.file)")
      let result = try Self.run("inspect", limit.file, in: folder)
      #expect(result.code == 2, "\(result.code) \(result.errors.prefix(300))")
      #expect(result.errors.hasPrefix("error: \(limit.file): "), "\(result.errors.prefix(300))")
      #expect(
        ["\(limit.bound)", "\(limit.bound + 1)"].contains(where: result.errors.contains),
        "\(result.errors.prefix(300))")
    }
  }

  /// Sparse files, which take no space on the disk.
  @Test func sizesOfFiles() throws {
    try withTemporaryFolder { folder in
      for (name, limit, command) in [
        ("m.mlmodel", Limits.modelBytes, "inspect"), ("a.npy", Limits.fileBytes, "diff"),
      ] {
        for excess in [0, 1] {
          try Data().write(to: URL(filePath: "\(folder)/\(name)"))
          let file = try FileHandle(forWritingTo: URL(filePath: "\(folder)/\(name)"))
          try file.truncate(atOffset: UInt64(limit + excess))
          try file.close()
          let result =
            command == "diff"
            ? try Self.run("diff", name, name, in: folder)
            : try Self.run("inspect", name, in: folder)
          #expect(result.code == 2, "\(name): \(result.code) \(result.errors)")
          #expect(result.errors.isError(of: name), "\(result.errors)")
          let digits = result.errors.replacing(",", with: "")
          #expect(digits.contains("\(limit)") == (excess == 1), "\(result.errors)")
        }
      }
    }
  }

  /// The header of a NumPy file and the axes of its array.
  @Test(
    arguments: [
      (Limits.npyHeaderBytes, Limits.rank, nil),
      (Limits.npyHeaderBytes + 1, 1, Limits.npyHeaderBytes),
      (128, Limits.rank + 1, Limits.rank),
    ] as [(Int, Int, Int?)])
  func numPyFiles(_ bytes: Int, _ axes: Int, _ refusal: Int?) throws {
    try withTemporaryFolder { folder in
      let header = Array(Self.header(Self.repeated("1,", axes), bytes).utf8)
      let size = withUnsafeBytes(of: UInt32(bytes).littleEndian) { Array($0) }
      try writeFile(
        [0x93] + Array("NUMPY".utf8) + [2, 0] + size + header + [0, 0, 0, 0], to: folder + "/a.npy")
      let result = try Self.run("diff", "a.npy", "a.npy", in: folder)
      #expect(result.code == (refusal == nil ? 0 : 2), "\(result.errors)")
      if let refusal { #expect(result.errors.contains("\(refusal)"), "\(result.errors)") }
    }
  }

  /// An array that declares the most elements lacks them; one more row exceeds the limit.
  @Test(
    arguments: [
      ("65536,32768", false), ("65536,32769", true), ("\(Limits.dimension),", false),
      ("\(Limits.dimension + 1),", true),
    ])
  func elementsOfAnArray(_ shape: String, isBeyond: Bool) throws {
    try withTemporaryFolder { folder in
      try writeFile(
        [0x93] + Array("NUMPY".utf8) + [1, 0, 128, 0] + Array(Self.header(shape, 128).utf8),
        to: folder + "/a.npy")
      let result = try Self.run("diff", "a.npy", "a.npy", in: folder)
      #expect(result.code == 2 && result.errors.hasPrefix("error: a.npy: "), "\(result.errors)")
      #expect(result.errors.contains("is truncated") != isBeyond, "\(result.errors)")
    }
  }

  /// A text with the maximum number of bytes and values, and the longest names.
  @Test func limitsTogether() throws {
    try withTemporaryFolder { folder in
      let text =
        Self.input + Self.relu(Self.repeated("n", Limits.nameBytes))
        + Self.repeated("x: 1 ", Limits.prototxtValues - 11)
      try writeFile(
        Array(Self.padded(text, Limits.prototxtBytes).utf8), to: folder + "/n.prototxt")
      let result = try Self.run("inspect", "n.prototxt", in: folder)
      #expect(result.code == 0, "\(result.errors.prefix(300))")
    }
  }
}
