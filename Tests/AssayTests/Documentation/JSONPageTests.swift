import ByteFormats
import Foundation
import TestSupport
import Testing

/// `docs/json.md` compared with the output of commands: every field exists, has its type, and is
/// documented.
@Suite struct JSONPageTests {
  private let schema = JSONSchema(try! Page("docs/json.md"))

  /// Checks that each line has the first of `types` with a field that only this type has.
  private func check(_ arguments: [String], code: Int32 = 0, as types: String...) throws {
    let result = try Command.run(arguments)
    #expect(result.code == code, "\(arguments): \(result.errors)")
    let lines = result.output.split(separator: "\n")
    var found: Set<String> = []
    for line in lines {
      let value = try JSONValue(parsing: Array(line.utf8))
      #expect(value["version"]?.int == 1, "\(line.prefix(200))")
      let faults = types.map { schema.faults(in: value, $0, isLine: true) }
      guard let best = faults.enumerated().min(by: { $0.1.count < $1.1.count }) else { continue }
      #expect(best.1.isEmpty, "\(arguments.prefix(1)), \(types[best.0]): \(best.1)")
      found.insert(types[best.0])
    }
    #expect(found == Set(types), "\(arguments) printed \(found)")
  }

  private func withModel(_ body: (String, String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let demo = "\(packageRoot)/Fixtures/demo"
      let model = folder + "/m.mlmodel"
      let made = try Command.run(
        "convert", demo + "/swish.h5", "-o", model, "--image-input", "image", "--image-scale",
        "1/127.5", "--class-labels", demo + "/labels.txt", "--lambda", "auto")
      #expect(made.code == 0, "\(made.errors)")
      try body(folder, model)
    }
  }

  @Test func predictions() throws {
    try withModel { folder, model in
      let demo = "\(packageRoot)/Fixtures/demo"
      try check(
        ["run", model, demo + "/picture.png", demo + "/labels.txt", "--json"], code: 2,
        as: "prediction", "failure")
      let detector = folder + "/d.mlmodel"
      try Command.run(
        "convert", demo + "/mobilenet_yolo.prototxt", demo + "/mobilenet_yolo.caffemodel", "-o",
        detector, "--image-input", "data", "--image-scale", "0.007843", "--image-mean",
        "127.5,127.5,127.5")
      let result = try Command.run(
        "run", detector, demo + "/person.jpg", "--detect", "auto", "--json", "--resize", "squash")
      if result.code == 0 {
        let value = try JSONValue(parsing: Array(result.output.utf8))
        #expect(schema.faults(in: value, "detections", isLine: true) == [])
      }
    }
  }

  @Test func comparisons() throws {
    try withModel { folder, model in
      let picture = "\(packageRoot)/Fixtures/demo/picture.png"
      let blobs = folder + "/blobs.npz"
      try Command.run("run", model, picture, "--all-outputs", "-o", blobs)
      try Command.run("run", model, picture, "-o", folder + "/expected.npz")
      try check(
        [
          "diff", model, picture, "--expected", folder + "/expected.npz", "--layers", blobs,
          "--top",
          "2", "--reference", "--json",
        ], as: "comparison")
      try "[1, 2]".write(toFile: folder + "/a.json", atomically: true, encoding: .utf8)
      try "[1, 2, 3]".write(toFile: folder + "/b.json", atomically: true, encoding: .utf8)
      try check(
        ["diff", folder + "/a.json", folder + "/b.json", "--json"], code: 1, as: "comparison")
      let half = folder + "/half.mlmodel"
      try Command.run("compress", model, "-o", half, "--precision", "float16", "--no-fold")
      try check(["diff", model, half, "--json"], as: "modelComparison")
      try check(["diff", model, "--precision", "float16", "--json"], as: "precisionComparison")
      try check(
        ["diff", model, "--precision", "float16", "--rtol", "0", "--atol", "1e-9", "--json"],
        code: 1, as: "precisionComparison")
      let net = ["v2.prototxt", "single.caffemodel"].map(Fixtures("caffe").path)
      let converted = folder + "/net.mlmodel"
      try Command.run(["convert"] + net + ["-o", converted])
      try check(["diff"] + net + [converted, "--json"], as: "modelComparison")
      let images = folder + "/images"
      for name in ["blue", "green"] {
        let place = "\(images)/\(name)"
        try FileManager.default.createDirectory(
          atPath: place, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: picture, toPath: place + "/a.png")
      }
      try Data("x".utf8).write(to: URL(filePath: images + "/blue/b.png"))
      try check(["diff", model, half, images, "--json"], code: 2, as: "modelComparison")
      try Command.run("run", model, images, "-o", folder + "/predictions")
      try check(
        ["diff", model, images, "--expected", folder + "/predictions", "--json"], code: 2,
        as: "inputSummary")
      try check(
        ["eval", model, images, "--truth", "folders", "--json"], code: 2, as: "classification")
    }
  }

