import Foundation
import TestSupport
import Testing

/// The C library as seen by a C program, which the system's compiler builds.
@Suite(.program("cc"), .unsanitized) struct CProgramTests {
  private static let fixtures = packageRoot + "/Fixtures/library"
  /// The folder of the built library.
  private static let products = String(Command.binary.dropLast("/assay".count))

  /// Compiles a program that is linked to the library in `folder`.
  private static func compiled(
    _ source: String, in folder: String, libraryFolder: String = products
  ) throws -> Program {
    let program = "\(folder)/program"
    let result = try Program("/usr/bin/env").run([
      "cc", "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-g",
      "-I\(packageRoot)/Sources/CAssay", "-o", program, source, "-L\(libraryFolder)",
      "-lAssayLibrary", "-Wl,-rpath,\(libraryFolder)", "-lm", "-lpthread",
    ])
    try #require(result.code == 0, "\(result.errors)")
    return Program(program)
  }

  private static let test = packageRoot + "/Tests/Tools/library.c"

  /// Nothing is printed, not even by the library.
  @Test(arguments: [
    "library", "library-misuse", "library-fork", "library-growth", "library-threads",
  ])
  func theProgramFindsNoFault(_ name: String) throws {
    try withTemporaryFolder { folder in
      let result = try Self.compiled("\(packageRoot)/Tests/Tools/\(name).c", in: folder).run(
        [Self.fixtures, "3"], environment: ["ASSAY_HDF5_WORKER": "\(Self.products)/assay-hdf5"])
      #expect(result.exited && result.code == 0)
      #expect(result.output + result.errors == "")
    }
  }

  #if os(Linux)
    /// Invalid accesses and leaks. Optimized Swift branches on undefined values if the outcome does
    /// not matter, so these do not count.
    @Test(.program("valgrind")) func valgrindFindsNoFault() throws {
      try withTemporaryFolder { folder in
        // Valgrind does not read the newest debug information.
        let library = "libAssayLibrary.so"
        try Program("/usr/bin/env").run([
          "strip", "--strip-debug", "-o", "\(folder)/\(library)", "\(Self.products)/\(library)",
        ])
        let program = try Self.compiled(Self.test, in: folder, libraryFolder: folder)
        let result = try Program("/usr/bin/env").run([
          "valgrind", "-q", "--error-exitcode=9", "--undef-value-errors=no", "--leak-check=full",
          "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", program.path,
          Self.fixtures,
        ])
        #expect(result.exited && result.code == 0, "\(result.errors)")
      }
    }

    /// Foundation would double a program's size, and calls `mktemp`, about which linkers warn.
    @Test(.program("nm")) func theLibraryDoesWithoutFoundation() throws {
      let result = try Program("/usr/bin/env").run([
        "nm", "-D", "--undefined-only", "\(Self.products)/libAssayLibrary.so",
      ])
      #expect(result.output.contains("pthread_create"))
      #expect(!result.output.contains("Foundation"))
    }
  #endif

  /// The example on the page; its model computes 2 x + 1.
  @Test func theExampleOfThePageRuns() throws {
    let page = try String(contentsOfFile: packageRoot + "/docs/c-library.md", encoding: .utf8)
    let example = try #require(
      page.components(separatedBy: "```c\n").dropFirst().first?.components(separatedBy: "```").first
    )
    try withTemporaryFolder { folder in
      let source = "\(folder)/example.c"
      try example.write(toFile: source, atomically: true, encoding: .utf8)
      let program = try Self.compiled(source, in: folder)
      #expect(try program.run([Self.fixtures + "/line.mlmodel"]).output == "1 3 5 7 9 11 ")
      let missing = try program.run(["missing.mlmodel"])
      #expect(missing.code == 1)
      #expect(missing.errors.hasPrefix("missing.mlmodel: "))
    }
  }
}
