import CoreMLModel
import TensorCore

/// Sampling of images at points between their pixels.
let samplingRules: [OperationRule] = [
  OperationRule(
    "resample",
    "x coordinates sampling_mode padding_mode padding_value coordinates_mode align_corners",
    "samples x at the coordinates, by linear interpolation or nearest neighbor"
  ) { try $0.resampled() },
  OperationRule(
    "affine",
    "x transform_matrix output_height output_width sampling_mode padding_mode padding_value "
      + "coordinates_mode align_corners",
    "x at a₀·x + a₁·y + a₂, b₀·x + b₁·y + b₂ for each x and y in −1…1"
  ) { try $0.transformed() },
  OperationRule(
    "crop_resize",
    "x roi? boxes? box_indices? target_height? target_width? normalized_coordinates? "
      + "spatial_scale? box_coordinate_mode? sampling_mode? pad_value?",
    "crops boxes from images and resizes them"
  ) { try $0.cropped() },
]

/// The values outside an image.
private enum Outside {
  /// A constant for each pixel outside, before interpolation.
  case pixels(ProgramValue)
  /// A constant for each point outside, instead of interpolation.
  case points(ProgramValue)
  /// The nearest pixel.
  case border
}

extension OperationCall {
  // MARK: - Arithmetic

  func plus(_ a: ProgramValue, _ b: ProgramValue) throws -> ProgramValue {
    try add(AddBroadcastable(), a, b)
  }

  func minus(_ a: ProgramValue, _ b: ProgramValue) throws -> ProgramValue {
    try add(SubtractBroadcastable(), a, b)
  }

  func times(_ a: ProgramValue, _ b: ProgramValue) throws -> ProgramValue {
    try add(MultiplyBroadcastable(), a, b)
  }

  /// factor · x + offset
  func linear(_ x: ProgramValue, _ factor: Float, _ offset: Float = 0) throws -> ProgramValue {
    factor == 1 && offset == 0 ? x : try add(Activation(.linear(alpha: factor, beta: offset)), x)
  }

  fileprivate func absolute(_ x: ProgramValue) throws -> ProgramValue {
    try add(Unary().with(\.type, .abs), x)
  }

  // MARK: - Sampling

  /// Samples images at points.
  ///
  /// - Parameters:
  ///   - x: [B, C, H, W].
  ///   - points: columns and rows, each [N, P].
  ///   - images: the image of each row of points, [N, 1].
  /// - Returns: [N, P, C].
  private func sampled(
    _ x: ProgramValue, _ points: (x: ProgramValue, y: ProgramValue), images: ProgramValue,
    isNearest: Bool, _ outside: Outside
  ) throws -> ProgramValue {
    let (height, width) = (x.shape[2], x.shape[3])
    let count = try checkedProduct([x.shape[0], height, width])
    // Positions are computed in single precision.
    try require(
      count <= 1 << 24, .unsupported, "sampling from \(count) pixels; at most 2²⁴ are supported",
      field: "x")
    let pixels = try reshaped(transposed(x, [0, 2, 3, 1]), [count, x.shape[1]])
    let bases = try linear(images.with(type: .int32), Float(height * width))
    func each(_ value: ProgramValue) throws -> ProgramValue {
      try reshaped(value, value.shape + [1])
    }
    func isInside(_ column: ProgramValue, _ row: ProgramValue) throws -> ProgramValue {
      func within(_ value: ProgramValue, _ size: Int) throws -> ProgramValue {
        try add(
          LogicalAnd(), add(GreaterEqual().with(\.alpha, 0), value, type: .bool),
          add(LessEqual().with(\.alpha, Float(size - 1)), value, type: .bool))
      }
      return try each(add(LogicalAnd(), within(column, width), within(row, height)))
    }
    func pixel(_ column: ProgramValue, _ row: ProgramValue) throws -> ProgramValue {
      let (row, column) = (row.with(type: .int32), column.with(type: .int32))
      let position = try plus(
        plus(bases, linear(clipped(row, 0, Float(height - 1)), Float(width))),
        clipped(column, 0, Float(width - 1)))
      let found = try add(Gather(), pixels, position, type: x.type)
      guard case .pixels(let value) = outside else { return found }
      return try add(WhereBroadcastable(), isInside(column, row), found, value, type: x.type)
    }
    var result: ProgramValue
    if isNearest {
      result = try pixel(add(Round(), points.x), add(Round(), points.y))
    } else {
      let (left, top) = (try add(Floor(), points.x), try add(Floor(), points.y))
      let (right, bottom) = (try linear(left, 1, 1), try linear(top, 1, 1))
      let (across, down) = (try each(minus(points.x, left)), try each(minus(points.y, top)))
      func row(_ y: ProgramValue) throws -> ProgramValue {
        let first = try pixel(left, y)
        return try plus(first, times(minus(pixel(right, y), first), across))
      }
      let first = try row(top)
      result = try plus(first, times(minus(row(bottom), first), down))
    }
    if case .points(let value) = outside {
      result = try add(
        WhereBroadcastable(), isInside(points.x, points.y), result, value, type: x.type)
    }
    return result
  }

