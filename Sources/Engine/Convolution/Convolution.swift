import CoreMLModel
import Kernels
import TensorCore

/// What ordinary and transposed convolutions share, and what the passes fuse into both.
struct ConvolutionWeights: Sendable {
  /// As the document orders them.
  var values: StoredWeights
  var groups: Int
  /// Input and output channels of one group.
  var groupInputs: Int
  var groupOutputs: Int
  /// One factor an output channel, from a layer behind.
  var scale: [Float]?
  var bias: [Float]?
  var activation = FusedFunction.none

  var inputs: Int { groupInputs * groups }
  var outputs: Int { groupOutputs * groups }

  func path(block: Int) -> ConvolutionPath {
    ConvolutionPath(groups: groups, inputs: inputs, outputs: outputs, block: block)
  }

  /// The first group's, of an ordinary convolution, where they stand or in a copy.
  func view(_ window: WindowGeometry, _ kernels: any KernelTable.Type) throws -> WeightView {
    view(window, try values.contiguous(kernels))
  }

  func view(_ window: WindowGeometry, _ bytes: Bytes) -> WeightView {
    let area = window.kernel[0] * window.kernel[1]
    return WeightView(
      bytes: bytes,
      layout: WeightLayout(
        outputStride: groupInputs * area, inputStride: area,
        rowStride: window.kernel[1], columnStride: 1, outputChannels: groupOutputs,
        inputChannels: groupInputs, kernelHeight: window.kernel[0],
        kernelWidth: window.kernel[1]))
  }

  /// y ← factor · y + offset, a pair for each output channel.
  mutating func apply(scale factors: [Double], bias offsets: [Double]) {
    let old = bias
    bias = (0..<outputs).map { Float(Double(old?[$0] ?? 0) * factors[$0] + offsets[$0]) }
    if factors.allSatisfy({ $0 == 1 }) { return }
    let before = scale
    scale = (0..<outputs).map { Float(Double(before?[$0] ?? 1) * factors[$0]) }
  }
}

/// out = activation(bias + Σ weights · in + residual); the residual is the second input.
struct ConvolutionOperation: Operation {
  var weights: ConvolutionWeights
  var window: WindowGeometry
  var hasResidual = false
  /// The row and column of the second input that are added to the first pixel.
  var residualStart = [0, 0]
  /// Whether the output is the largest of each 2 × 2 of these.
  var poolsMaximum = false

  var kind: String { "convolution \(window.kernel[0])×\(window.kernel[1])" + fusedLabel }
  var sumsProducts: Bool { true }

  var takesBorrowedInput: Bool { true }

  private func readsPlanes(_ shapes: NodeShapes) -> Bool {
    weights.groups == 1 && weights.inputs <= 8 && shapes.producedBlocks[0] != .blocked
  }

  /// The shape before pooling.
  private func convolved(_ output: Shape) -> Shape {
    poolsMaximum ? output.resized(height: output.height * 2, width: output.width * 2) : output
  }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes {
    let halo = window.halo(input: shapes.inputs[0], output: convolved(shapes.outputs[0]))
    let block: LayoutWish.Block = readsPlanes(shapes) ? .planar : .blocked
    let input = LayoutWish(block: block, halo: halo)
    return LayoutWishes(inputs: hasResidual ? [input, .blocked] : [input], outputs: [.blocked])
  }

  /// The tiles of Winograd's algorithm and what it computes, where it is used.
  private func winograd(
    _ context: StepContext
  ) -> (form: WinogradForm, geometry: ConvolutionGeometry)? {
    let from = context.inputs[0].layout
    let to = context.outputs[0].layout
    let shape = convolved(to.shape)
    guard from.block == context.channelBlock, to.block == context.channelBlock,
      let form = weights.winogradForm(
        window, output: shape, kernels: context.kernels, context.convolution)
    else { return nil }
    return (form, weights.geometry(shape, context.kernels))
  }

  /// What is computed by Strassen's algorithm, where it is used.
  private func strassen(_ context: StepContext) -> ConvolutionGeometry? {
    let from = context.inputs[0].layout
    let to = context.outputs[0].layout
    guard from.block == context.channelBlock, to.block == context.channelBlock,
      weights.usesStrassen(window, output: to.shape, kernels: context.kernels, context.convolution)
    else { return nil }
    return weights.geometry(to.shape, context.kernels)
  }

