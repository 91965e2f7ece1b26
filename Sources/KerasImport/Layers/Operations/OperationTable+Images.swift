import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension OperationTable {
  /// Padding, resizing and rearranging images.
  static let images: [Operation] = [
    Operation("pad", "padv2") { call, input, network in
      let json = try call.constant(1, "paddings", "pad_width").orThrow(
        call.layer.error("its borders are missing"))
      let numbers = try call.numbers(json)
      guard numbers.values.allSatisfy({ $0.magnitude <= Float(1 << 30) }) else {
        throw call.layer.unsupported("the borders \(json.text) are not supported")
      }
      let borders: [[Int]]
      switch numbers.shape.count {
      case 0:
        borders = Array(
          repeating: [Int(numbers.values[0]), Int(numbers.values[0])], count: input.rank)
      case 2 where numbers.shape == [input.rank, 2]:
        borders = (0..<input.rank).map { axis in
          [Int(numbers.values[2 * axis]), Int(numbers.values[2 * axis + 1])]
        }
      default: throw call.layer.unsupported("the borders \(json.text) are not supported")
      }
      let mode = try call.string(2, "mode", default: "constant").lowercased()
      let value = try call.double(3, "constant_values", default: 0)
      return [try call.padded(input, borders, mode, Float(value), into: &network)]
    },
    Operation("resize", "resizev2") { call, network in
      let method = try call.string(2, "method", "interpolation", default: "bilinear").lowercased()
      return try call.resized(method, into: &network)
    },
    // This name exists only in TensorFlow 1.
    Operation("resizeimages") { call, network in
      // The values of TensorFlow 1's ResizeMethod.
      let number = try call.constant(2, "method")?.int ?? -1
      let methods = ["bilinear", "nearest", "bicubic", "area"]
      let method =
        try methods.indices.contains(number)
        ? methods[number] : call.string(2, "method", default: "bilinear")
      return try call.resizedAsVersion1(method, into: &network)
    },
    Operation("resizebilinear") { try $0.resizedAsVersion1("bilinear", into: &$1) },
    Operation("resizenearestneighbor") { try $0.resizedAsVersion1("nearest", into: &$1) },
    Operation("croptoboundingbox", "cropimages") { call, input, network in
      guard input.rank == 4, let height = input.shape[1], let width = input.shape[2] else {
        throw call.layer.unsupported("cropping \(input.shapeText) is not supported")
      }
      let top = try call.int(1, "offset_height", "top_cropping", default: 0)
      let left = try call.int(2, "offset_width", "left_cropping", default: 0)
      let bottom = try call.int(nil, "bottom_cropping", default: 0)
      let right = try call.int(nil, "right_cropping", default: 0)
      let rows = try call.int(3, "target_height", default: height - top - bottom)
      let columns = try call.int(4, "target_width", default: width - left - right)
      guard top >= 0, left >= 0, rows > 0, columns > 0, top + rows <= height,
        left + columns <= width
      else { throw call.layer.error("the part is outside \(input.shapeText)") }
      let part = try call.slice(input, 1, top..<top + rows, "__rows__", into: &network)
      return [try call.slice(part, 2, left..<left + columns, "", into: &network)]
    },
    Operation("grayscaletorgb") { call, input, network in
      return try network.concatenated(axis: -1, call.call([input, input, input]))
    },
    .elements("adjustbrightness") { call, blob, network in
      network.affine(blob, 1, Float(try call.double(1, "delta", default: 0)), call.name)
    },
    block("depthtospace", .depthToSpace), block("spacetodepth", .spaceToDepth),
    Operation("rgbtohsv", "hsvtorgb") { call, input, network in
      try call.layer.require(
        input.rank == 4 && input.channels == 3, "its input \(input.shapeText) is not a color image")
      let channels = try (0..<3).map {
        try call.slice(input, 3, $0..<$0 + 1, "__\($0)__", into: &network)
      }
      // x, y and z are red, green and blue.
      let (largest, range) = ("max(x, max(y, z))", "(max(x, max(y, z)) - min(x, min(y, z)))")
      let step = "where(\(range) == 0, 1, 6 * \(range))"
      let hue =
        "where(x == \(largest), (y - z) / \(step) + (y < z), where(y == \(largest), "
        + "0.3333333333333333 + (z - x) / \(step), 0.6666666666666666 + (x - y) / \(step)))"
      let texts =
        call.layer.className.lowercased() == "rgbtohsv"
        ? [hue, "\(range) / where(\(largest) == 0, 1, \(largest))", largest]
        : ["abs(6 * x - 3) - 1", "2 - abs(6 * x - 2)", "2 - abs(6 * x - 4)"].map {
          "z * (1 - y + y * max(0, min(1, \($0))))"
        }
      let results = try texts.enumerated().flatMap { index, text in
        try FormulaConversion(
          formula: LayerFormula(Expression(parsing: text), inputs: ["x", "y", "z"])
        ).convert(
          call.layer.with(name: "\(call.name)__channel_\(index)__", inputs: channels),
          into: &network)
      }
      return try network.concatenated(axis: -1, call.call(results))
    },
    Operation("rgbtograyscale") { call, network in
      let input = network.relaid(try call.input, to: .image, for: call.name)
      try call.layer.require(
        input.rank == 4 && input.channels == 3, "its input \(input.shapeText) is not a color image")
      var output = input
      output.shape[3] = 1
      // Luminance according to ITU-R BT.601.
      let luminance = Convolution.pointwise(
        Weights([0.2989, 0.587, 0.114]), inputs: 3, outputs: 1)
      output.blob = network.add(call.name, luminance, [input.blob])
      return [output]
    },
  ]

  private static func block(_ name: String, _ mode: ReorganizeData.Mode) -> Operation {
    Operation(name) { call, network in
      try call.layer.require(
        call.string(nil, "data_format", default: "NHWC") == "NHWC",
        unsupported: "channels first is not supported")
      let input = network.relaid(try call.input, to: .image, for: call.name)
      let size = try call.int(1, "block_size", default: 2)
      guard input.rank == 4, size > 1, let height = input.shape[1], let width = input.shape[2],
        let channels = input.channels
      else {
        throw call.layer.unsupported("blocks of \(size) of \(input.shapeText) are not supported")
      }
      let area = try checkedProduct([size, size])
      var output = input
      if mode == .depthToSpace {
        try call.layer.require(
          channels % area == 0, "\(channels) channels are not divisible by the block area \(area)")
        output.shape = [
          input.shape[0], try checkedProduct([height, size]), try checkedProduct([width, size]),
          channels / area,
        ]
      } else {
        guard height % size == 0, width % size == 0 else {
          throw call.layer.error("\(input.shapeText) is not divisible into blocks of \(size)")
        }
        output.shape = [
          input.shape[0], height / size, width / size, try checkedProduct([channels, area]),
        ]
      }
      output.blob = network.add(
        call.name, ReorganizeData().with(\.mode, mode).with(\.blockSize, size), [input.blob])
      return [output]
    }
  }
}