  /// 0, 1, … count − 1 as [count, 1].
  private func imageNumbers(_ count: Int) -> ProgramValue {
    constant((0..<count).map { Float($0) }, [count, 1], .float32)
  }

  /// Columns and rows in pixels.
  private func pixels(
    _ coordinates: ProgramValue, _ size: Int, _ mode: String, alignsCorners: Bool
  ) throws -> ProgramValue {
    let span = alignsCorners ? Float(size - 1) : Float(size)
    let shift: Float = alignsCorners ? 0 : -0.5
    switch mode {
    case "unnormalized": return coordinates
    case "normalized_minus_one_to_one":
      return try linear(coordinates, span / 2, span / 2 + shift)
    case "normalized_zero_to_one": return try linear(coordinates, span, shift)
    default:
      throw ModelError(.unsupported, "mode '\(mode)' is not supported", field: "coordinates_mode")
    }
  }

  /// Reflects coordinates at −margin and size − 1 + margin until they are inside.
  private func mirrored(
    _ coordinates: ProgramValue, _ size: Int, margin: Float
  ) throws -> ProgramValue {
    let span = Float(size - 1) + 2 * margin
    if span == 0 { return try linear(coordinates, 0) }
    let distance = try absolute(linear(coordinates, 1, margin))
    let period = try add(ModBroadcastable(), distance, scalar(2 * span, coordinates.type))
    return try linear(absolute(linear(period, 1, -span)), -1, span - margin)
  }

  private func sampled(
    _ x: ProgramValue, _ points: (x: ProgramValue, y: ProgramValue), _ outputs: [Int]
  ) throws -> ProgramValue {
    let alignsCorners = try bool("align_corners")
    let mode = try string("coordinates_mode", "")
    let sampling = try string("sampling_mode", "").lowercased()
    try require(
      ["bilinear", "nearest"].contains(sampling), .unsupported,
      "mode '\(sampling)' is not supported", field: "sampling_mode")
    var column = try pixels(points.x, x.shape[3], mode, alignsCorners: alignsCorners)
    var row = try pixels(points.y, x.shape[2], mode, alignsCorners: alignsCorners)
    var outside = Outside.border
    switch try string("padding_mode", "") {
    case "constant": outside = .pixels(scalar(try float("padding_value", 0), x.type))
    case "border":
      column = try clipped(column, 0, Float(x.shape[3] - 1))
      row = try clipped(row, 0, Float(x.shape[2] - 1))
    case "reflection":
      column = try mirrored(column, x.shape[3], margin: 0)
      row = try mirrored(row, x.shape[2], margin: 0)
    case "symmetric":
      column = try mirrored(column, x.shape[3], margin: 0.5)
      row = try mirrored(row, x.shape[2], margin: 0.5)
    case let mode:
      throw ModelError(.unsupported, "mode '\(mode)' is not supported", field: "padding_mode")
    }
    let found = try sampled(
      x, (column, row), images: imageNumbers(x.shape[0]), isNearest: sampling == "nearest", outside)
    return try reshaped(transposed(found, [0, 2, 1]), Array(x.shape[..<2]) + outputs)
  }

