import ModelPrediction

/// An array of the interface with the source framework's axes, instead of the network's.
struct SourceArray {
  private let layout: ExactLayout
  /// The axes of the array: the source's, but channels-first for images in ONNX.
  private let axes: [Character]
  /// The shape in the network.
  let inner: [Int]
  let shape: [Int]

  /// Nil if the source's axes are unknown, or lack some of the network's.
  ///
  /// - Parameters:
  ///   - recorded: the recorded layout.
  ///   - inner: the shape in the network.
  ///   - channelsFirst: whether the channels of an image come before its rows.
  ///   - batch: the number of items for a batch of unspecified size; nil for that of `inner`.
  init?(_ recorded: String?, _ inner: [Int], channelsFirst: Bool, batch: Int? = nil) {
    guard let recorded, let layout = ExactLayout(recorded) ?? ExactLayout(recorded + ":TNCHW"),
      layout.model.count == inner.count
    else { return nil }
    var inner = inner
    if let batch, layout.source.first == "N", let axis = layout.model.firstIndex(of: "N") {
      inner[axis] = batch
    }
    let sizes = Dictionary(zip(layout.model, inner)) { first, _ in first }
    guard sizes.allSatisfy({ layout.source.contains($0) || $1 == 1 }) else { return nil }
    var axes = layout.source
    if channelsFirst, axes.last == "C", axes.contains("W") {
      axes.insert(axes.removeLast(), at: axes.firstIndex(of: axes.contains("D") ? "D" : "H") ?? 0)
    }
    (self.layout, self.axes, self.inner) = (layout, axes, inner)
    shape = axes.map { sizes[$0] ?? 1 }
  }

  /// The layout of the program's array.
  var letters: String { "\(String(layout.source)):\(String(axes))" }

  /// Converts the source's array to the network's layout.
  func network(_ array: Variable, _ builder: ProgramBuilder) throws -> Variable {
    try moved(array, shape, Self.order(axes, layout.model), inner, builder)
  }

  /// Converts the network's array to the source's layout.
  func source(_ blob: Variable, _ builder: ProgramBuilder) throws -> Variable {
    try moved(blob, inner, Self.order(layout.model, axes), shape, builder)
  }

  private static func order(_ from: [Character], _ to: [Character]) -> [Int] {
    let axes = to.compactMap { from.firstIndex(of: $0) }
    return axes + from.indices.filter { !axes.contains($0) }
  }

  private func moved(
    _ x: Variable, _ old: [Int], _ order: [Int], _ new: [Int], _ builder: ProgramBuilder
  ) throws -> Variable {
    var chain = AxisChain(x.shape)
    guard chain.reshape(old) else { return try builder.reshape(x, to: new) }
    chain.transpose(order)
    guard chain.reshape(new) else { return try builder.reshape(x, to: new) }
    return chain.steps.isEmpty ? x : try chain.write(x, x.name, builder)
  }
}