  @Test func inspections() throws {
    try withModel { folder, model in
      try check(["inspect", model, "--json"], as: "model")
      try check(["inspect", model, "--plan", "--json"], as: "plan")
      let custom = folder + "/custom.mlmodel"
      try Command.run(
        "convert", "\(packageRoot)/Fixtures/demo/swish.h5", "-o", custom, "--custom-layers",
        "\(packageRoot)/Fixtures/demo/rules.json")
      try check(["inspect", custom, "--json"], as: "model")
      try check(["check", model, "--json"], as: "modelCheck")
      let broken = folder + "/broken.mlmodel"
      try Data((try Data(contentsOf: URL(filePath: model))).prefix(2000))
        .write(to: URL(filePath: broken))
      try check(["check", broken, "--json"], code: 2, as: "modelCheck")
    }
  }

  @Test func measurements() throws {
    try withModel { folder, model in
      let first = try Command.run("bench", model, "--json", "--runs", "2")
      try first.output.write(toFile: folder + "/old.json", atomically: true, encoding: .utf8)
      try check(
        ["bench", model, "--json", "--steps", "--runs", "2", "--against", folder + "/old.json"],
        as: "benchStart", "benchRun", "benchStep", "benchSummary")
      let out = folder + "/out.mlmodel"
      try check(["compress", model, "-o", out, "--bits", "8", "--json"], as: "compression")
      try check(
        [
          "compress", model, "-o", out, "--max-error", "0.1", "--inputs",
          "\(packageRoot)/Fixtures/demo/picture.png", "--json",
        ], as: "compression")
      try check(["plugin", "list", "--json"], as: "classList")
    }
  }

  /// The checks find errors in wrong tables.
  @Test func faultsAreFound() throws {
    func faults(_ text: String, _ type: String) throws -> [String] {
      schema.faults(in: try JSONValue(parsing: Array(text.utf8)), type, isLine: true)
    }
    let good = #"{"ms": 1.5, "version": 1}"#
    #expect(try faults(good, "benchRun") == [])
    #expect(try faults(#"{"ms": "Infinity", "version": 1}"#, "benchRun") == [])
    #expect(try faults(#"{"ms": "fast", "version": 1}"#, "benchRun") == [".ms is not number"])
    #expect(try faults(#"{"ms": 1}"#, "benchRun") == [".version is missing"])
    #expect(try faults(#"{"ms": 1, "s": 0, "version": 1}"#, "benchRun") == [".s is not documented"])
    #expect(
      try faults(#"{"classes": [{"class": 1}], "version": 1}"#, "classList").contains(
        ".classes[0].class is not string"))
  }
}

/// The tables of `docs/json.md`, by the headings above them.
private struct JSONSchema {
  struct Field {
    let type: String
    let isOptional: Bool
  }

  private(set) var types: [String: [String: Field]] = [:]

  init(_ page: Page) {
    var heading = ""
    for line in page.lines {
      if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
      guard line.hasPrefix("| `") else { continue }
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let isOptional = cells[1].hasSuffix(", optional")
      let type = isOptional ? String(cells[1].dropLast(", optional".count)) : cells[1]
      for match in cells[0].matches(of: /`([A-Za-z0-9_]+)`/) {
        types[heading, default: [:]][String(match.output.1)] = Field(
          type: type, isOptional: isOptional)
      }
    }
  }

  /// Fields that the table of `type` lacks, missing fields, and fields with another type.
  func faults(
    in value: JSONValue, _ type: String, isLine: Bool = false, path: String = ""
  ) -> [String] {
    guard let object = value.object, var fields = types[type] else {
      return ["\(path) is not \(type)"]
    }
    if isLine { fields["version"] = Field(type: "integer", isOptional: false) }
    var faults = object.names.filter { fields[$0] == nil }.map { "\(path).\($0) is not documented" }
    for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
      if let member = object[name] {
        faults += self.faults(of: member, field.type, "\(path).\(name)")
      } else if !field.isOptional {
        faults.append("\(path).\(name) is missing")
      }
    }
    return faults
  }

  private func faults(of value: JSONValue, _ type: String, _ path: String) -> [String] {
    let options = type.components(separatedBy: " or ").map { one(value, $0, path) }
    return options.min { $0.count < $1.count } ?? []
  }

  private func one(_ value: JSONValue, _ type: String, _ path: String) -> [String] {
    if type.hasPrefix("map of ") {
      guard let object = value.object else { return ["\(path) is not an object"] }
      return object.members.flatMap {
        one($0.value, String(type.dropFirst(7)), "\(path).\($0.name)")
      }
    }
    if type.hasSuffix("[]") {
      guard let array = value.array else { return ["\(path) is not \(type)"] }
      return array.enumerated().flatMap {
        one($0.element, String(type.dropLast(2)), "\(path)[\($0.offset)]")
      }
    }
    let fits: Bool
    switch (type, value) {
    case ("any", _), ("null", .null), ("boolean", .bool), ("string", .string), ("integer", .int),
      ("number", .int), ("number", .double):
      fits = true
    case ("number", .string(let text)): fits = ["NaN", "Infinity", "-Infinity"].contains(text)
    case _ where types[type] != nil: return faults(in: value, type, path: path)
    default: fits = false
    }
    return fits ? [] : ["\(path) is not \(type)"]
  }
}
