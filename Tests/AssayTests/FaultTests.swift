#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// Each call of the C library fails or ends the process, one at a time: the output stays old or
  /// is complete, nothing is left over, and one line reports the error. `Tests/Tools/faults.c`
  /// makes the calls fail.
  @Suite(.program("cc"), .unsanitized) struct FaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
      let name: String
      /// The output's name; nil if there is none.
      let output: String?
      let isFolder: Bool
      /// The package at the path of the output, before the command runs.
      let old: String?
      let words: @Sendable (_ model: String, _ output: String) -> [String]

      var testDescription: String { name }

      init(
        _ name: String, _ output: String?, isFolder: Bool = false, old: String? = nil,
        _ words: @escaping @Sendable (String, String) -> [String]
      ) {
        self.name = name
        self.output = output
        self.isFolder = isFolder
        self.old = old
        self.words = words
      }
    }

    static let files: [Case] = [
      Case("convert", "out.mlmodel") { _, output in
        ["convert", Fixtures("demo").path("swish.h5"), "-o", output] + DemonstrationTests.options
      },
      Case("edit", "out.mlmodel") { ["edit", $0, "-o", $1, "--author", "a"] },
      Case("run", "out.npy") { ["run", $0, DemonstrationTests.picture, "-o", $1] },
      Case("compress", "out.mlmodel") { ["compress", $0, "-o", $1, "--bits", "8"] },
      Case("record", "out.py") { _, output in
        ["record", Fixtures("demo").path("swish.h5"), "-o", output]
      },
    ]
    static let folders: [Case] = [
      Case("package", "out.mlpackage", isFolder: true, old: package) {
        _ = $0
        return ["edit", package, "-o", $1, "--author", "a", "--no-run"]
      },
      Case("export", "out", isFolder: true) { ["inspect", $0, "--export-weights", $1] },
      Case("stubs", "out", isFolder: true) { ["inspect", $0, "--swift-stubs", $1] },
      Case("plug-in", "out", isFolder: true) { ["plugin", "new", "Mine", "--for", $0, "-o", $1] },
    ]
    private static let package = Fixtures("programs").path("half.mlpackage")
    static let others: [Case] = [
      // Compressed datasets, whose values the HDF5 process writes to shared memory.
      Case("convert compressed", "out.mlmodel") { _, output in
        ["convert", Fixtures("builder").path("vgg16_narrow.h5"), "-o", output]
      },
      // An HDF5 file in an archive, which is passed in a separate descriptor.
      Case("convert archive", "out.mlmodel") { _, output in
        ["convert", Fixtures("keras/layers/k3").path("activation_elu.keras"), "-o", output]
      },
      Case("diff", nil) { model, _ in ["diff", model, model] },
      Case("bench", nil) { model, _ in ["bench", model, "--runs", "1", "--warmup", "0"] },
      Case("inspect", nil) { model, _ in ["inspect", model, "--plan"] },
      Case("check", nil) { model, _ in ["check", model] },
    ]

    /// Calls that write a file.
    static let writing = ["write", "create", "rename", "linkat"]
    /// Calls that write a folder.
    static let placing = ["create", "mkdir", "fsync", "rename", "exchange", "unlink"]
    static let all =
      writing + [
        "memory", "fsync", "open", "mmap", "fork", "pipe", "memfd", "ftruncate", "mkdir",
        "exchange", "lock",
      ]

    /// The codes for success, a difference, a bad file, and system errors.
    static let codes: Set<Int32> = [0, 1, 2, 66, 73, 74, 75]

    @Test(arguments: files.prefix(3), writing)
    func whatIsWrittenIsOldOrNew(_ example: Case, _ call: String) throws {
      try Self.sweep(example, call, actions: ["fail", "kill"])
    }

    @Test(arguments: folders, placing)
    func aFolderIsOldOrNew(_ example: Case, _ call: String) throws {
      // Files that cannot be removed are left.
      try Self.sweep(example, call, actions: call == "unlink" ? ["kill"] : ["fail", "kill"])
    }

    /// A signal at each of these calls: nothing is left over, and the output is either old or new.
    @Test(arguments: folders + [files[1]], ["SIGTERM", "SIGINT", "SIGHUP"])
    func aSignalLeavesNothing(_ example: Case, _ signal: String) throws {
      for call in signal == "SIGTERM" ? Self.placing : ["mkdir", "exchange"] {
        try Self.sweep(example, call, actions: [signal])
      }
    }

    /// Writing fails as on a full disk.
    @Test(arguments: files.prefix(3)) func aFullDisk(_ example: Case) throws {
      try Self.sweep(example, "write", actions: ["full"])
    }

    @Test(
      .environment("ASSAY_FAULTS", "every call of every command"),
      arguments: files + folders + others, all)
    func everyCallFailsOnce(_ example: Case, _ call: String) throws {
      try Self.sweep(example, call, actions: ["fail"])
    }

    /// A crash after a failed allocation that was handled is not reported as a lack of memory.
    @Test func aFaultIsNoLackOfMemory() throws {
      let result = try Place(Self.files[1]).run("trap:open:1")
      #expect(result.exited && result.code == 70, "\(result.code) \(result.errors)")
      #expect(result.errors.contains("internal error"), "\(result.errors)")
    }

    /// Writing to a file system of 32 KiB, if this user may mount one.
    @Test(.program("unshare"), arguments: files.prefix(3)) func aSmallFileSystem(_ example: Case)
      throws
    {
      let place = try Self.Place(example)
      let folder = place.path("mounted")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false)
      let mount = "mount -t tmpfs -o size=32k none \"$1\" 2>/dev/null || exit 99; shift"
      let fill = "head -c 28000 /dev/zero > \"$1\"; shift"
      let result = try Program("/usr/bin/env").run(
        [
          "unshare", "-rm", "sh", "-c",
          "\(mount); \(fill); \"$@\"; code=$?; ls -A \"$(dirname \"$0\")\" ; exit $code",
          folder + "/x", folder, folder + "/old", Command.binary,
        ] + example.words(place.model, folder + "/" + (example.output ?? "")))
      if result.code == 99 { return }
      #expect(result.exited && [0, 73, 74].contains(result.code), "\(result.errors)")
      let names = result.output.split(separator: "\n").map(String.init).suffix(2)
      if result.code != 0 {
        #expect(names.last == "old" && !names.contains(example.output ?? ""), "\(result.output)")
        #expect(Self.errors(result).count == 1, "\(result.errors)")
      }
    }

    /// Closed standard streams never mix with the output file.
    @Test(arguments: files.suffix(2), 1..<8) func closedStreams(_ example: Case, _ closed: Int)
      throws
    {
      let place = try Self.Place(example)
      let redirections = ["<&-", ">&-", "2>&-"].enumerated()
        .filter { closed & (1 << $0.offset) != 0 }.map(\.element)
      let result = try Program("/bin/sh").run(
        ["-c", "exec \"$@\" \(redirections.joined(separator: " "))", "sh", Command.binary]
          + place.words)
      #expect(result.exited && Self.codes.contains(result.code), "\(result.code) \(result.errors)")
      // A command that cannot print fails, even after its output is written.
      let isRight = place.isWhole || result.code != 0 && place.names.isEmpty
      #expect(isRight, "\(place.names) are there, code \(result.code)")
    }

    // MARK: - Running

    /// The calls that fail: the first and the last; of `make faults`, the first 40.
    private static func numbers(of count: Int) -> [Int] {
      ProcessInfo.processInfo.environment["ASSAY_FAULTS"] != nil
        ? Array(1...min(count, 40)) : Set([1, count]).sorted()
    }

    private static func sweep(_ example: Case, _ call: String, actions: [String]) throws {
      let place = try Place(example)
      let count = try place.count(call)
      for action in actions where count > 0 {
        for number in numbers(of: count) {
          let hasNoOld = example.isFolder && example.old == nil || example.output == nil
          for hasOld in hasNoOld ? [false] : [false, true] {
            try place.reset(hasOld: hasOld)
            let before = place.content
            let result = try place.run("\(action):\(call):\(number)")
            let what = "\(example.name), \(action):\(call):\(number) of \(count): \(result.errors)"
            // Without an old file, none is replaced.
            if action == "kill", !result.exited {
              let isOldOrNew = [before, place.whole].contains(place.withoutHidden)
              #expect(isOldOrNew, "\(what)")
              _ = try place.run("none")
              #expect(place.isWhole, "\(place.names) are left, \(what)")
              continue
            }
            if action.hasPrefix("SIG") {
              let isOldOrNew = place.content == before && !result.exited || place.isWhole
              #expect(isOldOrNew, "\(place.names) are there, code \(result.code), \(what)")
              continue
            }
            #expect(result.exited && codes.contains(result.code), "\(result.code) \(what)")
            let isRight = result.code < 2 ? place.isWhole : place.content == before
            #expect(isRight, "\(place.names) are there, code \(result.code), \(what)")
            if result.code >= 2 { #expect(errors(result).count == 1, "\(what)") }
          }
        }
      }
    }

    private static func errors(_ result: Program.Result) -> [Substring] {
      result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
    }

    /// A folder with a model, and one for the output.
    private struct Place {
      private let folder: TemporaryFolder
      private let example: Case
      private(set) var whole: [String: [UInt8]] = [:]
      var isWhole: Bool { content == whole }
      var names: [String] { content.keys.sorted() }
      var model: String { folder.file("m.mlmodel") }
      private var outputs: String { folder.file("outputs") }
      var words: [String] { example.words(model, outputs + "/" + (example.output ?? "")) }

      init(_ example: Case) throws {
        self.example = example
        folder = try TemporaryFolder()
        try writeFile(FaultTests.model, to: model)
        try reset(hasOld: false)
        let result = try Command.run(words)
        try #require(result.code < 2, "\(result.errors)")
        whole = content
      }

      func path(_ name: String) -> String { folder.file(name) }

      func reset(hasOld: Bool) throws {
        removeFile(outputs)
        try FileManager.default.createDirectory(
          atPath: outputs, withIntermediateDirectories: false)
        guard hasOld, let output = example.output else { return }
        if let old = example.old {
          try FileManager.default.copyItem(atPath: old, toPath: outputs + "/" + output)
        } else {
          try writeFile([1, 2, 3], to: outputs + "/" + output)
        }
      }

      /// The contents of files by name; folders are empty.
      var content: [String: [UInt8]] {
        let names =
          FileManager.default.enumerator(atPath: outputs)?.compactMap { $0 as? String } ?? []
        return Dictionary(
          uniqueKeysWithValues: names.map { ($0, (try? fileBytes(outputs + "/" + $0)) ?? []) })
      }

      /// The contents without files of a killed process, which the next process removes.
      var withoutHidden: [String: [UInt8]] { content.filter { !$0.key.hasPrefix(".") } }

      func run(_ fault: String, countFile: String = "") throws -> Program.Result {
        try Program(Command.binary).run(
          words,
          environment: [
            "LD_PRELOAD": ValidationIssues.library, "ASSAY_FAULT": fault,
            "ASSAY_FAULT_BYTES": "65536",
            "ASSAY_FAULT_COUNT": countFile, "SWIFT_BACKTRACE": "enable=no",
          ])
      }

      /// The number of times the command makes the call.
      func count(_ call: String) throws -> Int {
        try reset(hasOld: true)
        if example.isFolder, example.old == nil { try reset(hasOld: false) }
        let file = folder.file("count")
        _ = try run("count:\(call):0", countFile: file)
        let text = String(decoding: try fileBytes(file), as: UTF8.self)
        return try #require(Int(text.filter(\.isNumber)))
      }
    }

    private static let model: [UInt8] = {
      let bytes = try? withTemporaryFolder { folder in
        try DemonstrationTests.converted(to: folder + "/m.mlmodel")
        return try fileBytes(folder + "/m.mlmodel")
      }
      return bytes ?? []
    }()
  }

  enum ValidationIssues {
    /// The library to preload, compiled once and kept next to the program.
    static let library: String = {
      let path = String(Command.binary.dropLast("assay".count)) + "faults.so"
      let source = packageRoot + "/Tests/Tools/faults.c"
      _ = try? Program.find("cc")?.run(
        ["-shared", "-fPIC", "-O1", "-o", path, source, "-ldl"])
      return path
    }()
  }
#endif
