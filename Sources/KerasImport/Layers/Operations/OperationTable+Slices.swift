import ByteFormats
import CoreMLModel
import TensorCore

extension OperationTable {
  /// Slicing, splitting and gathering.
  static let slices: [Operation] = [
    Operation("getitem", "stridedslice") { call, network in
      try call.item(into: &network)
    },
    Operation("split") { call, input, network in
      let axis = try call.axis(call.int(2, "axis", default: 0), of: input)
      let length = try input.shape[axis].orThrow(
        call.layer.unsupported("splitting an axis of unknown size is not supported"))
      var bounds: [Int] = [0]
      let parts = try call.constant(
        1, "num_or_size_splits", "indices_or_sections", "num_splits")
      let isSizes =
        call.argument(nil, "num_or_size_splits") != nil
        || call.layer.className != "Split" && call.argument(nil, "indices_or_sections") == nil
      if let count = parts?.int {
        guard count > 0, length % count == 0, count <= Limits.dimension else {
          throw call.layer.error("\(length) is not divisible into \(count) parts")
        }
        bounds += (1...count).map { $0 * (length / count) }
      } else if var numbers = parts?.array?.compactMap(\.int) {
        if isSizes {
          if let rest = numbers.firstIndex(of: -1) {
            numbers[rest] = 0
            numbers[rest] = length - (try checkedSum(numbers))
          }
          for size in numbers { bounds.append(try checkedSum([bounds[bounds.count - 1], size])) }
        } else {
          bounds += numbers + [length]
        }
      }
      guard bounds.count > 1, bounds.last == length, zip(bounds, bounds.dropFirst()).allSatisfy(<)
      else { throw call.layer.error("\(bounds) are not valid split points for \(input.shapeText)") }
      return try zip(bounds, bounds.dropFirst()).enumerated().map { index, bounds in
        try call.slice(input, axis, bounds.0..<bounds.1, "__\(index)__", into: &network)
      }
    },
    Operation("unstack", "unpack") { call, input, network in
      let axis = try call.axis(call.int(nil, "axis", default: 0), of: input)
      guard let length = input.shape[axis], length <= 4096 else {
        throw call.layer.unsupported("unstacking \(input.shapeText) is not supported")
      }
      return try (0..<length).map { index in
        let part = try call.slice(
          input, axis, index..<index + 1, "__\(index)__", into: &network)
        return network.settled(part.without([axis]), for: call.name)
      }
    },
    Operation("takealongaxis") { call, input, network in
      guard case .tensor(let indices) = try call.operand(1, "indices"), indices.rank == input.rank
      else { throw call.layer.unsupported("its indices are not a tensor of the same rank") }
      let axis = try call.axis(call.int(2, "axis", default: -1), of: input)
      var gather = GatherAlongAxis()
      gather.axis = input.layout.axes[axis - 1].blobIndex
      let places = network.relaid(indices, to: input.layout, for: call.name)
      var output = input
      output.blob = network.add(call.name, gather, [input.blob, places.blob])
      output.shape[axis] = indices.shape[axis]
      return [output]
    },
    Operation("gather", "take", "gatherv2", "embeddinglookup") { call, network in
      if case .constant(let table) = try call.operand(0, "x", "params") {
        return [try call.rows(of: table, into: &network)]
      }
      let input = try call.input
      let axis = try call.axis(call.int(2, "axis", default: 0), of: input)
      guard let indices = try call.ints(1, "indices"), (1...256).contains(indices.count),
        let length = input.shape[axis]
      else { throw call.layer.unsupported("indices into a computed tensor are not supported") }
      let parts = try indices.enumerated().map { position, index in
        let start = index < 0 ? index + length : index
        try call.layer.require((0..<length).contains(start), "index \(index) of \(input.shapeText)")
        return try call.slice(input, axis, start..<start + 1, "__\(position)__", into: &network)
      }
      let isScalar = try call.constant(1, "indices")?.int != nil
      if isScalar { return [network.settled(parts[0].without([axis]), for: call.name)] }
      return try network.concatenated(axis: axis, call.call(parts))
    },
  ]
}

