import Kernels
import TensorCore

/// out = activation(bias + Σ weights · in + residual); the residual is the second input.
struct ConvolutionOperation: NodeOperation {
  var weights: ConvolutionWeights
  var window: WindowGeometry
  var hasResidual = false
  /// The row and column of the second input that are added to the output's first pixel.
  var residualStart = [0, 0]
  /// Nil until a method is chosen, which means `direct`.
  var method: ConvolutionMethod?
  /// Whether to store only the maximum of each 2 × 2 block of the result; Winograd only.
  var poolsMaximum = false

  var kind: String { "convolution \(window.kernel[0])×\(window.kernel[1])" + fusedLabel }
  var sumsProducts: Bool { true }

  var borrowableInputs: Int { 1 }

  private func readsPlanes(_ shapes: NodeShapes) -> Bool {
    weights.groups == 1 && weights.inputs <= 8 && shapes.producedBlocks[0] != .blocked
  }

  /// The shape before pooling.
  private func convolved(_ output: Shape) -> Shape {
    poolsMaximum ? output.resized(height: output.height * 2, width: output.width * 2) : output
  }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    let halo = window.halo(input: shapes.inputs[0], output: convolved(shapes.outputs[0]))
    let block: LayoutPreference.Block = readsPlanes(shapes) ? .planar : .blocked
    let input = LayoutPreference(block: block, halo: halo)
    return LayoutPreferences(
      inputs: hasResidual ? [input, .blocked] : [input], outputs: [.blocked])
  }

  /// The method with its schedule. Planes with few channels are convolved directly.
  private enum Work {
    case direct
    case integers
    case winograd(WinogradSchedule)
  }

  private func work(_ context: StepContext) -> Work {
    let blocks = [context.inputs[0], context.outputs[0]].map(\.layout.block)
    guard blocks.allSatisfy({ $0 == context.channelBlock }) else { return .direct }
    let geometry = weights.geometry(convolved(context.outputs[0].layout.shape), context.kernels)
    switch method {
    case .direct, nil: return .direct
    case .integers: return .integers
    case .winograd(let form):
      return .winograd(
        WinogradSchedule(
          geometry, form, weights: weights.values, kernels: context.kernels,
          threads: context.threadCount))
    }
  }

  func describe(_ context: StepContext) -> StepNote {
    switch work(context) {
    case .winograd(let schedule):
      let (form, geometry) = (schedule.form, schedule.geometry)
      let expands = schedule.expandsWeights
      let stored = expands ? weights.values.compressed.map { ", \($0.label)" } : nil
      return StepNote(
        kernel: "Winograd \(form.label)" + (stored ?? "") + fusedLabel,
        weightBytes: expands
          ? WinogradCodes.byteCount(schedule, inputs: weights.inputs)
          : WinogradSchedule.weightFloats(geometry, form) * 4)
    case .integers:
      return StepNote(
        kernel: "integers \(window.kernel[0])×\(window.kernel[1])"
          + (weights.values.compressed.map { ", \($0.label)" } ?? "") + fusedLabel,
        weightBytes: 4 * ByteConvolution.Sizes(weights, window, context).weightWords,
        usesIntegers: true)
    case .direct:
      let output = context.outputs[0].layout.shape
      return directNote(inputBlock: context.inputs[0].layout.block, output, context)
    }
  }

  /// Describes the plan that `makePlan` returns.
  func directNote(inputBlock: Int, _ output: Shape, _ context: StepContext) -> StepNote {
    let path = weights.path(block: context.channelBlock)
    let floats = DirectPlan.packedFloats(
      weights.view(window, Bytes()), path: path, groups: weights.groups,
      block: context.channelBlock, blockChannels: inputBlock)
    let codes = keepsCodes(output, context) ? weights.values.compressed : nil
    return StepNote(
      kernel: "\(path) \(window.kernel[0])×\(window.kernel[1])"
        + (codes.map { ", \($0.label)" } ?? "") + fusedLabel,
      weightBytes: codes == nil ? floats * 4 : floats)
  }

  var fusedLabel: String {
    (hasResidual ? " + residual" : "") + weights.activation.label
      + (poolsMaximum ? " + maximum pooling" : "")
  }

  /// Whether the operation mixes the channels of each pixel and does nothing else.
  var isPointwise: Bool {
    weights.groups == 1 && window.kernel == [1, 1] && window.stride == [1, 1]
      && window.start == [0, 0] && window.end == [0, 0]
  }

  /// Whether tiles are worthwhile: with fewer pixels, outputs or terms, splitting the factors takes
  /// longer than it saves.
  func fitsTiles(_ output: Shape, inputBlock: Int) -> Bool {
    weights.path(block: inputBlock) == .direct && inputBlock % 16 == 0 && output.area >= 48
      && weights.groupOutputs >= 32
      && weights.groupInputs * window.kernel[0] * window.kernel[1] >= 64
  }

  /// For fewer pixels, expanding codes in every run takes longer than it saves; looking them up in a
  /// table may take many times as long as scaling them.
  private static let fewestPixels = (linear: 16, table: 96)

  /// Whether a direct convolution keeps codes and expands them panel by panel: not those of few
  /// weights, which stay in the cache while all pixels use them. Results do not depend on it.
  func keepsCodes(_ output: Shape, _ context: StepContext) -> Bool {
    guard weights.path(block: context.channelBlock) == .direct, context.tiles == .none,
      let compressed = weights.values.compressed,
      4 * compressed.count > ConvolutionUnits.cacheBytes,
      let codes = compressed.rowCodes(weights.outputs)
    else { return false }
    let fewest =
      if case .table = codes.values { Self.fewestPixels.table } else { Self.fewestPixels.linear }
    return output.images * output.area >= fewest
  }

  /// The floats that each thread needs for expanding codes.
  func expandedFloats(inputBlock: Int, _ output: Shape, _ context: StepContext) -> Int {
    keepsCodes(output, context)
      ? DirectPlan.expandedFloats(
        weights.view(window, Bytes()), inputBlock: inputBlock, context) : 0
  }

  /// A direct convolution with packed weights.
  func makePlan(
    inputBlock: Int, _ output: Shape, tiles: Tiles = .none, _ context: StepContext
  ) throws -> DirectPlan {
    var taps = Window(strideY: window.stride[0], strideX: window.stride[1])
    (taps.dilationY, taps.dilationX) = (window.dilation[0], window.dilation[1])
    let view =
      keepsCodes(output, context)
      ? weights.view(window, Bytes()) : try weights.view(window, context.kernels)
    var plan = try DirectPlan(weights, view, taps, inputBlock: inputBlock, context: context)
    plan.tiles = tiles
    return plan
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    switch work(context) {
    case .direct:
      context.threadCount
        * expandedFloats(
          inputBlock: context.inputs[0].layout.block, context.outputs[0].layout.shape, context)
    case .winograd(let schedule): schedule.scratchFloats
    case .integers: ByteConvolution.Sizes(weights, window, context).scratchFloats
    }
  }

  /// Floats from the residual's first pixel to the pixel that is added to the output's first pixel.
  private func residualOffset(_ context: StepContext) -> Int {
    guard hasResidual else { return 0 }
    let layout = context.inputs[1].layout
    return residualStart[0] * layout.rowStride + residualStart[1] * layout.pixelStride
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    switch work(context) {
    case .winograd(let schedule):
      var plan = try WinogradPlan(
        weights, window: window, schedule: schedule,
        residual: hasResidual ? (context.inputs[1], residualOffset(context)) : nil,
        context: context)
      plan.poolsMaximum = poolsMaximum
      return { [plan] run in plan.run(run) }
    case .direct: return try makeDirectStep(context)
    case .integers:
      return try makeDirectStep(context, ByteConvolution(weights, window, context))
    }
  }

  /// - Parameter bytes: for sums of integers.
  private func makeDirectStep(
    _ context: StepContext, _ bytes: ByteConvolution? = nil
  ) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let residual = hasResidual ? context.inputs[1] : nil
    let residualOffset = residualOffset(context)
    let path = weights.path(block: context.channelBlock)
    let from = input.layout
    let to = output.layout
    let plan =
      try bytes?.plan
      ?? makePlan(
        inputBlock: from.block, to.shape,
        tiles: fitsTiles(to.shape, inputBlock: from.block) ? context.tiles : .none, context)
    let isInPlace =
      window.stride == [1, 1] && window.start == [0, 0] && from.hasContiguousPlanes
    let isFlat =
      path != .general && window.kernel == [1, 1] && (bytes != nil || isInPlace)
      && to.hasContiguousPlanes && (residual?.layout.hasContiguousPlanes ?? true)
      && residual?.layout.shape ?? to.shape == to.shape
    let units = ConvolutionUnits(plan, window, isFlat: isFlat, context)
    let start = bytes == nil ? window.origin(in: from) : 0
    let strides = bytes?.sizes.strides ?? from.strides
    let stride = bytes?.sizes.stride ?? window.stride
    let clearsLanes = path == .general && to.hasEmptyLanes
    // The processor prefetches a few planes by itself if they are in the arena.
    let isEasyToFollow = bytes != nil || from.channelBlocks < 8 && !input.isBorrowed
    let scratch = context.scratch
    let expandedFloats = expandedFloats(inputBlock: from.block, to.shape, context)
    return { run in
      bytes?.round(run, run.pointer(scratch))
      let source = bytes?.words(run.pointer(scratch)) ?? run.pointer(input)
      let target = run.pointer(output)
      let added = residual.map { UnsafePointer(run.pointer($0)) + residualOffset }
      let expanded = run.pointer(scratch)
      func compute(_ unit: ConvolutionUnits.Unit, _ expansion: inout DirectPlan.Expansion) {
        let rowOffset = isFlat ? 0 : unit.rows.lowerBound
        let pixelOffset = isFlat ? unit.rows.lowerBound : 0
        var rows = DirectPlan.Rows(
          input: InputView(
            source + start + unit.image * strides.image
              + rowOffset * stride[0] * strides.row + pixelOffset * strides.pixel, strides),
          isInputNear: isEasyToFollow || units.rereadsInput && unit.panels.lowerBound > 0,
          output: OutputView(
            target + to.origin + unit.image * to.imageStride + rowOffset * to.rowStride
              + pixelOffset * to.pixelStride, to.strides), count: isFlat ? 1 : unit.rows.count,
          width: isFlat ? unit.rows.count : to.shape.width)
        rows.bytes = bytes?.sums(expanded, image: unit.image)
        if let residual, let added {
          let layout = residual.layout
          rows.residual =
            added + layout.origin + unit.image * layout.imageStride + rowOffset * layout.rowStride
            + pixelOffset * layout.pixelStride
          rows.residualStrides = layout.strides
        }
        plan.run(unit.panels, rows, &expansion)
        if clearsLanes, unit.panels.upperBound == plan.panels {
          let last = (unit.image + 1) * to.channelBlocks - 1
          to.clearEmptyLanes(ofPlane: last, rows: unit.rows, in: target)
        }
      }
      run.share(units.count, writing: output) { thread, indices in
        var expansion = DirectPlan.Expansion(expanded + thread * expandedFloats)
        for index in indices { compute(units[index], &expansion) }
      }
    }
  }
}
