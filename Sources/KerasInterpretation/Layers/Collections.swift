import Interpretation
import LibC
import TensorCore

/// Small layers that model packages share, and preprocessing layers.
enum Collections {
  static let operations: [String: KerasOperations.Operation] = [
    // x₀ + scale · x₁, of Inception-ResNet v2.
    "CustomScaleLayer": { run in
      try run.require(run.inputs.count == 2, "\(run.inputs.count) inputs")
      let scale = run.double("scale", default: 1)
      return [
        KerasValue(array: try Merges.broadcast(run.input, run.inputs[1].array) { $0 + scale * $1 })
      ]
    },
    "DeprocessStylizedImage": { Elements.same($0, $0.input.map { ($0 + 1) * 127.5 }) },
    "LayerScale": { run in
      let gamma = try run.vector(0, run.input.shape.last ?? 0)
      var result = run.input
      for index in result.values.indices { result.values[index] *= gamma[index % gamma.count] }
      return Elements.same(run, result)
    },
    "SubPixelUpscaling": blocks, "ReflectionPadding2D": reflected, "UpsampleLike": like,
    "CenterCrop": centerCrop, "CategoryEncoding": { try [encoded($0, $0.input)] },
    "Discretization": discretization, "IntegerLookup": lookup,
  ]

  /// Depth to space: channel (i · factor + j) · depth + c goes to row i, column j of its block.
  private static func blocks(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 4)
    try run.require(!run.isChannelsFirst, "channels first")
    let factor = try run.sizes("scale_factor", "size", "block_size", count: 2, default: 2)[0]
    let shape = run.input.shape
    let area = try checkedProduct([factor, factor])
    try run.require(shape[3] % area == 0, "\(shape[3]) channels")
    let depth = shape[3] / area
    let split = try run.input.reshaped([shape[0], shape[1], shape[2], factor, factor, depth])
    let turned = split.transposed([0, 1, 3, 2, 4, 5])
    return [
      KerasValue(
        array: try turned.reshaped([
          shape[0], turned.shape[1] * factor, turned.shape[3] * factor, depth,
        ]))
    ]
  }

  /// Pads by reflection, without repeating the border.
  private static func reflected(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 4)
    let margins = try run.sizes("padding", count: 2)
    var array = run.planes(run.input)
    for (axis, margin) in margins.enumerated() {
      let size = array.shape[axis + 2]
      try run.require(margin < size, "a margin of \(margin) of \(size)")
      let positions = (-margin..<size + margin).map { position in
        position < 0 ? -position : position < size ? position : 2 * size - 2 - position
      }
      array = DoubleArray.concatenated(
        positions.map { array.slice(axis + 2, $0..<$0 + 1) }, axis: axis + 2)
    }
    return [KerasValue(array: run.layout(array))]
  }

  /// Resizes to the second input's rows and columns by nearest neighbor: ⌊position · from / to⌋.
  private static func like(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 4)
    try run.require(
      run.inputs.count == 2 && run.inputs[1].array.rank == 4, "\(run.inputs.count) inputs")
    let target = run.planes(run.inputs[1].array).shape
    var array = run.planes(run.input)
    for axis in 2...3 {
      let size = array.shape[axis]
      try run.require(target[axis] > 0 && size > 0, "an empty image")
      let source = array
      array = DoubleArray.concatenated(
        (0..<target[axis]).map { step in
          let position = step * size / target[axis]
          return source.slice(axis, position..<position + 1)
        }, axis: axis)
    }
    return [KerasValue(array: run.layout(array))]
  }

  private static func centerCrop(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 4)
    var array = run.planes(run.input)
    let sizes = [
      try run.sizes("height", count: 1)[0], try run.sizes("width", count: 1)[0],
    ]
    for (axis, size) in sizes.enumerated() {
      let length = array.shape[axis + 2]
      try run.require(size <= length, "enlarging its input is not interpreted")
      let start = (length - size) / 2
      array = array.slice(axis + 2, start..<start + size)
    }
    return [KerasValue(array: run.layout(array))]
  }

  /// One-hot or multi-hot encoding: one row per index, or one row for all indices along the last
  /// axis.
  private static func encoded(
    _ run: LayerRun, _ indices: DoubleArray, count: Int? = nil
  ) throws -> KerasValue {
    try run.require(run.inputs.count == 1, "\(run.inputs.count) inputs")
    let count = try run.sizes(
      "num_tokens", count: 1,
      default: count ?? (run.field("bin_boundaries")?.array?.count ?? 0) + 1)[0]
    let mode = run.field("output_mode")?.string ?? "multi_hot"
    try run.require(["one_hot", "multi_hot", "count"].contains(mode), "its output_mode '\(mode)'")
    let isEach = mode == "one_hot"
    let width = isEach ? 1 : max(1, indices.shape.last ?? 1)
    // The codes replace an axis of length 1.
    var shape = isEach && indices.shape.last != 1 ? indices.shape : Array(indices.shape.dropLast())
    shape.append(count)
    var result = try DoubleArray(shape: shape)
    for (position, number) in indices.values.enumerated() {
      guard number >= 0, number < Double(count), number == number.rounded() else {
        throw run.missing("the index \(number) is not a whole number below \(count)")
      }
      let index = position / width * count + Int(number)
      result.values[index] = mode == "count" ? result.values[index] + 1 : 1
    }
    return KerasValue(array: result)
  }

  /// The number of boundaries less than or equal to the value.
  private static func discretization(_ run: LayerRun) throws -> [KerasValue] {
    let boundaries = run.field("bin_boundaries")?.array?.compactMap(\.double) ?? []
    let positions = run.input.map { value in
      Double(boundaries.reduce(0) { Double(Float($1)) <= value ? $0 + 1 : $0 })
    }
    let mode = run.field("output_mode")?.string ?? "int"
    return mode == "int" ? [KerasValue(array: positions)] : [try encoded(run, positions)]
  }

  /// The indices of numbers in the vocabulary, after the indices of masked and unknown numbers.
  private static func lookup(_ run: LayerRun) throws -> [KerasValue] {
    let isInt = run.field("output_mode")?.string ?? "int" == "int"
    let specials = [run.field("mask_token")?.double, run.field("oov_token")?.double]
    let mask = isInt ? specials[0] : nil
    let unknowns = run.field("num_oov_indices")?.int ?? 1
    var words = run.field("vocabulary")?.array?.compactMap(\.double) ?? []
    for special in specials where special != nil && words.first == special { words.removeFirst() }
    try run.require(
      (0...1).contains(unknowns) && !run.bool("invert"), "its num_oov_indices or invert")
    let first = unknowns + (mask == nil ? 0 : 1)
    let positions = try run.input.map { number -> Double in
      if number == mask { return 0 }
      let position = words.firstIndex(of: number)
      try run.require(
        position != nil || unknowns == 1 && number == number.rounded(),
        "\(number) is not in its vocabulary")
      return Double(position.map { $0 + first } ?? first - 1)
    }
    if isInt { return [KerasValue(array: positions)] }
    let width = run.bool("pad_to_max_tokens") ? run.field("max_tokens")?.int : nil
    return [try encoded(run, positions, count: width ?? words.count + first)]
  }
}
