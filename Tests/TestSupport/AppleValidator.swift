import Testing

/// Core ML's validator, built for Linux, if it is in `Shared`.
package enum AppleValidator {
  package static let name = "tools/apple-validator/validate"

  /// The validator's errors for these models, one per line; empty if it is not available.
  package static func refusals(of paths: [String]) throws -> [String] {
    guard Shared.has(name), !paths.isEmpty else { return [] }
    let result = try Program(Shared.path(name)).run(paths)
    let lines = (result.output + result.errors).split(separator: "\n").map(String.init)
    return result.code == 0 ? [] : lines.filter { !$0.hasSuffix(": valid") }
  }

  /// Records an issue if a command wrote a model that Core ML rejects.
  static func check(_ arguments: [String]) throws {
    guard let place = arguments.firstIndex(of: "-o"), place + 1 < arguments.count,
      arguments[place + 1].hasSuffix(".mlmodel"), fileExists(arguments[place + 1])
    else { return }
    let refusals = try refusals(of: [arguments[place + 1]])
    #expect(refusals.isEmpty, "\(arguments.joined(separator: " "))")
  }
}
