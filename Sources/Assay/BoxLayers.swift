import CoreMLModel
import Detection
import TensorCore

/// The layers that decode boxes. Attributes of boxes are blobs of shape `[attributes, boxes]`, with
/// the attributes as channels, so that a slice of the channels is one attribute of all boxes.
struct BoxLayers {
  static let confidence = "raw_confidence"
  static let coordinates = "raw_coordinates"

  /// Blobs with one row per box: the four coordinates, and the scores of the classes.
  struct Rows {
    var coordinates: String
    var confidence: String
    var count: Int
    var classes: Int
  }

  private(set) var layers: [NeuralNetworkLayer]
  private let size: ImageFeatureType
  private let blobs: [String: Tensor]
  private var names: NamePool
  /// Whether blobs have their exact rank; outputs then need the rank that their declaration states.
  private let isExact: Bool

  init(_ network: NeuralNetwork, size: ImageFeatureType, blobs: [String: Tensor]) {
    layers = network.layers
    isExact = network.arrayInputShapeMapping == .exact
    self.size = size
    self.blobs = blobs
    names = NamePool(layers.flatMap { $0.input + $0.output + [$0.name] })
  }

  private mutating func add(
    _ parameters: any LayerParameters, _ inputs: String..., output: String? = nil
  ) -> String {
    let name = output ?? names.take("boxes_\(type(of: parameters).typeName)")
    layers.append(NeuralNetworkLayer(name, parameters, input: inputs, output: [name]))
    return name
  }

  private mutating func reshape(_ blob: String, _ shape: [Int], output: String? = nil) -> String {
    if isExact {
      var reshape = ReshapeStatic()
      reshape.targetShape = output == nil ? [1, 1] + shape : Array(shape.dropFirst())
      return add(reshape, blob, output: output)
    }
    var reshape = Reshape()
    reshape.targetShape = shape
    return add(reshape, blob, output: output)
  }

  private mutating func permute(_ blob: String, _ axes: [Int]) -> String {
    var permute = Permute()
    permute.axis = axes
    return add(permute, blob)
  }

  private mutating func slice(_ blob: String, _ range: Range<Int>, by stride: Int = 1) -> String {
    var slice = Slice()
    (slice.startIndex, slice.endIndex, slice.stride) = (range.lowerBound, range.upperBound, stride)
    return add(slice, blob)
  }

  private mutating func scale(
    _ blob: String, _ scale: [Double], _ shape: [Int], bias: [Double] = [], _ biasShape: [Int] = []
  ) -> String {
    var layer = Scale()
    (layer.scale, layer.shapeScale) = (Weights(scale.map { Float($0) }), shape)
    if !bias.isEmpty {
      layer.hasBias = true
      (layer.bias, layer.shapeBias) = (Weights(bias.map { Float($0) }), biasShape)
    }
    return add(layer, blob)
  }

  private mutating func exponential(_ blob: String) -> String {
    var unary = Unary()
    (unary.type, unary.scale) = (.exp, 1)
    return add(unary, blob)
  }

  /// Converts `[left, top, right, bottom]` to `[2 × center, 2 × size]`.
  private mutating func centers(_ sides: String) -> String {
    let (start, end) = (slice(sides, 0..<2), slice(sides, 2..<4))
    let center = add(Activation(.linear(alpha: 0.5, beta: 0)), add(Add(), start, end))
    let extent = add(Add(), end, add(Activation(.linear(alpha: -1, beta: 0)), start))
    return add(Concat(), center, extent)
  }

  /// The rows of all boxes of a decoding.
  mutating func rows(
    _ decoding: BoxDecoding, labels: Int?, views: [DetectorOutput]
  ) throws -> Rows {
    switch decoding {
    case .grid(let output, let decoder): return try grid(output, decoder)
    case .offsets(let locations, let scores, let decoder):
      return try offsets(locations, scores, decoder, views)
    case .rows(let output, let rows):
      guard let labels else {
        throw ModelError(
          .mismatch, "the number of classes is unknown", field: output.name,
          hint: "name them with \(setting: "labels")")
      }
      return try self.rows(output, rows, classes: labels)
    default:
      throw ModelError(
        .unsupported, "boxes of regions or cells cannot be decoded by layers",
        hint: "\(setting: "visionBoxes") is for YOLO v2 to v4, SSD and RetinaNet")
    }
  }

  /// Converts attributes of `count` boxes, as channels, to one row per box.
  private mutating func row(_ blob: String, _ numbers: Int, _ count: Int) -> String {
    permute(reshape(blob, [numbers, count, 1]), [0, 2, 1, 3])
  }

