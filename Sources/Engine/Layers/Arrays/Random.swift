import CoreMLModel
import TensorCore

/// A layer whose elements are random numbers, each by its position.
protocol RandomArrayLayer: EngineLayer, RandomLayer {}

extension RandomArrayLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let (count, distribution) = (shape.count, parameters.distribution)
    let strip = 1 << 12
    let operation = ArrayOperation(
      kind: "random numbers", units: (count + strip - 1) / strip,
      random: layer.random.ofLayer(seed: seed)
    ) { buffers, unit in
      guard let numbers = buffers.numbers else { return }
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
    let operation = ArrayOperation(
      kind: "random classes", units: shape.count / numSamples,
      random: layer.random.ofLayer(seed: seed)
    ) { buffers, row in
      guard let numbers = buffers.numbers else { return }
      let values = UnsafeBufferPointer(start: buffers.input + row * classes, count: classes)
      let sums = settings.cumulativeWeights(values.map(Double.init))
      for index in row * settings.numSamples..<(row + 1) * settings.numSamples {
        buffers.output[index] = Float(Self.drawn(numbers.unit(index), sums))
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}
