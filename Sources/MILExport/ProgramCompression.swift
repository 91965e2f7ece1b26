import CoreMLModel
import ModelTransforms
import TensorCore

/// How the weights of a program are compressed.
package struct ProgramCompressionRules: Sendable {
  /// The precision and the selection of weights: names are those of constants, types those of the
  /// operations that use them.
  package var rules: CompressionRules
  /// The number of output channels that share a table, or of input channels that share a scale; nil
  /// for all.
  package var groupSize: Int?
  /// The fraction of each weight's values to set to 0, smallest first; nil for none.
  package var sparsity: Double?

  package init(_ rules: CompressionRules) { self.rules = rules }
}

extension Model {
  /// The program with compressed weights, and the result for each weight. If the storage formats
  /// need a newer system, the program targets that system.
  ///
  /// - Throws: `.mismatch` if the model is not a program; `.unsupported` if a value cannot be
  ///   represented, or if the newer system lacks an operation of the program.
  package func compressedProgram(
    _ rules: ProgramCompressionRules, onProgress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> (model: Model, weights: [CompressedLayer]) {
    guard case .mlProgram(let program)? = type else {
      throw ModelError(.mismatch, "the model is not an ML Program")
    }
    let opsets = program.functions.compactMap { $0.value?.opset }
    guard var target = ProgramTarget.allCases.first(where: { opsets.contains($0.opset) }),
      opsets.allSatisfy({ $0 == target.opset })
    else {
      throw ModelError(
        .unsupported, "the set of operations '\(opsets.first ?? "")' is not supported")
    }
    while true {
      let compression = ProgramCompression(program, rules, target)
      do {
        let (program, weights) = try compression.run(onProgress)
        var model = self
        model.type = .mlProgram(program)
        model.specificationVersion = max(specificationVersion, target.specificationVersion)
        return (model, weights)
      } catch let error as NewerTargetNeeded {
        try program.requireOperations(from: target, in: error.target)
        target = error.target
      }
    }
  }
}

extension MILProgram {
  /// Operations whose arguments changed in iOS 17.
  private static let changed: Set = ["non_maximum_suppression", "crop_resize", "conv_quantized"]

  /// Throws if an operation has other semantics in a newer operation set.
  fileprivate func requireOperations(from old: ProgramTarget, in new: ProgramTarget) throws {
    guard old < .iOS17, new >= .iOS17 else { return }
    func check(_ block: MILBlock) throws {
      for operation in block.operations {
        try require(
          !Self.changed.contains(operation.type), .unsupported,
          "weights of this kind need \(new.rawValue), where \(operation.type) "
            + "('\(operation.label)') has other arguments",
          hint: "\(setting: "mode") kmeans_lut and linear_symmetric need iOS16 only")
        try operation.blocks.forEach(check)
      }
    }
    for function in functions {
      try function.value?.specializations.compactMap(\.value).forEach(check)
    }
  }
}

/// A compression for one operation set.
private struct ProgramCompression {
  /// The operation that uses a constant, and its argument.
  struct Use {
    var operation: MILOperation
    var argument: String
  }

  let program: MILProgram
  let options: ProgramCompressionRules
  let target: ProgramTarget
  let builder: ProgramBuilder

  init(_ program: MILProgram, _ options: ProgramCompressionRules, _ target: ProgramTarget) {
    (self.program, self.options, self.target) = (program, options, target)
    let file = program.weightFiles.keys.min()?.split(separator: "/").last.map(String.init)
    builder = ProgramBuilder(target, isFixed: false, weightFile: file ?? "weight.bin")
  }

  func run(
    _ onProgress: (Int, Int) -> Void
  ) throws -> (program: MILProgram, weights: [CompressedLayer]) {
    var result = program
    var entries: [CompressedLayer] = []
    for index in result.functions.indices {
      guard var function = result.functions[index].value else { continue }
      function.opset = target.opset
      for position in function.specializations.indices {
        guard let block = function.specializations[position].value else { continue }
        function.specializations[position].key = target.opset
        builder.reserve(block)
        function.specializations[position].value = try compressed(block, &entries, onProgress)
      }
      result.functions[index].value = function
    }
    result.weightFiles =
      builder.weights.isEmpty ? [:] : [builder.weightFile: try builder.weights.file()]
    return (result, entries)
  }

