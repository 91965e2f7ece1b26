import CoreMLModel
import KernelInterface
import TensorCore

/// Random numbers; `fill` generates those of one unit.
struct RandomOperation: NodeOperation {
  var kind: String
  var units: Int
  var source: RandomSource
  var fill: @Sendable (ArrayBuffers, RandomNumbers, Int) -> Void

  var isRepeatable: Bool { false }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let (inputs, outputs, kernels) = (context.inputs, context.outputs, context.kernels)
    let (units, source, fill) = (units, source, fill)
    return { run in
      let buffers = ArrayBuffers(
        inputs: inputs.map { UnsafePointer(run.pointer($0)) },
        outputs: outputs.map { run.pointer($0) }, kernels: kernels)
      let numbers = source.numbers(round: run.round)
      run.pool.forEach(units) { fill(buffers, numbers, $0) }
    }
  }
}

/// A layer whose elements are random numbers, each by its position.
protocol RandomArrayLayer: EngineLayer, RandomLayer {}

extension RandomArrayLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let (count, distribution) = (shape.count, parameters.distribution)
    let strip = 1 << 12
    let operation = RandomOperation(
      kind: "random numbers", units: (count + strip - 1) / strip,
      source: layer.random.ofLayer(seed: seed)
    ) { buffers, numbers, unit in
      for index in unit * strip..<min(count, (unit + 1) * strip) {
        buffers.output[index] = Float(numbers.value(index, of: distribution))
      }
    }
    return [layer.add(operation, [], shape)]
  }
}

extension RandomLike: RandomArrayLayer {}
extension RandomStatic: RandomArrayLayer {}
extension RandomDynamic: ResolvedLayer {}

extension CategoricalDistribution: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let classes = layer.inputShapes[0].dimensions.last ?? 1
    let settings = self
    let operation = RandomOperation(
      kind: "random classes", units: shape.count / numSamples,
      source: layer.random.ofLayer(seed: seed)
    ) { buffers, numbers, row in
      let values = UnsafeBufferPointer(start: buffers.input + row * classes, count: classes)
      let sums = settings.cumulativeWeights(values.map(Double.init))
      for index in row * settings.numSamples..<(row + 1) * settings.numSamples {
        buffers.output[index] = Float(Self.drawn(numbers.unit(index), sums))
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}
