import ByteFormats
import CoreMLModel
import TensorCore

extension OperationCall {
  /// Reshapes the tensor; the shape includes the batch.
  ///
  /// Core ML's network computes one item of the batch, so a reshape converts only if each item of
  /// the input becomes a fixed number of items. A first size computed from the batch determines
  /// that number, as does a multiple of a declared batch size; a first size of −1 must turn out to
  /// be the batch size.
  func reshaped(
    _ input: KerasTensor, _ shape: [SymbolicSize], into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    guard let first = shape.first, shape.count > 1 else {
      throw layer.unsupported("reshaping the batch is not supported")
    }
    var target = try shape.dropFirst().map { size -> Int in
      switch size {
      case .known(let size): return size
      case .unknown: return -1
      case .number, .batch, .ofBatch: throw batchError(input, shape)
      }
    }
    let known = try checkedProduct(target.filter { $0 > 0 }, limit: Limits.tensorElements)
    let open = target.indices.filter { target[$0] <= 0 }
    if open.count > 1 {
      throw layer.unsupported("reshaping to \(Self.text(shape)) leaves more than one size unknown")
    }
    let count = input.isShapeAssumed ? nil : input.itemCount
    // The number of items that each item becomes; nil if it follows from the other sizes.
    var items: Int?
    switch first {
    case .batch(let times): items = times
    case .known(-1) where !open.isEmpty:
      try requireBatch(input, shape, known)
      items = 1
    case .known(let size) where count != nil && isMultiple(size, of: network.declaredBatch):
      items = size / (network.declaredBatch ?? size)
    case .known(let size) where !open.isEmpty:
      guard size == network.declaredBatch ?? 1, input.leading == nil else {
        throw batchError(input, shape)
      }
      items = 1
    case .known: break
    case .number, .ofBatch, .unknown:
      if !open.isEmpty || count == nil { throw batchError(input, shape) }
    }
    if let count, count > 0, known > 0,
      input.leading != nil || target.count > 4 || items ?? 1 > 1 || first.known ?? -1 == -1
    {
      return [try regrouped(input, shape, items: items, target, count, known, into: &network)]
    }
    if let items, items > 1 || input.leading != nil { throw batchError(input, shape) }
    // Axes of unknown size keep their size.
    for index in open { target[index] = -1 }
    return try convert(
      [input], as: "Reshape", ["target_shape": .array(target.map { .int($0) })], into: &network)
  }

  /// Throws unless a reshape whose first size is −1 keeps the batch: the other sizes must be all of
  /// the input's sizes, in any order or product.
  private func requireBatch(_ input: KerasTensor, _ shape: [SymbolicSize], _ known: Int) throws {
    var factors = 0
    for size in shape.dropFirst() {
      guard case .unknown(let count) = size else { continue }
      guard let count else { throw batchError(input, shape) }
      factors += count
    }
    let sizes = input.shape.dropFirst()
    let product = try checkedProduct(sizes.compactMap { $0 }, limit: Limits.tensorElements)
    guard !input.isShapeAssumed, input.leading == nil, product == known,
      factors == sizes.count(where: { $0 == nil })
    else { throw batchError(input, shape) }
  }

  private func isMultiple(_ size: Int, of batch: Int?) -> Bool {
    guard let batch, batch > 0 else { return false }
    return size > 0 && size % batch == 0
  }

  private func batchError(_ input: KerasTensor, _ shape: [SymbolicSize]) -> ModelError {
    layer.unsupported(
      "reshaping \(KerasTensor.text(input.fullShape)) to \(Self.text(shape)) may move items of the "
        + "batch, which is not supported")
  }

  private static func text(_ shape: [SymbolicSize]) -> String {
    let sizes = shape.map { size in
      switch size {
      case .known(let size): "\(size)"
      case .number(let number): "\(number)"
      case .batch(times: 1): "batch"
      case .batch(let times): "batch · \(times)"
      case .ofBatch: "a number computed from the batch"
      case .unknown: "unknown"
      }
    }
    return "[" + sizes.joined(separator: ", ") + "]"
  }

  /// Reshapes the tensor; some of the new axes may be part of the batch.
  ///
  /// - Parameters:
  ///   - items: the number of items that each item becomes; nil if it follows from the other sizes.
  ///   - target: the sizes after the first one of `shape`, with at most one −1.
  ///   - count: the number of elements in an item of the input.
  ///   - known: the product of the positive sizes.
  private func regrouped(
    _ input: KerasTensor, _ shape: [SymbolicSize], items: Int?, _ target: [Int], _ count: Int,
    _ known: Int, into network: inout KerasWriter
  ) throws -> KerasTensor {
    let open = target.firstIndex { $0 <= 0 }
    let items = items ?? count / known
    let inner = try checkedProduct([items, known], limit: Limits.tensorElements)
    try layer.require(
      inner > 0 && count % inner == 0 && (open != nil || inner == count),
      unsupported:
        "reshaping \(KerasTensor.text(input.fullShape)) to \(Self.text(shape)) divides the items of "
        + "the batch, which is not supported")
    var sizes = target
    if let open { sizes[open] = count / inner }
    return try network.regrouped(input, windows: items, sizes, name, layer)
  }

  /// Broadcasts the tensor's axes of size 1.
  func broadcast(_ input: KerasTensor, into network: inout KerasWriter) throws -> KerasTensor {
    guard let shape = try shape(1, "shape"), shape.count == input.rank, input.leading == nil else {
      throw layer.unsupported("its shape and \(input.shapeText) have different ranks")
    }
    try layer.require(
      shape[0] == .batch(times: 1) || shape[0] == .known(network.declaredBatch ?? 1),
      unsupported: "repeating the items of the batch is not supported")
    let counts = try zip(shape, input.shape).enumerated().map { axis, sizes -> Int in
      guard axis > 0, sizes.1 == 1 else { return 1 }
      guard let count = sizes.0.known, count > 0 else {
        throw layer.unsupported("a shape computed at run time is not supported")
      }
      return count
    }
    return try tiled(input, counts, into: &network)
  }
}
