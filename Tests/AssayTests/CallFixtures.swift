import TestSupport
import Testing

/// Networks of `Fixtures/keras/calls`, whose layers are called with a mask or with training=True;
/// expected values are computed by hand in `make.py` there or, in `framework`, by Keras.
enum CallFixtures {
  private static let fixtures = Fixtures("keras/calls")

  /// The networks in a folder whose names start with a prefix, without extensions.
  static func names(_ prefix: String, isAnswered: Bool = true) -> [String] {
    let all = fixtures.names
    let models = all.filter { $0.hasSuffix(".h5") && $0.hasPrefix(prefix) }
    return models.map { String($0.dropLast(3)) }.filter {
      all.contains($0 + ".expected.npz") == isAnswered
    }
  }

  /// A network that Keras wrote, in both formats.
  static func framework(_ name: String) -> [String] {
    ["h5", "keras"].map { fixtures.path("framework/\(name).\($0)") }
  }

  static func path(_ name: String) -> String { fixtures.path(name + ".h5") }

  /// A file's prediction matches the one beside it.
  static func expectAgreement(_ file: String, comment: String = "") throws {
    let name = String(file.prefix(upTo: file.lastIndex(of: ".") ?? file.endIndex))
    let result = try Command.run([
      "diff", file, name + ".inputs.npz", "--expected", name + ".expected.npz", "--rtol", "1e-3",
      "--atol", "1e-4",
    ])
    #expect(result.code == 0, "\(file): \(result.output)\(result.errors)")
    #expect(comment.isEmpty || result.errors.contains(comment), "\(file): \(result.errors)")
  }
}