extension OperationCall {
  /// A slice along one axis.
  func slice(
    _ input: KerasTensor, _ axis: Int, _ range: Range<Int>, by stride: Int = 1, _ suffix: String,
    into network: inout KerasWriter
  ) throws -> KerasTensor {
    guard !range.isEmpty else { throw layer.error("axis \(axis) becomes empty") }
    var output = input
    output.shape[axis] = (range.count + stride - 1) / stride
    if stride == 1, range.lowerBound == 0, range.upperBound == input.shape[axis] { return output }
    var place = output.layout.axes[axis - 1]
    if place == .sequence {
      guard
        let free = [BlobAxis.width, .height, .channel].first(where: {
          !input.layout.axes.contains($0)
        })
      else {
        throw layer.unsupported("a slice of \(input.shapeText) along the sequence is not supported")
      }
      var layout = input.layout
      layout.axes[axis - 1] = free
      var moved = input
      moved = network.relaid(moved, to: layout, for: name)
      output.blob = moved.blob
      output.layout = layout
      place = free
    }
    let target: Slice.Axis = place == .channel ? .channel : place == .height ? .height : .width
    output.blob = network.slice(output.blob, range, of: target, stride: stride, name + suffix)
    return output
  }

  /// A slice with a negative step.
  private func downward(
    _ input: KerasTensor, _ axis: Int, _ bounds: (Int?, Int?, Int?), _ length: Int,
    _ suffix: String, into network: inout KerasWriter
  ) throws -> KerasTensor {
    let step = -(bounds.2 ?? -1)
    guard step > 0, step <= Limits.dimension else { throw layer.error("its step is 0") }
    func place(_ value: Int) -> Int { min(max(value < 0 ? value + length : value, -1), length - 1) }
    let first = bounds.0.map(place) ?? length - 1
    let last = bounds.1.map(place) ?? -1
    guard first > last else { throw layer.error("axis \(axis) becomes empty") }
    var reverse = Reverse()
    reverse.reverseDim = [Bool](repeating: false, count: 5)
    reverse.reverseDim[input.layout.axes[axis - 1].blobIndex] = true
    var flipped = input
    flipped.blob = network.add(name + suffix + "__reverse__", reverse, [input.blob])
    return try slice(
      flipped, axis, length - 1 - first..<length - 1 - last, by: step, suffix, into: &network)
  }

  /// The rows of a constant table at the indices in a tensor.
  fileprivate func rows(
    of table: JSONValue, into network: inout KerasWriter
  ) throws -> KerasTensor {
    let (values, shape) = try numbers(table)
    guard case .tensor(let indices) = try operand(1, "indices", "ids"), shape.count == 2,
      indices.rank <= 2, try int(2, "axis", default: 0) == 0
    else {
      throw layer.unsupported("indexing a constant \(KerasTensor.text(shape)) is not supported")
    }
    var output = indices
    if indices.rank == 2 { output = network.relaid(indices, to: .indices, for: name) }
    var embedding = Embedding()
    embedding.inputDim = shape[0]
    embedding.outputChannels = shape[1]
    embedding.matrix = Weights(FloatValues(values).shaped(shape).transposed([1, 0]))
    output.blob = network.add(name, embedding, [output.blob])
    output.shape.append(shape[1])
    output.layout = indices.rank == 2 ? .sequence : .vector
    return output
  }

  /// A slice along an axis of unknown size, relative to its start or its end.
  private func openSlice(
    _ input: KerasTensor, _ axis: Int, from start: Int?, to end: Int?, by step: Int,
    _ suffix: String, into network: inout KerasWriter
  ) -> KerasTensor {
    let slice = SliceStatic(
      rank: 5, axis: input.layout.axes[axis - 1].blobIndex, from: start, to: end, by: step)
    return input.with(network.add(name + suffix, slice, [input.blob]))
  }