  fileprivate func resampled() throws -> [ProgramValue] {
    let (x, coordinates) = (try value("x"), try value("coordinates"))
    try require(x.rank == 4, "the input has rank \(x.rank), not 4", field: "x")
    let shape = coordinates.shape
    try require(
      shape.count == 4 && shape[0] == x.shape[0] && shape[3] == 2,
      "the shape is \(shape); [\(x.shape[0]), H, W, 2] is needed", field: "coordinates")
    let count = try checkedProduct([shape[1], shape[2]], limit: Limits.dimension)
    let points = try parts(of: reshaped(coordinates, [shape[0], count, 2]), along: 2)
    return [
      try sampled(
        x, (points[0].with(type: .float32), points[1].with(type: .float32)),
        [
          shape[1], shape[2],
        ])
    ]
  }

  /// The elements along an axis as arrays without it.
  func parts(of value: ProgramValue, along axis: Int) throws -> [ProgramValue] {
    var shape = value.shape
    let count = shape.remove(at: axis)
    if count == 1 { return [try reshaped(value, shape)] }
    let layer = SplitND().with(\.axis, axis).with(\.numSplits, count)
    let types = [MILDataType](repeating: value.type, count: count)
    return try addAll(layer, [value], types: types).map { try reshaped($0, shape) }
  }

  fileprivate func transformed() throws -> [ProgramValue] {
    let (x, matrix) = (try value("x"), try value("transform_matrix"))
    try require(x.rank == 4, "the input has rank \(x.rank), not 4", field: "x")
    let batch = x.shape[0]
    try require(
      matrix.rank == 2 && matrix.shape[1] == 6 && [1, batch].contains(matrix.shape[0]),
      "the shape is \(matrix.shape); [\(batch), 6] is needed", field: "transform_matrix")
    try require(
      try string("coordinates_mode", "") == "normalized_minus_one_to_one" && bool("align_corners"),
      .unsupported, "only coordinates of −1…1 between the centers of the corners are supported",
      field: "coordinates_mode")
    let (height, width) = (try size("output_height"), try size("output_width"))
    let count = try checkedProduct([height, width], limit: Limits.dimension)
    func steps(_ count: Int, _ shape: [Int]) -> ProgramValue {
      constant(
        (0..<count).map { count == 1 ? -1 : -1 + 2 * Float($0) / Float(count - 1) }, shape, x.type)
    }
    let (across, down) = (steps(width, [1, 1, width]), steps(height, [1, height, 1]))
    let numbers = try parts(of: broadcast(matrix, to: [batch, 6]), along: 1).map {
      try reshaped($0, [batch, 1, 1])
    }
    func coordinates(_ position: Int) throws -> ProgramValue {
      let turned = try plus(
        times(numbers[position], across), times(numbers[position + 1], down))
      return try reshaped(plus(turned, numbers[position + 2]), [batch, count])
    }
    return [try sampled(x, (coordinates(0), coordinates(3)), [height, width])]
  }

  /// A size of an output; 1 if it is missing.
  private func size(_ name: String) throws -> Int {
    let size = try int(name) ?? 1
    try require(size > 0 && size <= Limits.dimension, "\(size)", field: name)
    return size
  }

  // MARK: - Boxes

