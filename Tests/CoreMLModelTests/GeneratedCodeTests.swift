import TestSupport
import Testing

struct GeneratedCodeTests {
  /// The committed C code equals the output of `make proto` for the `.proto` files.
  @Test(.program("protoc-c")) func isCurrent() throws {
    let specification = "\(packageRoot)/Sources/CSpec"
    try withTemporaryFolder { folder in
      let generated = "\(folder)/generated"
      let result = try Program("/bin/sh").run(["\(specification)/generate.sh", generated])
      #expect(result.code == 0, "\(result.errors)")
      let names = fileNames(in: "\(specification)/generated")
      #expect(fileNames(in: generated) == names)
      for name in names {
        #expect(
          try fileBytes("\(generated)/\(name)") == fileBytes("\(specification)/generated/\(name)"),
          "run 'make proto': \(name) differs")
      }
    }
  }
}
