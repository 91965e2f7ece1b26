import CoreMLModel
import Kernels
import TensorCore

/// The codes of a convolution's weights, one byte each, in the order in which Winograd's algorithm
/// expands and transforms them panel by panel:
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
  /// Channels, padded to whole blocks.
  private let channels: Int
  private let outputs: Int
  private let panelChannels: Int

  /// The size of the buffer for the codes.
  static func byteCount(_ geometry: ConvolutionGeometry, _ form: WinogradForm, inputs: Int) -> Int {
    form.taps * inputs * geometry.outputs
  }

  /// - Parameters:
  ///   - weights: `[outputs, inputs, rows, columns]`, as stored in the file.
  ///   - factors: one per output channel, from a later layer.
  init?(
    _ weights: CompressedWeights, _ shape: (outputs: Int, inputs: Int), factors: [Float]?,
    _ schedule: WinogradSchedule, _ context: StepContext
  ) throws {
    let (geometry, form, panelChannels) =
      (schedule.geometry, schedule.form, schedule.panelChannels)
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

  /// Writes the transformed weights of a panel.
  func expand(panel: Int, to packed: PointBuffer, _ kernels: any KernelTable.Type) {
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
        panel: CodePanel(
          codes: UnsafePointer(codes.pointer.assumingMemoryBound(to: UInt8.self))
            + first * form.taps * inputs,
          values: used, inputChannels: inputs, width: min(panelChannels, outputs - first)),
        channels: channels, packed: packed))
  }
}
