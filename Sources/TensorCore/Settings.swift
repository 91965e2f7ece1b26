/// How messages name the settings of conversions, predictions and comparisons.
///
/// A message names a setting by `\(setting: "imageInput")`, which is the name of the option of the
/// command line in camel case. The command line and the C library spell it as their users do.
package enum Settings {
  /// Set before the first message, if at all.
  nonisolated(unsafe) package static var spelling: @Sendable (String) -> String = { $0 }

  /// The words of a name, such as `image-input` of `imageInput`.
  package static func words(of name: String, separator: String) -> String {
    name.map { $0.isUppercase ? separator + $0.lowercased() : String($0) }.joined()
  }
}

extension DefaultStringInterpolation {
  package mutating func appendInterpolation(setting name: String) {
    appendLiteral(Settings.spelling(name))
  }
}