extension OperationCall {
  fileprivate func padded(
    _ tensor: KerasTensor, _ borders: [[Int]], _ mode: String, _ value: Float,
    _ suffix: String = "", into network: inout KerasWriter
  ) throws -> KerasTensor {
    let axes = borders.indices.filter { borders[$0] != [0, 0] }
    guard borders.allSatisfy({ $0.allSatisfy { (0...Limits.dimension).contains($0) } }) else {
      throw layer.unsupported("the borders \(borders) are not supported")
    }
    if axes.isEmpty { return tensor }
    try layer.require(
      axes.allSatisfy({ $0 > 0 }), unsupported: "borders on the batch are not supported")
    if mode == "symmetric" { return try mirrored(tensor, borders, into: &network) }
    if axes.count > 2 {
      // Pads two axes at a time.
      var rest = borders
      var first = borders.map { _ in [0, 0] }
      for axis in axes.prefix(2) { (first[axis], rest[axis]) = (borders[axis], [0, 0]) }
      return try padded(
        padded(tensor, first, mode, value, "__\(axes[0])__" + suffix, into: &network), rest, mode,
        value, suffix, into: &network)
    }
    // The padded axes are moved to H and W.
    var input = tensor
    var layout = input.layout
    for axis in axes where layout.axes[axis - 1] != .height && layout.axes[axis - 1] != .width {
      let taken = axes.map { layout.axes[$0 - 1] }
      guard let place = [BlobAxis.width, .height].first(where: { !taken.contains($0) }) else {
        continue
      }
      if let other = layout.axes.firstIndex(of: place) {
        layout.axes[other] = layout.axes[axis - 1]
      }
      layout.axes[axis - 1] = place
    }
    input = network.relaid(input, to: layout, for: name)
    var amounts: [BlobAxis: [Int]] = [:]
    for axis in axes {
      amounts[layout.axes[axis - 1]] = borders[axis]
      if let size = input.shape[axis] {
        input.shape[axis] = try checkedSum([size] + borders[axis], limit: Limits.dimension)
      }
    }
    let kind: Padding.Kind
    switch mode {
    case "constant": kind = .constant(value: value)
    case "reflect": kind = .reflection
    case "edge": kind = .replication
    default: throw layer.unsupported("border mode '\(mode)' is not supported")
    }
    let (height, width) = (amounts[.height] ?? [0, 0], amounts[.width] ?? [0, 0])
    let padding = Padding(
      kind,
      BorderAmounts(top: height[0], bottom: height[1], left: width[0], right: width[1]))
    input.blob = network.add(name + suffix, padding, [input.blob])
    return network.settled(input, for: name + suffix)
  }

