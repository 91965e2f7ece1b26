import Kernels
import TensorCore

/// The kernel that computes a convolution.
enum ConvolutionPath: Sendable, Equatable {
  /// One input and one output channel per group.
  case depthwise
  /// Groups that fill whole channel blocks, or a single one.
  case direct
  /// Groups that share channel blocks.
  case general

  init(groups: Int, inputs: Int, outputs: Int, block: Int) {
    if groups > 1, inputs == groups, outputs == groups {
      self = .depthwise
    } else if groups == 1 || (inputs / groups % block == 0 && outputs / groups % block == 0) {
      self = .direct
    } else {
      self = .general
    }
  }

  /// Whether the kernel can apply activation and residual.
  var hasEpilogue: Bool { self != .general }
}

/// A convolution with packed weights for any rows and columns: all of an ordinary convolution, or
/// one phase of a transposed one.
struct DirectPlan: Sendable {
  let path: ConvolutionPath
  let groups: Int
  /// The sizes; the weights are in `packed`.
  private let view: WeightView
  private let window: Window
  private let block: Int
  private let panelBlocks: Int
  private let kernels: any KernelTable.Type
  private let inputBlockChannels: Int
  private let packed: Packed
  private let epilogue: FusedEpilogue
  var tiles = Tiles.none

  /// Output channel blocks per group (of all groups for depthwise and general).
  let groupBlocks: Int
  private let groupInputBlocks: Int
  private let groupFloats: Int

  private enum Packed: Sendable {
    case floats(Constant)
    case codes(PanelCodes)
  }

  /// A thread's memory for weights that it expands from codes.
  struct Expansion {
    fileprivate let memory: UnsafeMutablePointer<Float>
    /// The panel that the memory contains whole.
    fileprivate var panel: Int?

    init(_ memory: UnsafeMutablePointer<Float>) { self.memory = memory }
  }

  /// The addresses for the rows of one call.
  struct Rows {
    /// Tap (0, 0) of the first output pixel, channel 0.
    var input: InputView
    /// Whether the first panel's input has just been read or written.
    var isInputNear = false
    /// The first output pixel, channel 0. Only `direct` supports a pixel stride other than the
    /// channel block.
    var output: OutputView
    var count: Int
    var width: Int
    /// For sums of integers, starting with the first output channel.
    var bytes: ByteSums?
    var residual: UnsafePointer<Float>?
    var residualStrides = Strides()
  }

  /// The number of packed floats.
  static func packedFloats(
    _ view: WeightView, path: ConvolutionPath, groups: Int, block: Int, blockChannels: Int
  ) -> Int {
    switch path {
    case .depthwise:
      (groups + block - 1) / block * block * view.kernelHeight * view.kernelWidth
    case .general: view.count * groups
    case .direct: groups * view.packedFloats(blockChannels: blockChannels, block: block)
    }
  }

  /// - Parameters:
  ///   - view: the first group's weights; without bytes to keep codes.
  ///   - window: strides and dilations; the taps are those of the weights.
  ///   - inputBlock: the block of the input's layout.
  init(
    _ weights: ConvolutionWeights, _ view: WeightView, _ window: Window, inputBlock: Int,
    context: StepContext
  ) throws {
    path = weights.path(block: context.channelBlock)
    groups = weights.groups
    self.view = view.withoutBytes
    var taps = window
    (taps.height, taps.width) = (view.kernelHeight, view.kernelWidth)
    self.window = taps
    block = context.channelBlock
    panelBlocks = context.kernels.panelBlocks
    kernels = context.kernels
    inputBlockChannels = inputBlock
    let floats = Self.packedFloats(
      view, path: path, groups: groups, block: block, blockChannels: inputBlock)
    let channels = view.outputChannels * groups
    groupFloats = path == .direct ? floats / groups : floats
    groupBlocks = ((path == .direct ? view.outputChannels : channels) + block - 1) / block
    groupInputBlocks = (view.inputChannels + inputBlock - 1) / inputBlock
    packed =
      if let words = view.words {
        .floats(words)
      } else if view.bytes.count == 0,
        let codes = try Self.codes(weights, view, floats: floats, inputBlock, context)
      {
        .codes(codes)
      } else {
        .floats(try Self.pack(weights, view, inputBlock: inputBlock, context))
      }
    epilogue = try FusedEpilogue(
      bias: weights.bias, weights.activation, channels: (channels + block - 1) / block * block)
  }

  /// Panels per group: the units along the output channels.
  var groupPanels: Int { (groupBlocks + panelBlocks - 1) / panelBlocks }
  var panels: Int { path == .direct ? groups * groupPanels : groupBlocks }
  /// Output channel blocks in a panel.
  func blocks(ofPanel panel: Int) -> Int {
    path == .direct ? min(panelBlocks, groupBlocks - panel % groupPanels * panelBlocks) : 1
  }
  /// Bytes of one panel's packed weights, expanded.
  var panelBytes: Int { 4 * groupFloats / max(1, path == .direct ? groupPanels : panels) }