  private mutating func grid(_ output: DetectorOutput, _ decoder: GridDecoder) throws -> Rows {
    let shape = Array((blobs[output.name]?.shape ?? []).suffix(3))
    guard shape.count == 3 else { throw Self.order(output.name) }
    var source = output.name
    var (rows, columns) = (shape[1], shape[2])
    if shape[0] != decoder.channels {
      guard shape[2] == decoder.channels else { throw Self.order(output.name) }
      source = permute(isExact ? reshape(source, shape) : source, [0, 3, 1, 2])
      (rows, columns) = (shape[0], shape[1])
    }
    let (plane, count) = (rows * columns, decoder.anchors.count)
    let numbers = permute(reshape(source, [count, decoder.numbers, plane]), [0, 2, 1, 3])
    let step = decoder.kind == .gaussian ? 2 : 1
    let first = decoder.kind == .gaussian ? 8 : decoder.coordinates
    let location = slice(numbers, 0..<4 * step, by: step)
    var (center, extent) = (slice(location, 0..<2), slice(location, 2..<4))
    if !decoder.isLogistic { center = add(Activation(.sigmoid), center) }
    let (wide, high) = (Double(columns), Double(rows))
    let shift = (decoder.scale - 1) / 2
    var offsets: [Double] = []
    for axis in 0..<2 {
      for _ in 0..<count {
        for position in 0..<plane {
          offsets.append(
            axis == 0
              ? (Double(position % columns) - shift) / wide
              : (Double(position / columns) - shift) / high)
        }
      }
    }
    center = scale(
      center, [decoder.scale / wide, decoder.scale / high], [2], bias: offsets, [2, count, plane])
    extent = decoder.isLogistic ? add(Multiply(), extent, extent) : exponential(extent)
    let isRegion = decoder.kind == .region
    let unit = (
      isRegion ? wide : Double(size.width), isRegion ? high : Double(size.height)
    )
    let sizes =
      decoder.anchors.map { $0.width / unit.0 } + decoder.anchors.map { $0.height / unit.1 }
    extent = scale(
      extent,
      sizes.flatMap { [Double](repeating: decoder.isLogistic ? 4 * $0 : $0, count: plane) },
      [2, count, plane])
    let boxes = add(Concat(), center, extent)

    var confidence = decoder.hasBackground ? nil : slice(numbers, first..<first + 1)
    if !decoder.isLogistic { confidence = confidence.map { add(Activation(.sigmoid), $0) } }
    if decoder.kind == .gaussian, let certain = confidence {
      var mean = Reduce()
      (mean.mode, mean.axis) = (.avg, .c)
      let doubt = add(mean, add(Activation(.sigmoid), slice(numbers, 1..<8, by: 2)))
      confidence = add(Multiply(), certain, add(Activation(.linear(alpha: -1, beta: 1)), doubt))
    }
    var scores = confidence ?? ""
    if decoder.classes > 0 {
      let start = decoder.hasBackground ? first : first + 1
      scores = slice(numbers, start..<decoder.numbers)
      if isRegion && decoder.isSoftmax {
        scores = add(Softmax(), scores)
      } else if !decoder.isLogistic {
        scores = add(Activation(.sigmoid), scores)
      }
      if decoder.hasBackground { scores = slice(scores, 1..<decoder.classes + 1) }
      if let confidence { scores = add(Multiply(), scores, confidence) }
    }
    let classes = max(1, decoder.classes)
    return Rows(
      coordinates: row(boxes, 4, count * plane), confidence: row(scores, classes, count * plane),
      count: count * plane, classes: classes)
  }

  /// The output's rows, which the user sees as `[N, numbers]`, as `[numbers, N, 1]`.
  private mutating func numbers(
    _ name: String, _ view: DetectorOutput, count: Int
  ) throws -> String {
    guard let blob = blobs[name], count > 0 else { throw Self.order(name) }
    let isSequence = blob.shape.count == 5 && blob.shape[0] != 1
    let width = blob.count / count
    if blob.elements == view.value.elements {
      return !isSequence
        ? permute(reshape(name, [count, width, 1]), [0, 2, 1, 3]) : permute(name, [2, 1, 0, 3])
    }
    guard !isSequence,
      blob.reshaped([width, count]).transposed([1, 0]).elements == view.value.elements
    else { throw Self.order(name) }
    return reshape(name, [width, count, 1])
  }

  private static func order(_ name: String) -> ModelError {
    ModelError(.unsupported, "the order of its boxes is not supported", field: name)
  }

