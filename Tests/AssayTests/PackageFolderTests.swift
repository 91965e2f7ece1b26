import Foundation
import TestSupport
import Testing

/// Packages are written without damage to existing files.
@Suite struct PackageFolderTests {
  private static let package = Fixtures("programs").path("half.mlpackage")
  private static let shell = Program("/bin/sh")

  /// Everything in a folder; folders are empty, links contain their targets.
  static func content(_ folder: String) -> [String: [UInt8]] {
    let manager = FileManager.default
    let names = manager.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        let path = folder + "/" + name
        let link = (try? manager.destinationOfSymbolicLink(atPath: path)).map { Array($0.utf8) }
        return (name, link ?? (try? fileBytes(path)) ?? [])
      })
  }

  private static func write(_ text: String, to path: String) throws {
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try writeFile(Array(text.utf8), to: path)
  }

  /// Runs a shell command in which `$A` writes the package `$P` to the name that follows.
  private func run(
    _ line: String, in folder: String, environment: [String: String] = [:]
  ) throws -> Program.Result {
    try Self.shell.run(
      ["-c", "A=\"$0 edit $1 --author A --no-run -o\"; " + line, Command.binary, Self.package],
      environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }, in: folder)
  }

  private func errors(_ result: Program.Result) -> [Substring] {
    result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
  }

  /// The result of `edit` in an empty folder.
  private func written() throws -> [String: [UInt8]] {
    try withTemporaryFolder { folder in
      let result = try run("$A o.mlpackage", in: folder)
      #expect(result.code == 0, "\(result.errors)")
      return Self.content(folder + "/o.mlpackage")
    }
  }

  // MARK: Existing files

  /// A link with the name of a former hidden folder; `exec` keeps the process ID.
  @Test func aLinkBesideThePackageIsLeftAlone() throws {
    try withTemporaryFolder { folder in
      try Self.write("thesis", to: folder + "/victim/thesis.tex")
      try Self.write("data", to: folder + "/victim/sub/data.csv")
      let before = Self.content(folder + "/victim")
      let result = try run(
        "mkdir race; sh -c 'ln -s ../victim race/.o.mlpackage.$$.partial; exec '\"$A\"' race/o.mlpackage'",
        in: folder)
      #expect(result.code == 0, "\(result.errors)")
      #expect(Self.content(folder + "/victim") == before)
      #expect(fileNames(in: folder + "/race").contains("o.mlpackage"))
    }
  }

  private static let listing =
    #"{"rootModelIdentifier": "A", "itemInfoEntries": {"A": {"path": "m"}, "B": {"path": "w"}}}"#

  /// Files in an old package, with the one that the message names.
  @Test(
    arguments: [
      (["sub/thesis.tex": ""], "sub"),
      (["Manifest.json": "{"], "Manifest.json"),
      (["Manifest.json": listing, "Data/m": "", "thesis.tex": ""], "thesis.tex"),
      (["Manifest.json": listing, "Data/m": "", ".DS_Store": ""], ".DS_Store"),
      (["Manifest.json": listing, "Data/m": "", "Data/n": ""], "Data/n"),
      (["Manifest.json": listing, "Data/w/a": "", "Data/w.bin": ""], "Data/w.bin"),
      (["Manifest.json": listing, "Data/m": "", "Data/x/y/z": ""], "Data/x"),
      (["Manifest.json": listing, "Data": ""], "Data"),
      (["Manifest.json": #"{"itemInfoEntries": {"A": {"path": "."}}}"#, "Data/a": ""], "Data/a"),
      (["Manifest.json": #"{"itemInfoEntries": {"A": {"path": "x/.."}}}"#, "Data/a": ""], "Data"),
      (["Manifest.json": #"{"itemInfoEntries": {"A": {"path": ""}}}"#, "Data/a": ""], "Data"),
      (["Manifest.json": #"{"itemInfoEntries": {"A": {"path": "/"}}}"#, "Data/a": ""], "Data"),
      (["Manifest.json": #"{"itemInfoEntries": {"A": {"path": 1}}}"#, "Data/a": ""], "Data"),
      (["Manifest.json": #"{"itemInfoEntries": ["a"]}"#, "Data/a": ""], "Data"),
      // Composed in the manifest, but decomposed in the folder: two different names.
      (
        [
          "Manifest.json": #"{"itemInfoEntries": {"A": {"path": "\u00e9"}}}"#,
          "Data/e\u{301}": "",
        ], "Data/e\u{301}"
      ),
    ] as [([String: String], String)])
  func onlyWhatAManifestListsGoes(_ files: [String: String], _ named: String) throws {
    try withTemporaryFolder { folder in
      for (name, text) in files { try Self.write(text, to: "\(folder)/o.mlpackage/\(name)") }
      let before = Self.content(folder)
      let result = try run("$A o.mlpackage", in: folder)
      #expect(result.exited && result.code == 73, "\(result.code) \(result.errors)")
      let errors = errors(result)
      #expect(errors.count == 1 && errors.first?.isError(of: "o.mlpackage") == true)
      #expect(errors.first?.contains("'\(named)'") == true, "\(result.errors)")
      #expect(Self.content(folder) == before)
    }
  }

  @Test func whatAManifestListsIsReplaced() throws {
    let whole = try written()
    try withTemporaryFolder { folder in
      try FileManager.default.createDirectory(
        atPath: folder + "/o.mlpackage", withIntermediateDirectories: false)
      #expect(try run("$A o.mlpackage", in: folder).code == 0)
      #expect(Self.content(folder + "/o.mlpackage") == whole)
      for (name, text) in ["Manifest.json": Self.listing, "Data/m": "1", "Data/w/a/b": "2"] {
        try Self.write(text, to: "\(folder)/p.mlpackage/\(name)")
      }
      #expect(try run("chmod 750 p.mlpackage; $A p.mlpackage/", in: folder).code == 0)
      #expect(Self.content(folder + "/p.mlpackage") == whole)
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/p.mlpackage")
      #expect(attributes[.posixPermissions] as? Int == 0o750)
      #expect(fileNames(in: folder) == ["o.mlpackage", "p.mlpackage"])
    }
  }

  /// The input is the model in a package, not the package, whose other items were not read.
  @Test func aPackageWithAnInputIsNotReplaced() throws {
    try withTemporaryFolder { folder in
      let package = folder + "/o.mlpackage"
      let written = try run("$A o.mlpackage", in: folder)
      #expect(written.code == 0, "\(written.errors)")
      try DemonstrationTests.converted(to: package + "/Data/com.apple.CoreML/model.mlmodel")
      let before = Self.content(folder)
      let result = try Command.run(
        "upgrade", package + "/Data/com.apple.CoreML/model.mlmodel", "-o", package)
      #expect(result.code == 73, "\(result.code) \(result.errors)")
      #expect(result.errors.contains("is an input of this command"), "\(result.errors)")
      #expect(Self.content(folder) == before)
    }
  }

  @Test func aLinkIsNotReplaced() throws {
    try withTemporaryFolder { folder in
      try Self.write("a", to: folder + "/there/a")
      let result = try run("ln -s there o.mlpackage; $A o.mlpackage", in: folder)
      #expect(result.code == 73 && result.errors.contains("symbolic link"), "\(result.errors)")
      #expect(fileNames(in: folder) == ["o.mlpackage", "there"])
    }
  }

  // MARK: In place

  /// An item of another program with an unlisted file, and a second file of weights.
  @Test(arguments: ["edit $P -o $P --author A", "compress $P -o $P --bits 8"])
  func itemsThatNothingReadsAreKept(_ command: String) throws {
    try withTemporaryFolder { folder in
      let package = folder + "/p.mlpackage"
      try FileManager.default.copyItem(atPath: Self.package, toPath: package)
      let entry = #"{"author": "a.vendor", "path": "a.vendor/notes", "version": [1, 2.5]}"#
      let text = String(decoding: try fileBytes(package + "/Manifest.json"), as: UTF8.self)
      try Self.write(
        text.replacingOccurrences(
          of: "\"itemInfoEntries\": {", with: "\"itemInfoEntries\": {\"N\\u0022\": \(entry),"),
        to: package + "/Manifest.json")
      let kept = [
        "Data/a.vendor/notes/1.txt": "one", "Data/a.vendor/notes/deep/2.txt": "two",
        "Data/com.apple.CoreML/weights/extra.bin": "three",
      ]
      for (name, text) in kept { try Self.write(text, to: "\(package)/\(name)") }
      try FileManager.default.createDirectory(
        atPath: package + "/Data/a.vendor/notes/empty", withIntermediateDirectories: false)
      for _ in 0..<2 {
        let before = try fileBytes(package + "/Data/com.apple.CoreML/model.mlmodel")
        let words = command.split(separator: " ").map { $0 == "$P" ? package : String($0) }
        let result = try Command.run(
          words + (words[0] == "edit" ? ["--license", "\(before.count)"] : []))
        #expect(result.code == 0, "\(result.errors)")
        let after = Self.content(package)
        for (name, text) in kept { #expect(after[name] == Array(text.utf8), "\(name)") }
        #expect(after["Data/a.vendor/notes/empty"] == [])
        let manifest = try JSONSerialization.jsonObject(
          with: Data(fileBytes(package + "/Manifest.json")))
        let entries = (manifest as? [String: Any])?["itemInfoEntries"] as? [String: [String: Any]]
        #expect(entries?.count == 3, "\(String(describing: entries))")
        #expect(entries?["N\""]?["author"] as? String == "a.vendor")
        #expect(entries?["N\""]?["version"] as? [Double] == [1, 2.5])
        #expect(try Command.run("check", package).code == 0)
        if words[0] == "compress" { break }
      }
      #expect(fileNames(in: folder) == ["p.mlpackage"])
    }
  }

  #if os(Linux)
    // MARK: Concurrent and killed processes

    /// The hidden folder is beside its destination, whatever the bytes of the name.
    @Test(.unsanitized, arguments: ["\u{E9}\u{E9}\u{E9}.mlpackage", "\u{1F600}.mlpackage"])
    func whatIsHiddenIsBesideItsDestination(_ name: String) throws {
      try withTemporaryFolder { folder in
        let killed = try run(
          "mkdir sub; LD_PRELOAD=\(ValidationIssues.library) ASSAY_FAULT=kill:fsync:1 $A 'sub/\(name)'",
          in: folder)
        #expect(killed.code != 0)
        #expect(fileNames(in: folder) == ["sub"])
        #expect(fileNames(in: folder + "/sub").count == 1)
        let result = try run("$A 'sub/\(name)'", in: folder)
        #expect(result.code == 0, "\(result.errors)")
        #expect(fileNames(in: folder + "/sub") == [name])
      }
    }

    /// Only leftovers of killed processes that are not in use are removed.
    @Test(.unsanitized, .program("flock")) func onlyALeftoverIsRemoved() throws {
      try withTemporaryFolder { folder in
        let alien = ".o.mlpackage.0123456789abcdef~"
        try Self.write("mine", to: folder + "/\(alien)/x")
        try Self.write("mine", to: folder + "/.o.mlpackage.999999.partial/x")
        let kill = "LD_PRELOAD=\(ValidationIssues.library) ASSAY_FAULT=kill:fsync:1"
        #expect(try run("\(kill) $A o.mlpackage", in: folder).code != 0)
        let left = fileNames(in: folder).filter { $0 != alien && !$0.hasSuffix(".partial") }
        #expect(left.count == 1)
        let lock = "\(folder)/\(left.first ?? "")/.assay-lock"
        #expect(fileExists(lock))
        #expect(try run("flock -n '\(lock)' $A o.mlpackage", in: folder).code == 0)
        #expect(Set(left).isSubset(of: fileNames(in: folder)))
        #expect(try run("$A o.mlpackage", in: folder).code == 0)
        #expect(
          fileNames(in: folder) == [
            ".o.mlpackage.0123456789abcdef~", ".o.mlpackage.999999.partial", "o.mlpackage",
          ])
        #expect(fileExists("\(folder)/\(alien)/x"))
      }
    }

    /// The second process interferes between a check and an action of the first.
    @Test(.unsanitized, arguments: ["", "cp -r \"$1\" o.mlpackage; "])
    func twoProcessesWriteOnePackage(_ preparation: String) throws {
      let whole = try written()
      try withTemporaryFolder { folder in
        let result = try run(
          preparation
            + "LD_PRELOAD=\(ValidationIssues.library) ASSAY_FAULT=wait:rename:1 $A o.mlpackage & first=$!; "
            + "LD_PRELOAD=\(ValidationIssues.library) ASSAY_FAULT=wait:exchange:1 $A o.mlpackage & "
            + "sleep 1; $A o.mlpackage || exit 9; wait $! || exit 8; wait $first || exit 7",
          in: folder)
        #expect(result.code == 0, "\(result.code) \(result.errors)")
        #expect(errors(result).isEmpty, "\(result.errors)")
        #expect(Self.content(folder + "/o.mlpackage") == whole)
        #expect(fileNames(in: folder) == ["o.mlpackage"])
      }
    }

    /// Some file systems cannot exchange two folders; the old package stays.
    @Test(.unsanitized) func withoutExchangeThePackageStays() throws {
      try withTemporaryFolder { folder in
        #expect(try run("cp -r \"$1\" o.mlpackage", in: folder).code == 0)
        let before = Self.content(folder)
        let result = try run(
          "LD_PRELOAD=\(ValidationIssues.library) ASSAY_FAULT=full:exchange:1 $A o.mlpackage",
          in: folder)
        #expect(result.code == 73, "\(result.code)")
        #expect(
          result.errors.hasPrefix(
            "error: o.mlpackage: this file system cannot replace a folder in one step"))
        #expect(Self.content(folder) == before)
      }
    }
  #endif

  // MARK: A folder of predictions

  /// Outputs do not leave their folder through a file or a folder that is a link.
  @Test(arguments: [false, true]) func outputsDoNotFollowLinks(isFolder: Bool) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      for name in ["in/a.png", "in/sub/b.png"] {
        try Self.write("", to: folder + "/" + name)
        try writeFile(fileBytes(DemonstrationTests.picture), to: folder + "/" + name)
      }
      try Self.write("thesis", to: folder + "/victim/thesis.tex")
      try Self.write("", to: folder + "/out/.keep")
      let (link, target) =
        isFolder ? ("out/sub", "../victim") : ("out/a.npz", "../victim/thesis.tex")
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(link)", withDestinationPath: target)
      let before = Self.content(folder + "/victim")
      let result = try Command.run("run", model, folder + "/in", "-o", folder + "/out")
      #expect(result.code == 73, "\(result.code) \(result.errors)")
      #expect(result.errors.contains("\(folder)/\(link)"), "\(result.errors)")
      #expect(result.errors.contains("symbolic link"), "\(result.errors)")
      #expect(Self.content(folder + "/victim") == before)
    }
  }
}