  /// Pads with mirror images that repeat the first and last elements.
  private func mirrored(
    _ tensor: KerasTensor, _ borders: [[Int]], into network: inout KerasWriter
  ) throws -> KerasTensor {
    var result = tensor
    for (axis, border) in borders.enumerated() where border != [0, 0] {
      guard let length = result.shape[axis], border.allSatisfy({ $0 <= length }) else {
        throw layer.unsupported("borders of \(border) on \(tensor.shapeText) are not supported")
      }
      var parts = [result]
      for (end, count) in border.enumerated() where count > 0 {
        let suffix = "__\(axis)_\(end)__"
        let range = end == 0 ? 0..<count : length - count..<length
        let part = try slice(result, axis, range, suffix, into: &network)
        let flipped = try reversed(part, [axis], suffix + "turned__", into: &network)
        parts.insert(flipped, at: end == 0 ? 0 : parts.count)
      }
      result = try network.concatenated(
        axis: axis, call(parts, axis == borders.lastIndex { $0 != [0, 0] } ? "" : "__\(axis)__"))[0]
    }
    return result
  }

  /// TensorFlow 1's resizing, from the corners of the pixels, or with corners aligned if requested.
  fileprivate func resizedAsVersion1(
    _ method: String, into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    if try bool(nil, "half_pixel_centers", default: false) {
      return try resized(method, into: &network)
    }
    let image = network.relaid(try self.input, to: .image, for: name)
    guard let size = try ints(1, "size"), size.count == 2, image.rank == 4,
      size.allSatisfy({ (1...Limits.imageSide).contains($0) })
    else { throw layer.unsupported("its size is not two numbers") }
    let isAligned = try bool(nil, "align_corners", default: false)
    let interpolation: KerasInterpolation
    switch method {
    case "bilinear": interpolation = isAligned ? .bilinearOfCorners : .bilinearBelow
    case "nearest": interpolation = isAligned ? .nearestOfCorners : .nearestBelow
    default: throw layer.unsupported("the resizing method '\(method)' of TensorFlow 1")
    }
    return [try network.resampled(image, to: size, interpolation, layer)]
  }

  fileprivate func resized(
    _ method: String, into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    let input = try self.input
    guard let size = try ints(1, "size"), size.count == 2 else {
      throw layer.unsupported("its size is not two numbers")
    }
    if try bool(nil, "align_corners", default: false) {
      throw layer.unsupported("align_corners is not supported")
    }
    if input.rank == 4, input.shape[1] == size[0], input.shape[2] == size[1] { return [input] }
    return try convert(
      [input], as: "Resizing",
      [
        "height": .int(size[0]), "width": .int(size[1]), "interpolation": .string(method),
        "antialias": .bool(try bool(nil, "antialias", default: false)),
        "data_format": .string(try string(nil, "data_format", default: "channels_last")),
      ], into: &network)
  }
}
