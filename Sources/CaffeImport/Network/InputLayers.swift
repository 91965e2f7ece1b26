import TensorCore

/// An input of the network: a top of a layer without bottoms.
struct CaffeInput: Sendable {
  var blob: String
  /// Index in the graph's versions.
  var version: Int
  /// The shape of Caffe's blob, including the batch.
  var shape: [Int]
  /// The axes of `[Seq, Batch, C, H, W]` for Caffe's axes.
  var axes: [Int]
  /// The layer that provides the input; its `transform_param` may specify preprocessing.
  var layer: LayerCall
  /// Whether the interface takes the whole batch.
  var keepsBatch = false

  /// The shape that layers see, with one item of a batch unless the whole batch is kept.
  var itemShape: [Int] {
    if keepsBatch { return shape }
    var shape = shape
    for (index, axis) in axes.enumerated()
    where axis == 1 && (index == 0 || shape.count < 5) { shape[index] = 1 }
    if shape.count == 5, isImage { shape[0] = 1 }
    return shape
  }

  /// Whether only the last three axes matter, because any before them are batch axes.
  private var isImage: Bool { shape.count < 5 || shape[0] == 1 && shape[1] == 1 }

  /// The shape of the feature: `(C)`, `(C, H, W)`, or all five axes.
  var featureShape: [Int] {
    var sizes = [1, 1, 1, 1, 1]
    for (axis, size) in zip(axes, shape) { sizes[axis] = size }
    if shape.count > 4, !isImage { return sizes }
    return axes.contains(3) || axes.contains(4) ? Array(sizes.suffix(3)) : [sizes[2]]
  }
}

enum InputShapes {
  /// The shapes of a layer's tops; nil if the file does not state one.
  static func shapes(_ layer: LayerCall) throws -> [[Int]?] {
    let field: String
    switch layer.type {
    case "Input": field = "input_param"
    case "DummyData": field = "dummy_data_param"
    case "MemoryData":
      let sizes = try ["batch_size", "channels", "height", "width"].map {
        try layer.parameters("memory_data_param").int($0, default: 0, atLeast: 0)
      }
      return [sizes.contains(0) ? nil : sizes, [sizes[0]]]
    default: return try images(layer)
    }
    let parameters = layer.parameters(field)
    var shapes = try parameters.messages("shape").map { try $0.ints("dim", atLeast: 0) }
    if shapes.isEmpty, layer.type == "DummyData" {
      let sizes = try ["num", "channels", "height", "width"].map {
        try parameters.ints($0, atLeast: 1)
      }
      shapes = (0..<(sizes.map(\.count).min() ?? 0)).map { index in sizes.map { $0[index] } }
    }
    return layer.tops.indices.map { index in
      shapes.count == 1 ? shapes[0] : shapes.indices.contains(index) ? shapes[index] : nil
    }
  }

  /// The shape from a layer that reads image files: the size to which it crops or scales them.
  private static func images(_ layer: LayerCall) throws -> [[Int]?] {
    let transformation = layer.parameters("transform_param")
    let reader = layer.parameters("image_data_param")
    let crop = try transformation.int("crop_size", default: 0, atLeast: 0)
    var sizes = [crop, crop]
    if crop == 0 { sizes = try ["crop_h", "crop_w"].map { try transformation.size($0) } }
    if sizes.contains(0) {
      let scaled = transformation.message("resize_param")
      sizes = try ["height", "width"].map { try scaled.size($0) }
    }
    if sizes.contains(0) { sizes = try ["new_height", "new_width"].map { try reader.size($0) } }
    guard !sizes.contains(0) else { return layer.tops.map { _ in nil } }
    let isGray =
      try transformation.bool("force_gray", default: false)
      || !reader.bool("is_color", default: true)
    return layer.tops.indices.map { $0 == 0 ? [1, isGray ? 1 : 3] + sizes : [1] }
  }

  /// The shape of one input: the declared one, overridden by sizes from the user.
  ///
  /// - Parameter channels: the number of channels in the weights of the first layer.
  static func shape(
    _ declared: [Int]?, requested: [Int?]?, channels: Int?, name: String, layer: LayerCall
  ) throws -> [Int] {
    let hint =
      "set it with \(setting: "inputShape") \(name.shellWord)=1,\(channels ?? 3),224,224, in Caffe's order, batch first"
    var declared = declared
    if let channels, layer.type != "Input", declared?.count == 4 { declared?[1] = channels }
    guard let requested else {
      guard let declared else {
        throw layer.error(
          "the file does not state the shape of input '\(name)'"
            + (channels.map { ", whose weights take \(counted($0, "channel"))" } ?? ""),
          code: .mismatch, hint: hint)
      }
      try layer.require(
        !declared.contains(0) && !declared.isEmpty && declared.count <= Limits.rank,
        "input '\(name)' has the shape \(declared)", code: .mismatch, hint: hint)
      _ = try checked(declared, layer)
      return declared
    }
    try layer.require(
      declared == nil || requested.count == declared?.count,
      "\(setting: "inputShape") gives \(requested.count) sizes for input '\(name)', whose shape is \(declared ?? [])",
      code: .mismatch)
    let shape = requested.enumerated().map { index, size in
      size ?? declared?[index] ?? (index == 0 ? 1 : index == 1 ? channels ?? 0 : 0)
    }
    guard !shape.contains(0), !shape.isEmpty, shape.count <= Limits.rank else {
      throw layer.error("input '\(name)' has the shape \(shape)", code: .mismatch, hint: hint)
    }
    return try checked(shape, layer)
  }