  private func schedule(_ geometry: ConvolutionGeometry, _ context: StepContext) -> StrassenSchedule
  {
    StrassenSchedule(geometry, kernels: context.kernels, threads: context.threadCount)
  }

  func describe(_ context: StepContext) -> StepNote {
    if let geometry = strassen(context) {
      return StepNote(
        kernel: "Strassen 1×1" + fusedLabel,
        weightBytes: schedule(geometry, context).weightFloats * 4)
    }
    if let (form, geometry) = winograd(context) {
      let expands = schedule(geometry, form, context).expandsWeights
      let stored = expands ? weights.values.compressed.map { ", \($0.label)" } : nil
      return StepNote(
        kernel: "Winograd \(form.label)" + (stored ?? "") + fusedLabel,
        weightBytes: expands
          ? PanelCodes.byteCount(geometry, form, inputs: weights.inputs)
          : WinogradSchedule.weightFloats(geometry, form) * 4)
    }
    return directNote(inputBlock: context.inputs[0].layout.block, context)
  }

  /// What `makePlan` gives.
  func directNote(inputBlock: Int, _ context: StepContext) -> StepNote {
    let path = weights.path(block: context.channelBlock)
    let floats = ConvolutionPlan.packedFloats(
      weights.view(window, Bytes()), path: path, groups: weights.groups,
      block: context.channelBlock,
      blockChannels: inputBlock)
    return StepNote(
      kernel: "\(path) \(window.kernel[0])×\(window.kernel[1])" + fusedLabel,
      weightBytes: floats * 4)
  }

  private var fusedLabel: String {
    (hasResidual ? " + residual" : "") + weights.activation.label
      + (poolsMaximum ? " + maximum pooling" : "")
  }

  /// Whether it mixes the channels of each pixel and does nothing else.
  var isPointwise: Bool {
    weights.groups == 1 && window.kernel == [1, 1] && window.stride == [1, 1]
      && window.start == [0, 0] && window.end == [0, 0]
  }

  /// The convolution by its definition, with packed weights.
  func makePlan(inputBlock: Int, _ context: StepContext) throws -> ConvolutionPlan {
    try ConvolutionPlan(
      weights, weights.view(window, context.kernels),
      groupStride: weights.groupOutputs * weights.groupInputs * window.kernel[0]
        * window.kernel[1],
      stride: window.stride, dilation: window.dilation, inputBlock: inputBlock, context: context)
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    if let geometry = strassen(context) { return schedule(geometry, context).scratchFloats }
    guard let (form, geometry) = winograd(context) else { return 0 }
    return schedule(geometry, form, context).scratchFloats
  }

  private func schedule(
    _ geometry: ConvolutionGeometry, _ form: WinogradForm, _ context: StepContext
  ) -> WinogradSchedule {
    WinogradSchedule(
      geometry, form, weights: weights.values, kernels: context.kernels,
      threads: context.threadCount)
  }

  /// Floats from the residual's first pixel to the one that is added to the output's first.
  private func residualOffset(_ context: StepContext) -> Int {
    guard hasResidual else { return 0 }
    let layout = context.inputs[1].layout
    return residualStart[0] * layout.rowStride + residualStart[1] * layout.block
  }

  /// The buffers of a run.
  private func buffers(_ context: StepContext) -> @Sendable (RunContext) -> ConvolutionBuffers {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let residual = hasResidual ? context.inputs[1] : nil
    let residualOffset = residualOffset(context)
    let scratch = context.scratch
    return { run in
      ConvolutionBuffers(
        input: run.pointer(input), output: run.pointer(output),
        residual: residual.map { UnsafePointer(run.pointer($0)) + residualOffset },
        scratch: run.pointer(scratch))
    }
  }

