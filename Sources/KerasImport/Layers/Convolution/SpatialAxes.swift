import CoreMLModel

/// The axes along which windows move: the steps of a sequence, height and width of an image, or
/// depth, height and width of a volume.
///
/// A sequence is along Core ML's W, with H = 1. A volume is a sequence of images in Core ML: layers
/// first process height and width of all images; then depth takes the height axis, and height the
/// sequence axis. This needs only specification version 1, or 4 if a volume is an input; Core ML's
/// three-dimensional layers need version 5.
struct SpatialAxes: Sendable {
  let count: Int
  let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    count = configuration.dimensions
    format = try configuration.dataFormat ?? .channelsLast
  }

  init(_ count: Int, _ format: LayerConfiguration.DataFormat) {
    self.count = count
    self.format = format
  }

  /// The layout with the window axes last in the blob, and with depth as the sequence.
  var layout: TensorLayout { layout(Array([.sequence, .height, .width].suffix(count))) }

  private func layout(_ places: [BlobAxis]) -> TensorLayout {
    TensorLayout(axes: format == .channelsLast ? places + [.channel] : [.channel] + places)
  }

  func input(_ call: LayerCall, _ network: inout KerasWriter) throws -> KerasTensor {
    let input = try call.input
    if count == 2 { return try network.image(input, format, call) }
    try call.require(
      input.rank == count + 2,
      "its input \(input.shapeText) is not a \(count == 1 ? "sequence" : "volume")")
    if count == 3 { network.fixesSequences = true }
    return network.relaid(input, to: layout, for: call.name)
  }

  /// Adds a note if TensorFlow's results depend on the device: its loops for volumes on a CPU take
  /// negative padding where every other implementation takes none.
  func noteNarrowWindows(
    _ lengths: [Int?], extents: [Int], strides: [Int], _ call: LayerCall,
    _ network: inout KerasWriter
  ) {
    let isNarrow = zip(lengths, zip(extents, strides)).contains { length, window in
      length.map { ($0 - 1) / window.1 * window.1 + window.0 - $0 <= -2 } ?? false
    }
    guard count == 3, isNarrow else { return }
    network.notes.append(
      "layer '\(call.name)' (\(call.className)): its windows are narrower than their distance; "
        + "they start at the first element, as on a GPU or with XLA. Without XLA, TensorFlow on a CPU "
        + "starts later")
  }

  /// The volume with its depth along the height axis.
  func slices(
    _ tensor: KerasTensor, _ call: LayerCall, _ network: inout KerasWriter
  ) -> KerasTensor {
    network.relaid(tensor, to: layout([.height, .sequence, .width]), for: call.name + "_depth")
  }

  /// The indices of the axes in Keras.
  private func indices(_ tensor: KerasTensor) -> Range<Int> {
    let end = tensor.rank - (format == .channelsLast ? 1 : 0)
    return end - count..<end
  }

  func lengths(_ tensor: KerasTensor) -> [Int?] { Array(tensor.shape[indices(tensor)]) }

  func resized(_ tensor: KerasTensor, to lengths: [Int?], channels: Int? = nil) -> KerasTensor {
    var output = tensor
    output.shape.replaceSubrange(indices(tensor), with: lengths)
    if let channels, let index = tensor.index(of: .channel) { output.shape[index] = channels }
    return output
  }

  /// Selects the values for height and width of one Core ML layer.
  struct Plane {
    fileprivate let height: Int?
    fileprivate let width: Int?

    func callAsFunction<Element>(_ numbers: [Element], _ standard: Element) -> [Element] {
      [height, width].map { $0.map { numbers[$0] } ?? standard }
    }
  }

  /// Applies a layer that treats its axes separately; a volume needs two layers.
  func apply(
    _ input: KerasTensor, to lengths: [Int?], _ call: LayerCall, _ network: inout KerasWriter,
    _ layer: (Plane) -> some LayerParameters
  ) -> KerasTensor {
    var tensor = input
    if count == 3 {
      tensor.blob = network.add(
        call.name + "__images__", layer(Plane(height: 1, width: 2)), [tensor.blob])
      tensor = resized(tensor, to: [self.lengths(input)[0]] + lengths.dropFirst())
      tensor = slices(tensor, call, &network)
    }
    let plane = Plane(height: count == 1 ? nil : 0, width: count == 3 ? nil : count - 1)
    tensor.blob = network.add(call.name, layer(plane), [tensor.blob])
    return resized(tensor, to: lengths)
  }
}

extension KerasTensor {
  /// The sizes as shown in messages, such as `3 × 3`.
  static func product(_ sizes: [Int]) -> String { sizes.map(String.init).joined(separator: " × ") }
}

extension KerasWriter {
  /// The tensor as an image in the layer's data format.
  mutating func image(
    _ tensor: KerasTensor, _ format: LayerConfiguration.DataFormat, _ call: LayerCall
  ) throws -> KerasTensor {
    switch tensor.rank {
    case 4: return relaid(tensor, to: format.layout, for: call.name)
    case 5:
      return relaid(
        tensor,
        to: format == .channelsLast ? .imageSequence : .imageSequenceChannelsFirst,
        for: call.name)
    default:
      throw call.error("its input \(tensor.shapeText) is not an image")
    }
  }

  /// Moves a sequence from W, where one-dimensional layers leave it, back to Core ML's sequence
  /// axis, unless an outer sequence occupies that axis.
  mutating func standard(_ tensor: KerasTensor, for name: String) -> KerasTensor {
    tensor.rank == 3 ? relaid(tensor, to: isStepwise ? .steps : .sequence, for: name) : tensor
  }
}