  private func compressed(
    _ block: MILBlock, _ entries: inout [CompressedLayer], _ onProgress: (Int, Int) -> Void
  ) throws -> MILBlock {
    var uses: [String: Use] = [:]
    for operation in block.operations {
      for input in operation.inputs {
        // A constant used by several operations is stored as the first one needs it.
        for name in input.names where uses[name] == nil {
          uses[name] = Use(operation: operation, argument: input.key)
        }
      }
    }
    return try builder.rewriting(block) {
      for (index, operation) in block.operations.enumerated() {
        onProgress(index, block.operations.count)
        if operation.type == "const", let name = operation.outputs.first?.name,
          let use = uses[name], let entry = try weight(operation, name, use)
        {
          entries.append(entry)
          if entry.isChanged { continue }
        }
        var kept = operation
        for position in kept.blocks.indices {
          kept.blocks[position] = try compressed(kept.blocks[position], &entries) { _, _ in }
        }
        try kept.mapValues { try moved($0) }
        try builder.append(kept)
      }
    }
  }

  /// The value, with its elements moved to the new weight file.
  private func moved(_ value: MILValue) throws -> MILValue {
    guard case .file = value.content, case .tensor(let tensor)? = value.type?.kind else {
      return value
    }
    let elements = try MILElements(value, files: program.weightFiles)
    guard let bytes = elements.bytes else { return value }
    return try builder.stored(bytes, tensor.dataType, elements.shape, count: elements.count)
  }

  // MARK: - Weights

  /// Adds the constant with the requested storage; unchanged storage keeps its bytes. Returns nil
  /// if it is not a weight.
  private func weight(
    _ operation: MILOperation, _ name: String, _ use: Use
  ) throws -> CompressedLayer? {
    guard let value = operation.attribute("val"), let axis = use.channelAxis(of: value) else {
      return nil
    }
    let elements = try MILElements(value, files: program.weightFiles)
    let count = elements.count
    var entry = CompressedLayer(
      name: name, type: use.operation.type,
      storage: elements.type == .float16 ? "float16" : "float32", count: count,
      bytes: try elements.type.byteCount(count))
    let rules = options.rules
    guard let precision = rules.precision(named: name, type: use.operation.type),
      elements.shape.count > 1, count >= rules.minimumCount
    else { return entry }
    do {
      guard let storage = try storage(elements, precision, axis, &entry) else { return entry }
      builder.release(name)
      _ = try ConstantExpression(
        shape: elements.shape, storage: storage, type: elements.type
      ).variable(builder, name: name)
    } catch var error as ModelError {
      error.layer = error.layer ?? name
      throw error
    }
    return entry
  }

  /// The values in the requested storage, with the result in `entry`; nil to keep the old storage.
  private func storage(
    _ elements: MILElements, _ precision: WeightPrecision, _ axis: Int,
    _ entry: inout CompressedLayer
  ) throws -> ConstantExpression.Storage? {
    let values = try elements.floats()
    if let sparsity = options.sparsity {
      let threshold = values.map(\.magnitude).sorted()
      let dropped = Int(Double(values.count) * sparsity)
      if dropped == 0 { return nil }
      let limit = threshold[dropped - 1]
      var rest = dropped
      let kept = values.map { value -> Float in
        guard value.magnitude <= limit, rest > 0 else { return value }
        rest -= 1
        return 0
      }
      let width = try elements.type.byteCount(1)
      entry.finish(
        "sparse", bytes: kept.count { $0 != 0 } * width + (kept.count + 7) / 8,
        try CompressionError(FloatValues(values), FloatValues(kept)))
      return .sparse(kept)
    }
    switch precision {
    case .float32: return nil
    case .float16:
      if elements.type == .float16 { return nil }
      if let large = values.first(where: Half.overflows) {
        throw ModelError(.unsupported, "the weight \(large) exceeds the range of half precision")
      }
      entry.finish(
        "float16", bytes: 2 * values.count,
        try CompressionError(FloatValues(values), FloatValues(values.map(Half.rounded))))
      return .half(Half.bytes(values))
    case .codes(let bits, let mode):
      return try codes(elements, bits, mode, axis, &entry)
    }
  }