  /// Python's x[…]: slices, integers, new axes and an ellipsis, one per axis.
  fileprivate func item(into network: inout KerasWriter) throws -> [KerasTensor] {
    guard case .tensor(let tensor) = try operand(0, "x", "tensor", "input") else {
      throw layer.unsupported("indexing a constant is not supported")
    }
    let specification = try constant(1, "slice_spec", "key").orThrow(
      layer.error("its index is missing"))
    var items = specification.array ?? [specification]
    if let sizes = tensor.sizes { return [try item(of: sizes, items)] }
    let isNamed = { (item: JSONValue) in !item.isNull && !Self.isEllipsis(item) }
    if let ellipsis = items.firstIndex(where: Self.isEllipsis) {
      let count = max(0, tensor.rank - items.count(where: isNamed))
      items.replaceSubrange(
        ellipsis...ellipsis, with: [JSONValue](repeating: .object(JSONObject()), count: count))
    }
    var output = tensor
    var axis = 0
    var removed: Set<Int> = []
    var inserted: [Int] = []
    for (position, item) in items.enumerated() {
      if item.isNull {
        inserted.append(axis - removed.count + inserted.count)
        continue
      }
      try layer.require(axis < tensor.rank, "too many indices for \(tensor.shapeText)")
      defer { axis += 1 }
      let suffix = position == items.count - 1 ? "" : "__\(position)__"
      let bounds = Self.bounds(item)
      if let index = item.int {
        guard axis > 0 else { throw layer.unsupported("indexing the batch is not supported") }
        guard let length = tensor.shape[axis] else {
          output = openSlice(
            output, axis, from: index, to: index == -1 ? nil : index + 1, by: 1, suffix,
            into: &network)
          output.shape[axis] = 1
          removed.insert(axis)
          continue
        }
        try layer.require(
          (-length..<length).contains(index),
          "index \(index) is out of range for axis \(axis) of \(tensor.shapeText)")
        let start = index < 0 ? index + length : index
        output = try slice(output, axis, start..<start + 1, suffix, into: &network)
        removed.insert(axis)
        continue
      }
      guard let bounds else { throw layer.unsupported("the index \(item.text) is not supported") }
      if bounds == (nil, nil, nil) { continue }
      guard axis > 0 else { throw layer.unsupported("slicing the batch is not supported") }
      let stride = bounds.2 ?? 1
      guard let length = tensor.shape[axis] else {
        try layer.require(
          stride.magnitude <= Limits.dimension && stride != 0, "a step of \(stride)")
        output = openSlice(
          output, axis, from: bounds.0, to: bounds.1, by: stride, suffix, into: &network)
        continue
      }
      guard stride > 0 else {
        output = try downward(output, axis, bounds, length, suffix, into: &network)
        continue
      }
      func clamped(_ value: Int) -> Int { min(max(value < 0 ? value + length : value, 0), length) }
      let start = clamped(bounds.0 ?? 0)
      let end = clamped(bounds.1 ?? length)
      guard start < end else { throw layer.error("axis \(axis) becomes empty") }
      output = try slice(output, axis, start..<end, by: stride, suffix, into: &network)
    }
    output = output.without(removed)
    for index in inserted {
      let raised = try output.inserting(at: index).orThrow(
        layer.unsupported("\(output.shapeText) cannot have one more axis at \(index)"))
      output = raised
    }
    return [network.settled(output, for: name)]
  }

  private static func isEllipsis(_ json: JSONValue) -> Bool {
    json["class_name"]?.string == "__ellipsis__"
  }

  /// The start, stop and step of a slice.
  private static func bounds(_ json: JSONValue) -> (Int?, Int?, Int?)? {
    guard let object = json["class_name"]?.string == "__slice__" ? json["config"] : json,
      object.object != nil
    else { return nil }
    return (object["start"]?.int, object["stop"]?.int, object["step"]?.int)
  }

  private func item(of sizes: KnownSizes, _ items: [JSONValue]) throws -> KerasTensor {
    try layer.require(
      items.count == 1 && !sizes.isScalar, unsupported: "this index of a shape is not supported")
    let count = sizes.values.count
    let result: KnownSizes
    if let index = items[0].int {
      try layer.require((-count..<count).contains(index), "index \(index) of \(count) sizes")
      result = KnownSizes(sizes.values[index < 0 ? index + count : index])
    } else if let bounds = Self.bounds(items[0]), (bounds.2 ?? 1) == 1 {
      func clamped(_ value: Int) -> Int { min(max(value < 0 ? value + count : value, 0), count) }
      let (start, end) = (clamped(bounds.0 ?? 0), clamped(bounds.1 ?? count))
      result = KnownSizes(values: start < end ? Array(sizes.values[start..<end]) : [])
    } else {
      throw layer.unsupported("this index of a shape is not supported")
    }
    return KerasTensor(sizes: result)
  }
}
