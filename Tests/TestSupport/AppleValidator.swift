import Testing

/// Core ML's own validator, built for Linux, where `Shared` has it.
package enum AppleValidator {
  package static let name = "tools/apple-validator/validate"

  /// What it has against these models, a line each; nothing where it is not there.
  package static func refusals(of paths: [String]) throws -> [String] {
    guard Shared.has(name), !paths.isEmpty else { return [] }
    let result = try Program(Shared.path(name)).run(paths)
    let lines = (result.output + result.errors).split(separator: "\n").map(String.init)
    return result.code == 0 ? [] : lines.filter { !$0.hasSuffix(": valid") }
  }

  /// Records an issue where a command wrote a model that Core ML does not take.
  static func check(_ arguments: [String]) throws {
    guard let place = arguments.firstIndex(of: "-o"), place + 1 < arguments.count,
      arguments[place + 1].hasSuffix(".mlmodel"), fileExists(arguments[place + 1])
    else { return }
    let refusals = try refusals(of: [arguments[place + 1]])
    #expect(refusals.isEmpty, "\(arguments.joined(separator: " "))")
  }
}
