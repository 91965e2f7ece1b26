/// How messages spell the settings of conversions, predictions and comparisons.
///
/// A message names a setting by `\(setting: "imageInput")`, the command-line option in camel case.
/// The command line and the C library spell it as their users do.
package enum Settings {
  /// Must be set before the first message.
  nonisolated(unsafe) package static var spelling: @Sendable (String) -> String = { $0 }

  /// Separates the words of a name: `imageInput` becomes `image-input`.
  package static func words(of name: String, separator: String) -> String {
    name.map { $0.isUppercase ? separator + $0.lowercased() : String($0) }.joined()
  }
}

extension DefaultStringInterpolation {
  package mutating func appendInterpolation(setting name: String) {
    appendLiteral(Settings.spelling(name))
  }
}
