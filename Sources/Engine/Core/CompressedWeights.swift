import CoreMLModel
import Kernels
import TensorCore

/// Weights in half precision, or codes with scales or a table, as stored in the file. They are
/// expanded piece by piece, to exactly the floats of `Weights.values`.
struct CompressedWeights: Sendable {
  private enum Kind: Sendable {
    case half
    /// The values, also as a constant for the kernels.
    case table(bits: Int, [Float], Constant)
    /// A scale and a bias per channel, or one for all, and the number of elements per channel.
    case linear(bits: Int, scale: [Float], bias: [Float], channels: Int, run: Int)
  }

  let count: Int
  /// Whether linear values are rounded to half precision.
  let roundsToHalf: Bool
  private let source: Bytes
  private let kind: Kind

  /// Nil if the weights are not compressed or are signed integers.
  init?(_ weights: Weights, _ shape: [Int], channelAxis: Int) throws {
    count = try checkedProduct(shape, limit: Limits.tensorElements)
    roundsToHalf = weights.quantization?.roundsToHalf ?? false
    switch try weights.storage(shape, channelAxis: channelAxis) {
    case .single, .linear(_, true, _, _, _): return nil
    case .half:
      source = weights.float16Value
      kind = .half
    case .table(let bits, let values):
      source = weights.rawValue
      kind = .table(bits: bits, values, try Constant(CodeTable.floats(values, bits: bits)))
    case .linear(let bits, false, let scale, let bias, let run):
      source = weights.rawValue
      let channels = max(scale.count, bias.count)
      kind = .linear(
        bits: bits, scale: scale, bias: bias, channels: channels, run: channels == 1 ? count : run)
    }
  }

  var isHalf: Bool { if case .half = kind { true } else { false } }

  /// The codes as `rows` rows, with a scale and a bias per row.
  func rowCodes(_ rows: Int) -> RowCodes? {
    switch kind {
    case .half: return nil
    case .table(let bits, let values, _):
      return RowCodes(source: source, bits: bits, rows: rows, values: .table(values))
    case .linear(let bits, let scale, let bias, let channels, let run):
      guard channels == 1 || channels == rows && run * rows == count else { return nil }
      func each(_ values: [Float]) -> [Float] {
        values.count == 1 ? [Float](repeating: values[0], count: rows) : values
      }
      return RowCodes(
        source: source, bits: bits, rows: rows,
        values: .linear(scale: each(scale), bias: each(bias)))
    }
  }

  /// The weights as `rows` rows in place, in the format of the kernel for dense layers, which does
  /// not round values to half precision.
  func rowFormat(_ rows: Int) throws -> RowFormat? {
    switch kind {
    case .half: return RowFormat(source: source, kind: .half)
    case .table(let bits, _, let table):
      return RowFormat(source: source, kind: .table(bits: bits, table))
    case .linear:
      guard !roundsToHalf, let codes = rowCodes(rows),
        case .linear(let scale, let bias) = codes.values
      else { return nil }
      return RowFormat(
        source: source,
        kind: .linear(bits: codes.bits, scale: try Constant(scale), bias: try Constant(bias)))
    }
  }

  var label: String {
    switch kind {
    case .half: "half"
    case .table(let bits, _, _): "\(bits)-bit table"
    case .linear(let bits, _, _, _, _): "\(bits)-bit"
    }
  }

  /// Expands the elements of `range`.
  func expand(
    _ range: Range<Int>, to target: UnsafeMutablePointer<Float>, _ kernels: any KernelTable.Type
  ) {
    if range.isEmpty { return }
    source.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      func expand(_ format: CompressedFormat, _ first: Int, _ count: Int) {
        var arguments = ExpansionArguments(
          source: base, format: format, first: first, count: count,
          output: target + (first - range.lowerBound))
        arguments.roundsToHalf = roundsToHalf
        kernels.expandWeights(arguments)
      }
      switch kind {
      case .half: expand(.half, range.lowerBound, range.count)
      case .table(let bits, _, let table):
        expand(.table(bits: bits, table.pointer), range.lowerBound, range.count)
      case .linear(let bits, let scale, let bias, let channels, let run):
        var first = range.lowerBound
        while first < range.upperBound {
          let channel = first / run % channels
          let end = min(range.upperBound, (first / run + 1) * run)
          expand(
            .linear(
              bits: bits, scale: scale[scale.count == 1 ? 0 : channel],
              bias: bias[bias.count == 1 ? 0 : channel]), first, end - first)
          first = end
        }
      }
    }
  }

  /// All elements.
  func expanded(_ kernels: any KernelTable.Type) throws -> Bytes {
    let buffer = try AlignedBuffer(checkedByteCount: checkedProduct([count, 4]))
    expand(0..<count, to: buffer.pointer.assumingMemoryBound(to: Float.self), kernels)
    source.dropPages()
    return Bytes(base: UnsafeRawPointer(buffer.pointer), count: count * 4, owner: buffer)
  }
}

/// Rows of compressed weights in the format of the kernel for dense layers.
struct RowFormat: Sendable {
  enum Kind: Sendable {
    case half
    case linear(bits: Int, scale: Constant, bias: Constant)
    case table(bits: Int, Constant)
  }

  let source: Bytes
  let kind: Kind

  func kernelFormat(firstRow: Int) -> WeightFormat {
    switch kind {
    case .half: .float16
    case .table(let bits, let table): .table(bits: bits, table.pointer)
    case .linear(let bits, let scale, let bias):
      .linear(bits: bits, scale: scale.pointer + firstRow, bias: bias.pointer + firstRow)
    }
  }
}

/// A layer's weights: floats in place, or compressed weights.
enum StoredWeights: Sendable {
  case floats(FloatValues)
  case compressed(CompressedWeights)

  var compressed: CompressedWeights? {
    if case .compressed(let weights) = self { weights } else { nil }
  }

  /// The bytes of the floats in reading order: in place, or a copy.
  func contiguous(_ kernels: any KernelTable.Type) throws -> Bytes {
    switch self {
    case .floats(let values): try values.contiguous()
    case .compressed(let weights): try weights.expanded(kernels)
    }
  }
}
