#if os(Linux)
  import TestSupport
  import Testing

  /// The sandbox for the reader of HDF5 files, and the messages if a part of it is missing.
  @Suite(.program("cc"), .unsanitized) struct SandboxTests {
    private static let file = Fixtures("hdf5").path("network-filled.h5")

    private func withProgram(_ body: (Program) throws -> Void) throws {
      try withTemporaryFolder { folder in
        let program = Program("\(folder)/sandbox")
        let result = try Program("/usr/bin/env").run([
          "cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
          "-I\(packageRoot)/Sources/CSystem/include", "-o", program.path,
          "\(packageRoot)/Tests/Tools/sandbox.c",
        ])
        try #require(result.code == 0, "\(result.errors)")
        try body(program)
      }
    }

    /// The program tries each system call, and prints those that differ from its list.
    @Test func everySystemCallOutsideTheListIsRefused() throws {
      try withProgram { program in
        let result = try program.run([])
        #expect(result.exited && result.code == 0)
        #expect(result.output + result.errors == "")
      }
    }

    @Test(arguments: [("-l", "Landlock"), ("-s", "a seccomp filter")])
    func missingPartsAreReported(option: String, part: String) throws {
      func names(_ text: String, _ end: String) -> Bool {
        // A kernel without Landlock lacks both parts.
        text.contains("assay-hdf5 is not confined by ") && text.contains(part)
          && text.contains(" on this system\(end)\n")
      }
      try withProgram { program in
        func run(_ arguments: String...) throws -> Program.Result {
          try program.run([option, Command.binary] + arguments + [Self.file])
        }
        for result in [try run("check"), try run("convert", "--dry-run", "--verbose")] {
          #expect(result.code == 0 && names(result.errors, ""), "\(result.errors)")
        }
        let refused = try run("convert", "--dry-run", "--require-sandbox")
        #expect(refused.code == 2 && refused.errors.hasPrefix("error: \(Self.file): "))
        #expect(names(refused.errors, ", and a complete sandbox is required"), "\(refused.errors)")
        let silent = try run("convert", "--dry-run")
        #expect(silent.code == 0 && silent.errors == "")
      }
    }
  }
#endif