  private func codes(
    _ elements: MILElements, _ bits: Int, _ mode: CodeMode, _ axis: Int,
    _ entry: inout CompressedLayer
  ) throws -> ConstantExpression.Storage {
    let (values, shape) = (try elements.floats(), elements.shape)
    let isTable = mode != .linear && mode != .linearSymmetric
    // Groups and blocks are rows of a matrix with contiguous elements.
    var parts = (rows: 1, axis: axis)
    var blocks = [Int](repeating: 1, count: shape.count)
    if isTable {
      if let size = options.groupSize {
        try requireDivision(shape, 0, axis, by: size, "\(setting: "groupSize")")
        parts.rows = shape[0] / size
      }
    } else if let size = options.groupSize {
      try requireDivision(shape, 1, axis, by: size, "\(setting: "groupSize")")
      (blocks[0], blocks[1]) = (shape[0], shape[1] / size)
      parts.rows = blocks[0] * blocks[1]
    } else if shape.indices.contains(axis) {
      blocks[axis] = shape[axis]
    }
    let isSplit = parts.rows > 1
    let rowShape = isSplit ? [parts.rows, values.count / parts.rows] : shape
    if isTable {
      var (all, tables): ([Int], [[Float]]) = ([], [])
      var error = CompressionError()
      for row in 0..<parts.rows {
        let length = values.count / parts.rows
        let own = Array(values[row * length..<(row + 1) * length])
        let weights = try Weights(own).compressed(
          to: .codes(bits: bits, mode), shape: [length], scales: options.rules.scales)
        guard case .lookupTable(let table)? = weights.quantization?.kind else { continue }
        all += weights.codes(bits: bits, count: length)
        tables.append(table)
        error.add(try CompressionError(FloatValues(own), weights.values(shape: [length])))
      }
      entry.finish(
        "\(counted(bits, "bit")), table",
        bytes: (values.count * bits + 7) / 8 + 4 * tables.count << bits, error)
      return .tables(.init(codes: all, bits: bits, tables: tables))
    }
    let channels = isSplit ? 0 : axis
    let weights = try Weights(values).compressed(
      to: .codes(bits: bits, mode), shape: rowShape, channelAxis: channels,
      scales: options.rules.scales,
      // Only codes with a scale for each channel are computed with.
      type: isSplit && elements.type == .float32 ? nil : elements.type)
    guard case .linear(let scale, let bias)? = weights.quantization?.kind else {
      throw ModelError(.internal, "codes without a scale")
    }
    entry.finish(
      "\(counted(bits, "bit")), linear",
      bytes: (values.count * (bits <= 4 ? 4 : 8) + 7) / 8 + 4 * (scale.count + bias.count),
      try CompressionError(
        FloatValues(values), weights.values(shape: rowShape, channelAxis: channels)))
    return .linear(
      .init(
        codes: weights.codes(bits: bits, count: values.count), bits: bits, isSigned: false,
        scale: scale, bias: bias, blocks: blocks))
  }

  private func requireDivision(
    _ shape: [Int], _ divided: Int, _ axis: Int, by size: Int, _ option: String
  ) throws {
    try require(
      axis == 0 && size > 0 && shape[divided] % size == 0, .mismatch,
      "\(option) \(size) does not divide the channels of a weight of shape \(shape)",
      hint: "\(setting: "layer") and \(setting: "skipLayer") choose the weights")
  }
}

extension ProgramCompression.Use {
  /// The axis of the output channels, if the argument is a weight; beyond the last axis if channels
  /// have no separate axis.
  fileprivate func channelAxis(of value: MILValue) -> Int? {
    guard case .tensor(let tensor)? = value.type?.kind, tensor.dataType.isFloat else { return nil }
    switch (operation.type, argument) {
    case ("conv", "weight"), ("linear", "weight"), ("gather", "x"): return 0
    case ("conv_transpose", "weight"): return 1
    case ("matmul", "y"): return tensor.rank - 1
    default: return nil
    }
  }
}

extension CompressedLayer {
  fileprivate mutating func finish(_ storage: String, bytes: Int, _ error: CompressionError) {
    (self.storage, bytesAfter, self.error, isChanged) = (storage, bytes, error, true)
  }
}