  private func makeWinogradStep(
    _ form: WinogradForm, _ geometry: ConvolutionGeometry, _ context: StepContext
  ) throws -> StepBody {
    let plan = try WinogradPlan(
      weights, window: window, schedule: schedule(geometry, form, context),
      geometry: geometry, poolsMaximum: poolsMaximum,
      residual: hasResidual ? context.inputs[1].layout : nil, context: context)
    let buffers = buffers(context)
    return { run in plan.run(buffers(run), run.pool) }
  }

  private func makeStrassenStep(
    _ geometry: ConvolutionGeometry, _ context: StepContext
  ) throws -> StepBody {
    let output = context.outputs[0]
    let schedule = schedule(geometry, context)
    let plan = try StrassenPlan(
      weights, window: window, schedule: schedule, geometry: geometry,
      residual: hasResidual ? context.inputs[1].layout : nil, context: context)
    let buffers = buffers(context)
    return { run in
      let buffers = buffers(run)
      run.share(schedule.units, writing: output) { thread, units in
        plan.run(units, ofThread: thread, buffers)
      }
    }
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    if let geometry = strassen(context) { return try makeStrassenStep(geometry, context) }
    if let (form, geometry) = winograd(context) {
      return try makeWinogradStep(form, geometry, context)
    }
    let input = context.inputs[0]
    let output = context.outputs[0]
    let residual = hasResidual ? context.inputs[1] : nil
    let residualOffset = residualOffset(context)
    let path = weights.path(block: context.channelBlock)
    let plan = try makePlan(inputBlock: input.layout.block, context)
    let from = input.layout
    let to = output.layout
    let isFlat =
      path != .general && window.kernel == [1, 1] && window.stride == [1, 1]
      && window.start == [0, 0] && from.hasContiguousPlanes
      && to.hasContiguousPlanes && (residual?.layout.hasContiguousPlanes ?? true)
      && residual?.layout.shape ?? to.shape == to.shape
    let units = ConvolutionUnits(
      plan, from: from, to: to, window: window, isFlat: isFlat, tile: context.kernels.pixelTile,
      threads: context.threadCount)
    let start = window.origin(in: from)
    let stride = window.stride
    let clearsLanes = path == .general && to.hasEmptyLanes
    // Few planes are streams that the processor fetches ahead by itself, from memory of our own.
    let isEasyToFollow = from.channelBlocks < 8 && !input.isBorrowed
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      let added = residual.map { UnsafePointer(run.pointer($0)) + residualOffset }
      run.parallel(units.count, writing: output) { index in
        let unit = units[index]
        let rowOffset = isFlat ? 0 : unit.rows.lowerBound
        let pixelOffset = isFlat ? unit.rows.lowerBound : 0
        var rows = ConvolutionPlan.Rows(
          input: source + start + unit.image * from.imageStride
            + rowOffset * stride[0] * from.rowStride + pixelOffset * from.block,
          inputStrides: from.strides,
          isInputNear: isEasyToFollow || units.rereadsInput && unit.panels.lowerBound > 0,
          output: target + to.origin + unit.image * to.imageStride + rowOffset * to.rowStride
            + pixelOffset * to.block,
          outputStrides: to.strides, count: isFlat ? 1 : unit.rows.count,
          width: isFlat ? unit.rows.count : to.shape.width)
        if let residual, let added {
          let layout = residual.layout
          rows.residual =
            added + layout.origin + unit.image * layout.imageStride + rowOffset * layout.rowStride
            + pixelOffset * layout.block
          rows.residualStrides = layout.strides
        }
        plan.run(unit.panels, rows)
        if clearsLanes, unit.panels.upperBound == plan.panels {
          let last = (unit.image + 1) * to.channelBlocks - 1
          to.clearEmptyLanes(ofPlane: last, rows: unit.rows, in: target)
        }
      }
    }
  }
}

/// How a convolution is cut into pieces: images × row bands × panels of output channels.
struct ConvolutionUnits: Sendable {
  struct Unit {
    var image: Int
    /// Rows of the output, or pixels where planes are taken as one long row.
    var rows: Range<Int>
    var panels: Range<Int>
  }

  private let images: Int
  private let length: Int
  private let panels: Int
  private var cut: Cut

  /// Bands of an image, and whether the panels of one band follow one another, rather than the bands
  /// of one panel.
  private struct Cut {
    var bands: Int
    var panelsInner: Bool
  }