  private mutating func offsets(
    _ locations: DetectorOutput, _ scores: DetectorOutput, _ decoder: SSDDecoder,
    _ views: [DetectorOutput]
  ) throws -> Rows {
    let priors = decoder.priors
    let count = priors.boxes.count
    func values(_ of: (Int, Box) -> Double) -> [Double] {
      priors.boxes.indices.map { of($0, priors.boxes[$0]) }
    }
    func factor(_ number: Int, _ index: Int) -> Double {
      priors.variances[priors.variances.count == 1 ? 0 : index][number]
    }
    var part: [String: String] = [:]
    for output in [locations, scores] where part[output.name] == nil {
      guard let view = views.first(where: { $0.name == output.name }) else { continue }
      part[output.name] = try numbers(output.name, view, count: count)
    }
    func columns(_ output: DetectorOutput, _ layers: inout BoxLayers) -> String {
      let blob = part[output.name] ?? output.name
      return output.columns.map { layers.slice(blob, $0) } ?? blob
    }
    let location = columns(locations, &self)
    let boxes: String
    let sides = [
      values { factor(0, $0) * $1.width }, values { factor(1, $0) * $1.height },
      values { factor(2, $0) * $1.width }, values { factor(3, $0) * $1.height },
    ].flatMap { $0 }
    if priors.coding == .center {
      let middles = values { ($1.left + $1.right) / 2 } + values { ($1.top + $1.bottom) / 2 }
      let center = scale(
        slice(location, 0..<2), Array(sides[..<(2 * count)]), [2, count, 1], bias: middles,
        [2, count, 1])
      let powers = values { i, _ in factor(2, i) } + values { i, _ in factor(3, i) }
      let extent = scale(
        exponential(scale(slice(location, 2..<4), powers, [2, count, 1])),
        values { $1.width } + values { $1.height }, [2, count, 1])
      boxes = add(Concat(), center, extent)
    } else {
      let corners =
        priors.coding == .sides
        ? []
        : [\Box.left, \.top, \.right, \.bottom].flatMap { side in
          priors.boxes.map { $0[keyPath: side] }
        }
      boxes = centers(scale(location, sides, [4, count, 1], bias: corners, [4, count, 1]))
    }
    var confidence = columns(scores, &self)
    var classes = scores.value.count / count
    switch decoder.function {
    case .none: break
    case .softmax: confidence = add(Softmax(), confidence)
    case .sigmoid: confidence = add(Activation(.sigmoid), confidence)
    }
    if let background = decoder.background {
      let before = background > 0 ? slice(confidence, 0..<background) : nil
      let after = background + 1 < classes ? slice(confidence, background + 1..<classes) : nil
      classes -= 1
      if let before, let after {
        confidence = add(Concat(), before, after)
      } else {
        confidence = before ?? after ?? confidence
      }
    }
    return Rows(
      coordinates: row(boxes, 4, count), confidence: row(confidence, classes, count), count: count,
      classes: classes)
  }

  /// DetectionOutput's rows. A row's score goes to the column of its class; other columns are 0.
  private mutating func rows(
    _ output: DetectorOutput, _ rows: DetectionRows, classes: Int
  ) throws -> Rows {
    let count = output.value.count / 7
    let all = try numbers(output.name, output, count: count)
    var own = Convolution()
    (own.outputChannels, own.kernelChannels, own.nGroups) = (classes, 1, 1)
    (own.kernelSize, own.stride, own.dilationFactor) = ([1, 1], [1, 1], [1, 1])
    own.padding = .valid(ValidPadding())
    own.kernel = Weights([Float](repeating: 1, count: classes))
    own.hasBias = true
    own.bias = Weights(
      (0..<classes).map { label in -Float(label >= rows.background ?? .max ? label + 1 : label) })
    var distance = Unary()
    (distance.type, distance.scale) = (.abs, 1)
    let far = add(distance, add(own, slice(all, 1..<2)))
    let isOwn = add(Activation(.relu), add(Activation(.linear(alpha: -1, beta: 1)), far))
    let scores = add(Multiply(), isOwn, slice(all, 2..<3))
    return Rows(
      coordinates: row(centers(slice(all, 3..<7)), 4, count),
      confidence: row(scores, classes, count), count: count, classes: classes)
  }

  /// The outputs, `[1, boxes, 4]` and `[1, boxes, classes]`; returns the number of boxes.
  mutating func finish(_ parts: [Rows]) throws -> Int {
    let count = try checkedSum(parts.map(\.count), limit: Limits.dimension)
    for (name, path, width) in [
      (Self.confidence, \Rows.confidence, parts[0].classes), (Self.coordinates, \.coordinates, 4),
    ] {
      var blob = parts[0][keyPath: path]
      if parts.count > 1 {
        let all = names.take("boxes_all")
        layers.append(
          NeuralNetworkLayer(all, Concat(), input: parts.map { $0[keyPath: path] }, output: [all]))
        blob = all
      }
      _ = reshape(blob, [1, count, width], output: name)
    }
    return count
  }
}
