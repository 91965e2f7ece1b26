/// The help that all commands share about their model.
enum ModelHelp {
  static let model: ArgumentHelp = "The model: .mlmodel, .mlpackage, or a source network."

  static let weights: ArgumentHelp = "Its weights, if in a separate file, or random:SEED."

  static let discussion = """
    A source network is what convert reads: .h5, .keras, .json, .prototxt, .caffemodel or .cfg, \
    followed by the file of its weights if that is a separate one. It is converted in memory, with \
    the options of assay convert.
    """
}
