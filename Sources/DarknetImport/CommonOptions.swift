/// Options that every layer accepts.
enum CommonOptions {
  static let training = [
    "truth", "onlyforward", "stopbackward", "dontsave", "learning_rate", "smooth", "clip",
    "burnin_update", "dont_update", "train_only_bn",
  ]
  /// Options that change what is read from the weights file.
  static let refused = ["dontload", "dontloadscales", "numload"]

  static func check(_ section: ConfigurationSection) throws {
    for key in refused {
      try section.refuse(key, "weights that are not in the file are not supported")
    }
  }

  /// A note for each option that Darknet would ignore.
  static func notes(_ section: ConfigurationSection, known: Set<String>) -> [String] {
    section.options.compactMap { option in
      guard !known.contains(option.key.lowercased()) else { return nil }
      return "line \(option.line): [\(section.name)] has no option '\(option.key)'; it has no "
        + "effect"
    }
  }
}
