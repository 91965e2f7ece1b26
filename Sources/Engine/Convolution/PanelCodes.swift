import CoreMLModel
import Kernels
import TensorCore

/// The codes of a convolution's weights, one byte each, in the order in which panels of output
/// channels are computed.
struct PanelCodes: Sendable {
  private enum Values: Sendable {
    case linear(scale: Constant, bias: Constant)
    case halves(scale: Constant, bias: Constant)
    case table(Constant)
  }

  /// `[group][panel][place of an output's weight][output channel of the panel]`
  struct Order: Sendable {
    var groups = 1
    /// Output channels of a group, padded to whole blocks.
    var outputs: Int
    var panelChannels: Int
    /// Places for the weights of one output channel.
    var places: Int
    /// The place of an output's weight; nil is the order in which they are stored.
    var place: (@Sendable (Int) -> Int)?

    var byteCount: Int { groups * outputs * places }
  }

  private let codes: AlignedBuffer
  private let values: Values
  /// One per output channel.
  private let factor: Constant?

  /// Nil if the weights have no codes with a scale for each output channel, or a table for all.
  ///
  /// - Parameter mergesFactors: whether to multiply scales, not weights, by the factors of a later
  ///   layer, where weights are not rounded after that.
  init?(
    _ convolution: ConvolutionWeights, mergesFactors: Bool, _ order: Order, _ context: StepContext
  ) throws {
    let (outputs, factors) = (convolution.outputs, convolution.scale)
    guard let weights = convolution.values.compressed, let rows = weights.rowCodes(outputs) else {
      return nil
    }
    let padded = order.groups * order.outputs
    func constant(_ values: [Float], _ factors: [Float]? = nil) throws -> Constant {
      let scaled = values.indices.map { Float(Double(values[$0]) * Double(factors?[$0] ?? 1)) }
      return try Constant(scaled, paddedTo: padded)
    }
    switch rows.values {
    case .linear(let scale, let bias) where weights.roundsToHalf:
      values = .halves(scale: try constant(scale), bias: try constant(bias))
      factor = try factors.map { try constant($0) }
    case .linear(let scale, let bias):
      let merged = mergesFactors ? factors : nil
      values = .linear(scale: try constant(scale, merged), bias: try constant(bias, merged))
      factor = mergesFactors ? nil : try factors.map { try constant($0) }
    case .table(let table):
      values = .table(try Constant(table, paddedTo: 256))
      let ones = padded > outputs ? [Float](repeating: 1, count: outputs) : nil
      factor = try (factors ?? ones).map { try constant($0) }
    }
    codes = try context.weightBuffer(floats: (order.byteCount + 3) / 4)
    let target = UnsafeMutableSendable(codes.pointer.assumingMemoryBound(to: UInt8.self))
    context.pool.forEach(padded / 8) { index in
      let (group, first) = (index * 8).quotientAndRemainder(dividingBy: order.outputs)
      let column = first % order.panelChannels
      rows.transpose(
        from: outputs / order.groups * group + first, count: weights.count / outputs,
        to: target.pointer + (index * 8 - column) * order.places + column,
        stride: min(order.panelChannels, order.outputs - (first - column)), order.place)
    }
    rows.source.dropPages()
  }

  /// The panel that starts at output channel `first`, padded channels of earlier groups included.
  func panel(from first: Int, places: Int, inputChannels: Int, width: Int) -> CodePanel {
    let values: PanelValues =
      switch values {
      case .linear(let scale, let bias):
        .linear(scale: scale.pointer + first, bias: bias.pointer + first)
      case .halves(let scale, let bias):
        .halves(scale: scale.pointer + first, bias: bias.pointer + first)
      case .table(let table): .table(table.pointer)
      }
    return CodePanel(
      codes: UnsafePointer(codes.pointer.assumingMemoryBound(to: UInt8.self)) + first * places,
      values: values, factor: factor.map { $0.pointer + first }, inputChannels: inputChannels,
      width: width)
  }
}

// MARK: - Winograd

/// Codes that Winograd's algorithm expands and transforms panel by panel, with the weights of each
/// output channel as stored.
struct WinogradCodes: Sendable {
  private let codes: PanelCodes
  private let schedule: WinogradSchedule
  private let inputs: Int

  private static func order(_ schedule: WinogradSchedule, inputs: Int) -> PanelCodes.Order {
    PanelCodes.Order(
      outputs: schedule.geometry.outputs, panelChannels: schedule.panelChannels,
      places: schedule.form.taps * inputs)
  }

  /// The size of the buffer for the codes.
  static func byteCount(_ schedule: WinogradSchedule, inputs: Int) -> Int {
    order(schedule, inputs: inputs).byteCount
  }

  init?(_ weights: ConvolutionWeights, _ schedule: WinogradSchedule, _ context: StepContext) throws
  {
    guard
      let codes = try PanelCodes(
        weights, mergesFactors: true, Self.order(schedule, inputs: weights.inputs), context)
    else { return nil }
    (self.codes, self.schedule, inputs) = (codes, schedule, weights.inputs)
  }

  /// Writes the transformed weights of a panel.
  func expand(panel: Int, to packed: PointBuffer, _ kernels: any KernelTable.Type) {
    let places = schedule.form.taps * inputs
    kernels.expandWinogradWeights(
      WinogradExpansionArguments(
        form: schedule.form,
        panel: codes.panel(
          from: panel * schedule.panelChannels, places: places, inputChannels: inputs,
          width: schedule.width(ofPanel: panel)), channels: schedule.channels, packed: packed))
  }
}