  /// Computes the panels in `range` for some rows.
  ///
  /// - Parameter expansion: the thread's, if codes are kept.
  func run(_ range: Range<Int>, _ rows: Rows, _ expansion: inout Expansion) {
    switch (path, packed) {
    case (.direct, .codes(let codes)):
      for panel in range { run(panel, of: codes, rows, &expansion) }
    default: run(range, rows)
    }
  }

  /// The same for packed floats.
  func run(_ range: Range<Int>, _ rows: Rows) {
    guard case .floats(let packed) = packed else { return }
    switch path {
    case .direct: runDirect(range, rows, packed)
    case .depthwise:
      let first = range.lowerBound
      kernels.depthwiseConvolution(
        arguments(
          rows, inputBlocks: first..<first + 1, blockChannels: 1,
          weights: packed.pointer + first * window.taps * block,
          outputBlocks: first..<range.upperBound))
    case .general:
      let channels = view.outputChannels * groups
      kernels.generalConvolution(
        arguments(
          rows, inputBlocks: 0..<1, blockChannels: view.inputChannels, weights: packed.pointer,
          outputBlocks: 0..<range.upperBound),
        groupOutputs: view.outputChannels,
        channels: range.lowerBound * block..<min(channels, range.upperBound * block))
    }
  }

  /// Weights of an input block in a panel with `channels` output channels.
  private func blockFloats(_ channels: Int) -> Int { channels * window.taps * inputBlockChannels }

  private func run(
    _ panel: Int, of codes: PanelCodes, _ rows: Rows, _ expansion: inout Expansion
  ) {
    let (group, first) = panel.quotientAndRemainder(dividingBy: groupPanels)
    let firstBlock = group * groupBlocks + first * panelBlocks
    let blocks = blocks(ofPanel: panel)
    var arguments = arguments(
      rows, inputBlocks: group * groupInputBlocks..<(group + 1) * groupInputBlocks,
      blockChannels: inputBlockChannels, weights: expansion.memory,
      outputBlocks: firstBlock..<firstBlock + blocks)
    if expansion.panel != panel {
      arguments.coded = CodedWeights(
        codes.panel(
          from: firstBlock * block, places: blockFloats(1) * groupInputBlocks,
          inputChannels: view.inputChannels, width: blocks * block), expanded: expansion.memory)
      let pieceBlocks = ConvolutionArguments.blocksAtOnce(
        groupInputBlocks, blockFloats: blockFloats(blocks * block))
      expansion.panel = pieceBlocks == groupInputBlocks ? panel : nil
    }
    kernels.convolution(arguments)
  }

  private func runDirect(_ range: Range<Int>, _ rows: Rows, _ packed: Constant) {
    var panel = range.lowerBound
    while panel < range.upperBound {
      let group = panel / groupPanels
      let first = panel % groupPanels
      let count = min(range.upperBound - panel, groupPanels - first)
      let firstBlock = group * groupBlocks + first * panelBlocks
      let blocks = min(count * panelBlocks, groupBlocks - first * panelBlocks)
      let blockFloats = blockFloats(block) * groupInputBlocks
      kernels.convolution(
        arguments(
          rows, inputBlocks: group * groupInputBlocks..<(group + 1) * groupInputBlocks,
          blockChannels: inputBlockChannels,
          weights: packed.pointer + group * groupFloats + first * panelBlocks * blockFloats,
          outputBlocks: firstBlock..<firstBlock + blocks))
      panel += count
    }
  }

  private func arguments(
    _ rows: Rows, inputBlocks: Range<Int>, blockChannels: Int,
    weights: UnsafePointer<Float>, outputBlocks: Range<Int>
  ) -> ConvolutionArguments {
    let first = outputBlocks.lowerBound
    var epilogue = epilogue.from(first * block)
    epilogue.residual = rows.residual.map { $0 + first * rows.residualStrides.block }
    epilogue.residualStrides = rows.residualStrides
    var arguments = ConvolutionArguments(
      input: rows.input, weights: weights, output: rows.output,
      extent: Extent(blocks: outputBlocks.count, rows: rows.count, width: rows.width))
    arguments.input.base += inputBlocks.lowerBound * rows.input.strides.block
    arguments.inputBlocks = inputBlocks.count
    arguments.blockChannels = blockChannels
    arguments.window = window
    arguments.output.base += first * rows.output.strides.block
    arguments.epilogue = epilogue
    arguments.bytes = rows.bytes?.from(first * block)
    arguments.isInputNear = rows.isInputNear
    arguments.tiles = tiles
    return arguments
  }
}

// MARK: - Packing

