import CoreMLModel
import Kernels
import TensorCore

/// The codes of a convolution's weights, a byte each, in the order in which panels of them are
/// expanded and transformed for Winograd's algorithm:
/// `[panel][input channel · taps + tap][output channel of the panel]`.
struct PanelCodes: Sendable {
  private enum Values: Sendable {
    case linear(scale: Constant, bias: Constant)
    case table(Constant, scale: Constant?)
  }

  private let codes: AlignedBuffer
  private let values: Values
  private let form: WinogradForm
  private let inputs: Int
  /// Padded to whole blocks.
  private let channels: Int
  private let outputs: Int
  private let panelChannels: Int

  /// Of the buffer that holds them.
  static func byteCount(
    _ geometry: ConvolutionGeometry, _ form: WinogradForm, inputs: Int
  ) -> Int {
    form.taps * inputs * geometry.outputs
  }

  /// - Parameters:
  ///   - weights: `[outputs, inputs, rows, columns]`, as they stand in the file.
  ///   - factors: one an output channel, from a layer behind.
  init?(
    _ weights: CompressedWeights, _ shape: (outputs: Int, inputs: Int), factors: [Float]?,
    _ geometry: ConvolutionGeometry, _ form: WinogradForm, panelChannels: Int,
    _ context: StepContext
  ) throws {
    guard let rows = weights.rowCodes(shape.outputs) else { return nil }
    self.form = form
    inputs = shape.inputs
    channels = geometry.inputs
    outputs = geometry.outputs
    self.panelChannels = panelChannels
    let padding = geometry.outputs - shape.outputs
    func scaled(_ values: [Float]) throws -> Constant {
      let scaled = values.indices.map { Float(Double(values[$0]) * Double(factors?[$0] ?? 1)) }
      return try Constant(scaled, paddedTo: geometry.outputs)
    }
    switch rows.values {
    case .linear(let scale, let bias):
      values = .linear(scale: try scaled(scale), bias: try scaled(bias))
    case .table(let table):
      let ones = [Float](repeating: 1, count: shape.outputs)
      values = .table(
        try Constant(table, paddedTo: 256),
        scale: factors == nil && padding == 0 ? nil : try scaled(ones))
    }
    let bytes = Self.byteCount(geometry, form, inputs: inputs)
    codes = try context.weightBuffer(floats: (bytes + 3) / 4)
    let target = UnsafeMutableSendable(codes.pointer.assumingMemoryBound(to: UInt8.self))
    let count = form.taps * inputs
    context.pool.forEach((outputs + 7) / 8) { index in
      let panel = index * 8 / panelChannels
      let width = min(panelChannels, geometry.outputs - panel * panelChannels)
      rows.transpose(
        from: index * 8, count: count,
        to: target.pointer + panel * panelChannels * count + index * 8 % panelChannels,
        stride: width)
    }
    rows.source.dropPages()
  }

  /// The transformed weights of a panel.
  func expand(
    panel: Int, to packed: UnsafeMutablePointer<Float>, pointStride: Int,
    _ kernels: any KernelTable.Type
  ) {
    let first = panel * panelChannels
    let used: PanelValues =
      switch values {
      case .linear(let scale, let bias):
        .linear(scale: scale.pointer + first, bias: bias.pointer + first)
      case .table(let table, let scale):
        .table(table.pointer, scale: scale.map { $0.pointer + first })
      }
    kernels.expandWinogradWeights(
      WinogradExpansionArguments(
        form: form,
        codes: UnsafePointer(codes.pointer.assumingMemoryBound(to: UInt8.self))
          + first * form.taps * inputs,
        values: used, inputChannels: inputs, channels: channels,
        width: min(panelChannels, outputs - first), packed: packed, pointStride: pointStride))
  }
}

/// Codes in rows of one length, and what they stand for.
struct RowCodes: Sendable {
  enum Values: Sendable {
    /// One a row.
    case linear(scale: [Float], bias: [Float])
    case table([Float])
  }

  let source: Bytes
  let bits: Int
  let rows: Int
  let values: Values

  /// Bytes of eight rows, `target[k · stride + row]`. Behind the last row it is taken again.
  func transpose(
    from first: Int, count: Int, to target: UnsafeMutablePointer<UInt8>, stride: Int
  ) {
    source.withUnsafeBytes { bytes in
      var k = 0
      while k < count {
        let length = min(8, count - k)
        var square = SIMD8<UInt64>.zero
        for row in 0..<8 {
          let start = min(first + row, rows - 1) * count + k
          square[row] =
            bits == 8 && length == 8
            ? bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            : codes(bytes, start, length)
        }
        exchange(&square)
        for index in 0..<length {
          UnsafeMutableRawPointer(target + (k + index) * stride)
            .storeBytes(of: square[index], as: UInt64.self)
        }
        k += 8
      }
    }
  }

  /// `count` codes from `first` on, the first in the lowest byte.
  private func codes(_ bytes: UnsafeRawBufferPointer, _ first: Int, _ count: Int) -> UInt64 {
    var codes: UInt64 = 0
    if count == 8 && (first * bits) & 7 == 0 {
      let start = first * bits / 8
      var word: UInt64 = 0
      for index in 0..<bits {
        word = word << 8 | UInt64(bytes[start + index])
      }
      let mask: UInt64 = (1 << UInt64(bits)) - 1
      for index in 0..<8 {
        let code = (word >> UInt64(bits * (7 - index))) & mask
        codes |= code << UInt64(8 * index)
      }
      return codes
    }
    let packed = PackedCodes(bytes, bits: bits)
    for index in 0..<count { codes |= UInt64(packed[first + index]) << UInt64(8 * index) }
    return codes
  }

  /// Exchanges rows and columns of eight rows of eight bytes.
  private func exchange(_ square: inout SIMD8<UInt64>) {
    func exchange(_ step: Int, _ shift: UInt64, _ mask: UInt64) {
      for row in 0..<8 where row & step == 0 {
        let (a, b) = (square[row], square[row + step])
        square[row] = a & mask | (b & mask) << shift
        square[row + step] = a >> shift & mask | b & ~mask
      }
    }
    exchange(4, 32, 0x0000_0000_ffff_ffff)
    exchange(2, 16, 0x0000_ffff_0000_ffff)
    exchange(1, 8, 0x00ff_00ff_00ff_00ff)
  }
}
