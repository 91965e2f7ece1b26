/// An LSTM whose weights are kept as CuDNN keeps them.
struct CuDNNLSTM: RecurrentKerasLayer {
  static let classNames = ["CuDNNLSTM"]

  let layer: RecurrentLayer

  init(_ configuration: LayerConfiguration) throws {
    layer = RecurrentLayer(
      cell: try LSTMCell(configuration, storage: .cuDNN), path: try RecurrentPath(configuration))
  }
}

/// A GRU with `reset_after` whose weights are kept as CuDNN keeps them.
struct CuDNNGRU: RecurrentKerasLayer {
  static let classNames = ["CuDNNGRU"]

  let layer: RecurrentLayer

  init(_ configuration: LayerConfiguration) throws {
    layer = RecurrentLayer(
      cell: try GRUCell(configuration, resetsAfter: true, storage: .cuDNN),
      path: try RecurrentPath(configuration))
  }
}
