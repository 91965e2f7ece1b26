import Foundation
import TestSupport
import Testing

/// The Python package on the built library.
@Suite(.program("python3"), .unsanitized) struct PythonTests {
  private static func python(_ arguments: String...) throws -> Program.Result {
    let products = String(Command.binary.dropLast("/assay".count))
    let python = try #require(Program.find("python3"))
    return try python.run(
      arguments,
      environment: [
        "ASSAY_LIBRARY": "\(products)/libAssayLibrary.\(suffix)",
        "ASSAY_HDF5_WORKER": "\(products)/assay-hdf5", "ASSAY_PROGRAM": "\(products)/assay",
        "PYTHONPATH": "\(packageRoot)/Sources/Python", "PYTHONDONTWRITEBYTECODE": "1",
      ], in: packageRoot + "/Tests/Python")
  }

  private static var suffix: String {
    #if os(Linux)
      "so"
    #else
      "dylib"
    #endif
  }

  private static func has(_ modules: String) -> Bool {
    (try? Program.find("python3")?.run(["-c", "import \(modules)"]).code) == 0
  }

  private static let hasNumPy = has("numpy, PIL.Image")

  @Test(
    .enabled("python3 has no NumPy and Pillow") { hasNumPy },
    arguments: [
      "Description", "Arrays", "Images", "States", "Functions", "Copies", "Forks", "Warnings",
      "Hints", "Layouts", "Commands", "Owners",
    ])
  func theTestsPass(_ name: String) throws {
    let result = try Self.python("-W", "ignore", "-m", "unittest", "test_assay.\(name)")
    #expect(result.exited && result.code == 0, "\(result.errors)")
  }

  @Test func keywordArgumentsAreTheOptions() throws {
    let result = try Self.python("-m", "unittest", "test_options")
    #expect(result.exited && result.code == 0, "\(result.errors)")
  }

  @Test(.enabled("python3 has no NumPy and Pillow") { hasNumPy })
  func theCodeOfThePageRuns() throws {
    let result = try Self.python("-W", "ignore", "-m", "unittest", "test_pages")
    #expect(result.exited && result.code == 0, "\(result.errors)")
  }

  @Test(.enabled("python3 has no coremltools") { hasNumPy && has("coremltools") })
  func theTestsOfCoremltoolsPass() throws {
    let result = try Self.python("-W", "ignore", "-m", "unittest", "test_coremltools")
    #expect(result.exited && result.code == 0, "\(result.errors)")
  }
}
