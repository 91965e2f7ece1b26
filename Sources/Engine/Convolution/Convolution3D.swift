import CoreMLModel
import Kernels
import TensorCore

/// Gathers the planes that each output depth reads as channels of one 2D convolution:
/// `[B, C, D, H, W]` → `[B, D', kernelDepth · C, H, W]` → `[B, D', C', H', W']`.
extension Convolution3D: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0].dimensions
    let output = try layer.outputShape()
    let windows = try windows(Array(input[2...]))
    let depth = windows[0]
    let steps = output.dimensions[2]
    let stacked = try layer.checked([
      [input[0], steps, depth.kernel * input[1], input[3], input[4]]
    ])[0]
    let planes = layer.add(
      depthWindows(input, depth, steps), [layer.inputs[0]], stacked)
    let convolution = try planeConvolution(windows, output.dimensions, layer)
    let result = try layer.lower(convolution, [planes])
    return [try layer.transposed(result[0], [0, 2, 1, 3, 4])]
  }

  /// Orders channels by group, then by position in the window, then by channel within the group.
  private func depthWindows(_ input: [Int], _ window: AxisWindow, _ steps: Int) -> ArrayOperation {
    let (channels, depth, area) = (input[1], input[2], input[3] * input[4])
    let groupChannels = channels / groups
    let isTransposed = isDeconvolution
    return ArrayOperation(kind: "depth windows", units: input[0] * steps) { buffers, unit in
      let item = buffers.input + unit / steps * channels * depth * area
      var target = buffers.output + unit * window.kernel * channels * area
      for first in stride(from: 0, to: channels, by: groupChannels) {
        for tap in 0..<window.kernel {
          let plane = window.plane(of: unit % steps, tap, depth, isTransposed: isTransposed)
          for channel in first..<first + groupChannels {
            if let plane {
              target.update(from: item + (channel * depth + plane) * area, count: area)
            } else {
              target.update(repeating: 0, count: area)
            }
            target += area
          }
        }
      }
    }
  }

  private func planeConvolution(
    _ windows: [AxisWindow], _ output: [Int], _ layer: LayerLowering
  ) throws -> Convolution {
    let (depth, rows, columns) = (windows[0].kernel, windows[1], windows[2])
    let area = rows.kernel * columns.kernel
    let shape =
      isDeconvolution
      ? [inputChannels, outputChannels / groups] : [outputChannels, inputChannels / groups]
    let volume = depth * area
    let values = try layer.values(kernel, shape + [depth, rows.kernel, columns.kernel], "weights")
      .array()
    var ordered = [Float](repeating: 0, count: values.count)
    let groupInputs = inputChannels / groups
    for first in 0..<shape[0] {
      for second in 0..<shape[1] {
        for tap in 0..<depth {
          let from = (first * shape[1] + second) * volume + tap * area
          let to =
            isDeconvolution
            ? (((first / groupInputs * depth + tap) * groupInputs + first % groupInputs)
              * shape[1] + second) * area : ((first * depth + tap) * shape[1] + second) * area
          for index in 0..<area { ordered[to + index] = values[from + index] }
        }
      }
    }
    var convolution = Convolution()
    convolution.outputChannels = outputChannels
    convolution.kernelChannels = isDeconvolution ? inputChannels * depth : shape[1] * depth
    convolution.nGroups = groups
    convolution.kernelSize = [rows.kernel, columns.kernel]
    convolution.stride = [rows.stride, columns.stride]
    convolution.dilationFactor = [rows.dilation, columns.dilation]
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(
      top: rows.before, bottom: rows.after, left: columns.before, right: columns.after)
    convolution.padding = .valid(padding)
    convolution.isDeconvolution = isDeconvolution
    if isDeconvolution { convolution.outputShape = Array(output[3...]) }
    convolution.kernel = Weights(ordered)
    convolution.hasBias = hasBias
    convolution.bias = bias
    return convolution
  }
}

extension AxisWindow {
  /// The index of the input plane at position `tap` of window `step`; nil in the padding.
  func plane(of step: Int, _ tap: Int, _ size: Int, isTransposed: Bool) -> Int? {
    let position =
      isTransposed ? step + before - tap * dilation : step * stride + tap * dilation - before
    guard position >= 0 else { return nil }
    guard isTransposed else { return position < size ? position : nil }
    return position % stride == 0 && position / stride < size ? position / stride : nil
  }
}

extension LayerLowering {
  /// Lowers a layer with these parameters and inputs, under this layer's name.
  mutating func lower(
    _ parameters: some EngineLayer & LayerParameters, _ inputs: [Graph.ValueID]
  ) throws -> [Graph.ValueID] {
    var other = layer
    other.parameters = parameters
    var moved = Graph()
    swap(&moved, &graph)
    var lowering = LayerLowering(
      layer: other, inputs: inputs, graph: consume moved, customLayer: nil, hooks: hooks,
      byteLimit: byteLimit, random: random)
    let outputs = try parameters.lower(&lowering)
    graph = (consume lowering).graph
    return outputs
  }
}
