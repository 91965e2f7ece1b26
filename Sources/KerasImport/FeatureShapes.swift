import TensorCore

/// The shape of a model's input: the declared shape, with the sizes that the user sets.
struct InputShape {
  let sizes: [Int?]
  /// The declared batch size; the network accepts one item.
  let batch: Int?
  private let layer: String

  init(declared: [Int?]?, requested: [Int?]?, name: String, layer: String) throws {
    self.layer = layer
    guard let declared else {
      guard let requested else {
        throw ModelError(
          .mismatch, "the file does not state the shape of input '\(name)'", layer: layer,
          hint:
            "set it with \(setting: "inputShape") \(name.shellWord)=?,…, in Keras's layout, batch first"
        )
      }
      sizes = [nil] + requested.dropFirst()
      batch = requested.first ?? nil
      return
    }
    var sizes = declared
    if let requested {
      try require(
        requested.count == declared.count, .mismatch,
        "\(setting: "inputShape") \(KerasTensor.text(requested)) for input '\(name)', whose shape is "
          + KerasTensor.text(declared))
      for (axis, size) in requested.enumerated() {
        guard let size else { continue }
        try require(
          axis == 0 || declared[axis] == nil || declared[axis] == size, .mismatch,
          "\(setting: "inputShape") \(KerasTensor.text(requested)) for input '\(name)', whose shape is "
            + KerasTensor.text(declared), hint: "only unknown sizes can be fixed")
        sizes[axis] = size
      }
    }
    batch = declared.first.flatMap { $0 } ?? sizes.first.flatMap { $0 }
    if !sizes.isEmpty { sizes[0] = nil }
    self.sizes = sizes
  }

  func layout(_ format: LayerConfiguration.DataFormat, isIndices: Bool) throws -> TensorLayout {
    switch sizes.count {
    case 1: return TensorLayout(axes: [])
    case 0:
      throw ModelError(
        .unsupported, "the input has no axes, not even the batch", layer: layer,
        hint: "shapes start with the batch: (None, 4) is a vector of 4")
    case 2: return isIndices ? .indices : .vector
    case 3: return .sequence
    case 4: return format.layout
    case 5:
      return format == .channelsLast ? .imageSequence : .imageSequenceChannelsFirst
    default:
      throw ModelError(
        .unsupported,
        "the input \(KerasTensor.text(sizes)) has \(sizes.count) axes, which is not supported",
        layer: layer)
    }
  }
}

/// The shapes of features as declared in Core ML: `(C)` or `(C, H, W)`.
enum FeatureShape {
  static func input(_ tensor: KerasTensor, name: String, layer: String) throws -> [Int] {
    if tensor.layout.axes.isEmpty || tensor.layout == .indices { return [1] }
    var shape: [Int] = []
    for place in places(tensor) {
      guard let size = tensor.size(of: place) else {
        if tensor.rank == 2 { return [1] }
        throw ModelError(
          .mismatch, "input '\(name)' has an unknown size: \(tensor.shapeText)", layer: layer,
          hint: "fix it with \(setting: "inputShape") \(name.shellWord)="
            + tensor.shape.map { $0.map(String.init) ?? "?" }.joined(separator: ",")
            + ", with a number for each ? except the first")
      }
      shape.append(size)
    }
    return shape
  }

  /// The shape of an output; empty if any size is unknown, which only a custom layer can cause.
  static func output(_ tensor: KerasTensor) -> [Int] {
    if tensor.rank == 1 || tensor.layout == .indices { return [1] }
    let sizes = places(tensor).map { place in
      tensor.layout.axes.contains(place) ? tensor.size(of: place) : 1
    }
    return sizes.contains(nil) ? [] : sizes.compactMap { $0 }
  }

  /// `shape` as `(Seq, 1, C, H, W)` for a sequence of images, if its length is known.
  static func fixed(_ shape: [Int], _ tensor: KerasTensor) -> [Int] {
    guard shape.count == 3, tensor.rank == 5, let length = tensor.size(of: .sequence) else {
      return shape
    }
    return [length, 1] + shape
  }

  private static func places(_ tensor: KerasTensor) -> [BlobAxis] {
    let axes = tensor.layout.axes
    return axes.contains(.height)
      ? [.channel, .height, .width] : axes.contains(.channel) ? [.channel] : []
  }
}