  /// Since iOS 17, boxes are [N, 4], with the image index of each; before, [N, 1, 4 or 5, 1, 1],
  /// where five numbers start with the image index, and four apply to every image.
  fileprivate func cropped() throws -> [ProgramValue] {
    let x = try input(ranks: 4...4)
    let size = [try size("target_height"), try size("target_width")]
    guard let roi = try optional("roi") else {
      let boxes = try value("boxes")
      let count = boxes.shape.first ?? 0
      try require(
        boxes.shape == [count, 4], "the shape is \(boxes.shape), not \([count, 4])", field: "boxes")
      let images = try optional("box_indices") ?? imageNumbers(count)
      try require(
        try checkedProduct(images.shape) == count, "the shape is \(images.shape)",
        field: "box_indices")
      return [try crops(x, boxes, reshaped(images, [count, 1]).with(type: .float32), size)]
    }
    let shape = roi.shape
    try require(
      shape.count == 5 && [shape[1], shape[3], shape[4]] == [1, 1, 1] && [4, 5].contains(shape[2]),
      "the shape is \(shape); [N, 1, 4 or 5, 1, 1] is needed", field: "roi")
    let (count, batch) = (shape[0], shape[2] == 5 ? 1 : x.shape[0])
    if try optional("pad_value") == nil, let mode = try samplingGrid().method {
      var layer = CropResize()
      layer.targetSize = size
      layer.normalizedCoordinates = try bool("normalized_coordinates")
      layer.spatialScale = try float("spatial_scale", 1)
      layer.boxIndicesMode = try boxMode()
      layer.mode = mode
      return [try add(layer, reshaped(x, [1] + x.shape), roi)]
    }
    var boxes = try reshaped(roi, [count, shape[2]])
    var images: ProgramValue
    if shape[2] == 5 {
      let numbers = try parts(of: boxes, along: 1).map { try reshaped($0, [count, 1]) }
      boxes = try concatenated(Array(numbers[1...]), 1)
      images = numbers[0]
    } else {
      // Each box is cropped from each image.
      let total = try checkedProduct([count, batch], limit: Limits.dimension)
      boxes = try reshaped(
        broadcast(reshaped(boxes, [count, 1, 4]), to: [count, batch, 4]), [total, 4])
      images = constant((0..<total).map { Float($0 % batch) }, [total, 1], .float32)
    }
    return [try reshaped(crops(x, boxes, images, size), [count, batch, x.shape[1]] + size)]
  }

  private func boxMode() throws -> CropResize.BoxCoordinates {
    try mode("box_coordinate_mode", .cornersHeightFirst)
  }

  /// Crops the boxes [N, 4] from the images with the indices [N, 1], each as [C, H, W].
  private func crops(
    _ x: ProgramValue, _ boxes: ProgramValue, _ images: ProgramValue, _ size: [Int]
  ) throws -> ProgramValue {
    let mode = try boxMode()
    let isWidthFirst = [.cornersWidthFirst, .centerSizeWidthFirst].contains(mode)
    let isCentered = [.centerSizeHeightFirst, .centerSizeWidthFirst].contains(mode)
    let numbers = try parts(of: boxes.with(type: x.type), along: 1)
    let scale = try float("spatial_scale", 1)
    let isNormalized = try bool("normalized_coordinates")
    let grid = try samplingGrid()
    let count = boxes.shape[0]
    let (zero, one) = (scalar(0, x.type), scalar(1, x.type))
    /// The points along an axis, [N, points].
    func points(_ position: Int, _ length: Int, _ points: Int) throws -> ProgramValue {
      let unit = scale * (isNormalized ? Float(length - 1) : 1)
      var first = try reshaped(linear(numbers[position], unit), [count, 1])
      var extent = try reshaped(linear(numbers[position + 2], unit), [count, 1])
      if isCentered {
        first = try minus(first, linear(extent, 0.5))
      } else {
        extent = try minus(extent, first)
      }
      let (offset, slope) = grid.points(points)
      var stretch = extent
      if grid == .offsetCorners { stretch = try add(MaxBroadcastable(), extent, one) }
      let inside = try plus(
        times(stretch, constant(slope.map { Float($0) }, [1, points], x.type)),
        constant(offset.map { Float($0) }, [1, points], x.type))
      // A box may end before it starts.
      let low = try add(MinBroadcastable(), extent, zero)
      let high = try add(MaxBroadcastable(), extent, zero)
      return try plus(first, add(MinBroadcastable(), add(MaxBroadcastable(), inside, low), high))
    }
    let rows = try points(isWidthFirst ? 1 : 0, x.shape[2], size[0])
    let columns = try points(isWidthFirst ? 0 : 1, x.shape[3], size[1])
    let total = try checkedProduct(size, limit: Limits.dimension)
    func spread(_ points: ProgramValue, _ shape: [Int]) throws -> ProgramValue {
      try reshaped(broadcast(reshaped(points, shape), to: [count] + size), [count, total])
    }
    let pad = scalar(try float("pad_value", 0), x.type)
    let found = try sampled(
      x, (spread(columns, [count, 1, size[1]]), spread(rows, [count, size[0], 1])), images: images,
      isNearest: false, .points(pad))
    return try reshaped(transposed(found, [0, 2, 1]), [count, x.shape[1]] + size)
  }
}