extension DirectPlan {
  /// Floats of an `Expansion`'s memory.
  static func expandedFloats(_ view: WeightView, inputBlock: Int, _ context: StepContext) -> Int {
    let inputBlocks = (view.inputChannels + inputBlock - 1) / inputBlock
    // A narrower panel may be expanded in fewer, larger pieces.
    return (1...context.kernels.panelBlocks).reduce(0) { most, blocks in
      let blockFloats =
        blocks * context.channelBlock * view.kernelHeight * view.kernelWidth * inputBlock
      return max(
        most,
        blockFloats * ConvolutionArguments.blocksAtOnce(inputBlocks, blockFloats: blockFloats))
    }
  }

  private static func codes(
    _ weights: ConvolutionWeights, _ view: WeightView, floats: Int, _ inputBlock: Int,
    _ context: StepContext
  ) throws -> PanelCodes? {
    let block = context.channelBlock
    let outputs = (view.outputChannels + block - 1) / block * block
    let taps = view.kernelHeight * view.kernelWidth
    var order = PanelCodes.Order(
      groups: weights.groups, outputs: outputs, panelChannels: context.kernels.panelBlocks * block,
      places: floats / (weights.groups * outputs))
    if taps > 1 {
      order.place = {
        let (channel, tap) = $0.quotientAndRemainder(dividingBy: taps)
        return (channel / inputBlock * taps + tap) * inputBlock + channel % inputBlock
      }
    }
    return try PanelCodes(weights, mergesFactors: false, order, context)
  }

  private static func pack(
    _ weights: ConvolutionWeights, _ view: WeightView, inputBlock: Int, _ context: StepContext
  ) throws -> Constant {
    let (groups, scale) = (weights.groups, weights.scale)
    let path = weights.path(block: context.channelBlock)
    if path == .general {
      var values: [Float] = []
      for group in 0..<groups { values += view.group(group).rowMajor() }
      if let scale {
        let perChannel = view.count / view.outputChannels
        for index in values.indices { values[index] *= scale[index / perChannel] }
      }
      return try Constant(values)
    }
    if path == .depthwise {
      // Packs all groups as the output channels of one.
      var all = view
      all.outputChannels = groups
      all.outputStride = view.groupStride
      return try all.packed(blockChannels: 1, panelBlocks: 1, scale: scale, context)
    }
    return try view.packed(
      groups: groups, blockChannels: inputBlock, panelBlocks: context.kernels.panelBlocks,
      scale: scale, context)
  }
}

extension WeightView {
  /// Floats of a group's packed weights.
  func packedFloats(blockChannels: Int, block: Int) -> Int {
    (layout.outputChannels + block - 1) / block * block
      * ((layout.inputChannels + blockChannels - 1) / blockChannels * blockChannels)
      * layout.kernelHeight * layout.kernelWidth
  }

  /// The weights of all groups, packed for `convolution`, or for `depthwiseConvolution` if both block
  /// sizes are 1, one group after the other.
  ///
  /// - Parameter scale: a factor for each output channel of all groups.
  func packed(
    groups: Int = 1, blockChannels: Int, panelBlocks: Int, scale: [Float]? = nil,
    _ context: StepContext
  ) throws -> Constant {
    let (block, kernels) = (context.channelBlock, context.kernels)
    let floats = packedFloats(blockChannels: blockChannels, block: block)
    let buffer = try context.weightBuffer(floats: checkedProduct([groups, floats]))
    let target = UnsafeMutableSendable(buffer.pointer.assumingMemoryBound(to: Float.self))
    let blocks = (layout.outputChannels + block - 1) / block
    let panels = (blocks + panelBlocks - 1) / panelBlocks
    let rows = floats / (blocks * block)
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      context.pool.forEach(groups * panels) { unit in
        let (index, panel) = unit.quotientAndRemainder(dividingBy: panels)
        let packed = target.pointer + index * floats
        kernels.packConvolutionWeights(
          group(index).packingArguments(base, panels: panel..<panel + 1, packed: packed),
          blockChannels: blockChannels, panelBlocks: panelBlocks)
        Self.scaleRows(
          packed + panel * panelBlocks * block * rows, rows: rows,
          width: min(panelBlocks, blocks - panel * panelBlocks) * block, scale,
          firstChannel: index * layout.outputChannels + panel * panelBlocks * block)
      }
    }
    bytes.dropPages()
    return Constant(buffer)
  }

  /// Multiplies each column, which is an output channel, by its factor.
  private static func scaleRows(
    _ values: UnsafeMutablePointer<Float>, rows: Int, width: Int, _ scale: [Float]?,
    firstChannel: Int
  ) {
    guard let scale else { return }
    scale.withUnsafeBufferPointer { factors in
      let used = min(width, factors.count - firstChannel)
      for row in 0..<rows {
        for column in 0..<used { values[row &* width &+ column] *= factors[firstChannel &+ column] }
      }
    }
  }
}

/// A pointer through which several threads write to separate positions.
struct UnsafeMutableSendable<Element>: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<Element>
  init(_ pointer: UnsafeMutablePointer<Element>) { self.pointer = pointer }
}