  /// A note about declared sizes that may be placeholders for sizes set at run time.
  ///
  /// - Throws: if they certainly are.
  static func placeholderNote(_ shape: [Int], name: String, layer: LayerCall) throws -> String? {
    guard shape.count == 4, shape[2] == shape[3] else { return nil }
    let example = "\(setting: "inputShape") \(name.shellWord)=1,\(shape[1]),368,368"
    try layer.require(
      shape[2] > 1,
      "input '\(name)' is declared with 1 × 1 elements, a placeholder for a size that is set later",
      code: .mismatch, hint: "set it with \(example), in Caffe's order, batch first")
    // OpenPose's networks declare this size.
    guard shape[2] == 16, shape[1] == 3 else { return nil }
    return "input '\(name)' has \(shape[2]) × \(shape[3]) elements in the file; if that "
      + "is a placeholder for a size that is set later, set it with \(example)"
  }

  private static func checked(_ shape: [Int], _ layer: LayerCall) throws -> [Int] {
    try layer.require(
      shape.count <= 5, "the input has \(shape.count) axes; Core ML has five", code: .unsupported)
    do {
      _ = try checkedProduct(shape, limit: Limits.tensorElements)
    } catch let error as ModelError { throw error.inLayer(layer.name, class: layer.type) }
    return shape
  }
}

extension CaffeParameters {
  /// The size in a field; 0 if missing.
  fileprivate func size(_ field: String) throws -> Int { try int(field, default: 0, atLeast: 0) }

  /// Whether the layer's windows have more than one element.
  fileprivate var hasWindows: Bool {
    let sizes = [
      (try? ints("kernel_size")) ?? [], (try? [size("kernel_h"), size("kernel_w")]) ?? [],
    ]
    return sizes.joined().contains { $0 > 1 }
  }
}

/// The layers that read an input, and what they reveal about it.
struct InputReaders {
  let readers: [(layer: LayerCall, bottom: Int)]
  let weights: CaffeWeights?

  /// The number of input channels in a convolution's weights.
  var channels: Int? {
    for (layer, _) in readers where layer.type == "Convolution" {
      guard let shape = weights?[layer.name]?.first?.shape, shape.count == 4, shape[1] > 0,
        let group = try? layer.parameters("convolution_param").int("group", default: 1, atLeast: 1),
        let channels = try? checkedProduct([shape[1], group], limit: Limits.dimension)
      else { continue }
      return channels
    }
    return nil
  }

  /// The positions in which all readers want the axes of the input, or the standard ones.
  func axes(_ shape: [Int]) -> [Int] {
    let wanted = readers.map { reader in
      CaffeLayerRegistry.type(named: reader.layer.type)?
        .inputAxes(reader.layer, reader.bottom, shape)
    }
    if let first = wanted.first ?? nil, wanted.allSatisfy({ $0 == first }),
      first.count == shape.count, Set(first).count == first.count,
      first.allSatisfy((0..<5).contains)
    {
      return first
    }
    return CaffeTensor.standardAxes(shape.count)
  }

  /// The vector size in the weights of inner products, if only these read the input.
  var vector: [Int]? {
    let sizes = readers.map { reader -> Int? in
      guard reader.layer.type == "InnerProduct",
        (try? reader.layer.parameters("inner_product_param").int("axis", default: 1)) == 1
      else { return nil }
      return weights?[reader.layer.name]?.first?.shape.last
    }
    guard let size = sizes.first ?? nil, sizes.allSatisfy({ $0 == size }) else { return nil }
    return [1, size]
  }

  /// Whether a layer's windows need more room than an image of one element.
  var needsRoom: Bool {
    readers.contains { reader in
      switch reader.layer.type {
      case "Convolution": reader.layer.parameters("convolution_param").hasWindows
      case "Pooling": reader.layer.parameters("pooling_param").hasWindows
      default: false
      }
    }
  }
}
