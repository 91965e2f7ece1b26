/// The help about the model that all commands share.
enum ModelHelp {
  static let model: ArgumentHelp = "The model: .mlmodel, .mlpackage, or a source network."

  static let weights: ArgumentHelp = "Its weights, if in a separate file, or random:SEED."

  static let discussion = """
    A source network is what convert reads: .h5, .keras, .json, .prototxt, .caffemodel or .cfg, \
    followed by the file of its weights if that is a separate one. It is converted in memory, with \
    the options of assay convert.
    """
}

extension ArgumentHelp {
  /// The help of an option that `-h` also shows.
  static func usual(_ text: String, _ valueName: String) -> ArgumentHelp {
    ArgumentHelp(text, valueName: valueName)
  }

  static func advanced(_ text: String, _ valueName: String? = nil) -> ArgumentHelp {
    ArgumentHelp(text, valueName: valueName, visibility: .advanced)
  }
}

extension NameSpecification {
  static let output: NameSpecification = [.customShort("o"), .customLong("output")]
}
