import CoreMLModel
import Kernels
import TensorCore

/// exp(x − max) / Σ exp(x − max) over the channels of each pixel.
struct SoftmaxOperation: Operation {
  var kind: String { "softmax" }
  var canRunInPlace: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes {
    shapes.inputs[0].area == 1
      ? shapes.allDense() : LayoutWishes(inputs: [.blocked], outputs: [.blocked])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let shape = output.layout.shape
    if shape.area == 1, output.layout.isDense {
      let kernels = context.kernels
      return { run in
        let source = run.pointer(input)
        let target = run.pointer(output)
        run.pool.forEach(shape.images) { image in
          kernels.softmax(
            source + image * shape.channels, to: target + image * shape.channels,
            count: shape.channels)
        }
      }
    }
    let kernels = context.kernels
    let from = input.layout
    let to = output.layout
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      run.parallel(shape.images * shape.height, writing: output) { unit in
        let image = unit / shape.height
        let row = unit % shape.height
        kernels.blockedSoftmax(
          source + from.origin + image * from.imageStride + row * from.rowStride,
          blockStride: from.planeStride,
          to: target + to.origin + image * to.imageStride + row * to.rowStride,
          outputBlockStride: to.planeStride, pixels: shape.width, channels: shape.channels)
      }
    }
  }
}

extension Softmax: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    [layer.add(SoftmaxOperation(), layer.inputs, try layer.outputShape())]
  }
}