  var count: Int { images * cut.bands * panels }
  /// Whether each panel but the first reads what the one before has read just now.
  var rereadsInput: Bool { cut.panelsInner || cut.bands == 1 }

  init(
    _ plan: ConvolutionPlan, from: TensorLayout, to: TensorLayout, window: WindowGeometry,
    isFlat: Bool, tile: Int, threads: Int
  ) {
    images = to.shape.images
    panels = plan.panels
    length = isFlat ? to.shape.area : to.shape.height
    let panelsInner = plan.panelBytes * plan.panels <= Self.cacheBytes
    // A band's input should stay in the second-level cache while all panels pass over it.
    let lineBytes =
      (isFlat ? from.block : from.rowStride) * from.channelBlocks * 4
      * (isFlat ? 1 : window.stride[0])
    var lines = max(1, Self.cacheBytes / max(1, lineBytes))
    if isFlat { lines = max(tile * 4, lines / tile * tile) }
    let fewest = (length + lines - 1) / lines
    cut = Cut(bands: fewest, panelsInner: panelsInner)
    guard threads > 1 else { return }
    // With many pieces for each thread there is little to gain.
    let enough = threads * 16 / max(1, images * panels)
    let most = max(
      fewest, min(length / (isFlat ? max(1, tile / 2) : 1), fewest + 2 * threads, enough))
    let work = (0..<panels).map { plan.blocks(ofPanel: $0) }
    var least = Int.max
    for bands in fewest...most {
      for inner in [panelsInner, !panelsInner] {
        let candidate = Cut(bands: bands, panelsInner: inner)
        // More pieces must gain a hundredth each.
        let longest =
          longestShare(candidate, work, threads)
          * (100 + bands - fewest + (inner == panelsInner ? 0 : 1))
        if longest < least {
          least = longest
          cut = candidate
        }
      }
    }
  }

  /// Lines × blocks of the thread that has most to do.
  private func longestShare(_ cut: Cut, _ work: [Int], _ threads: Int) -> Int {
    let count = images * cut.bands * panels
    return (0..<threads).map { thread in
      ThreadPool.share(of: count, thread, threads).reduce(0) { sum, index in
        let unit = self.unit(index, cut)
        return sum + unit.rows.count * work[unit.panels.lowerBound]
      }
    }.max() ?? 0
  }

  private static let cacheBytes = 384 << 10

  subscript(index: Int) -> Unit { unit(index, cut) }

  private func unit(_ index: Int, _ cut: Cut) -> Unit {
    let bands = cut.bands
    let image = index / (bands * panels)
    let rest = index % (bands * panels)
    let band = cut.panelsInner ? rest / panels : rest % bands
    let panel = cut.panelsInner ? rest % panels : rest / bands
    return Unit(
      image: image, rows: ThreadPool.share(of: length, band, bands), panels: panel..<panel + 1)
  }
}

extension Convolution: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    guard layer.inputs.count == 1 else {
      throw ModelError(.unsupported, "weights that are an input cannot be run", field: "input")
    }
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let groups = effectiveGroups
    try layer.require(
      groups > 0 && outputChannels > 0 && kernelChannels > 0 && outputChannels % groups == 0,
      "nGroups", "\(groups) for \(outputChannels) output channels")
    let inputs = try inputChannels
    try layer.require(
      inputs == input.channels && inputs % groups == 0, "kernelChannels",
      "\(kernelChannels) with \(groups) groups for \(input.channels) input channels")
    let window = try WindowGeometry(self, input: input)
    let weights = ConvolutionWeights(
      values: try layer.stored(
        kernel, kernelShape, channelAxis: isDeconvolution ? 1 : 0, "weights"), groups: groups,
      groupInputs: inputs / groups, groupOutputs: outputChannels / groups,
      bias: hasBias ? try layer.values(bias, [outputChannels], "bias").array() : nil)
    if isDeconvolution {
      let operation = TransposedConvolutionOperation(weights: weights, window: window)
      return [layer.add(operation, layer.inputs, output)]
    }
    return [
      layer.add(ConvolutionOperation(weights: weights, window: window), layer.inputs, output)
    ]
  }
}
