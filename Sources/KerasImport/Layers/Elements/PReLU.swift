import CoreMLModel
import ImportSupport
import TensorCore

/// x > 0 ? x : alpha · x, with one alpha per element, shared along `shared_axes`.
enum PReLU: KerasLayer {
  static let classes = [SourceLayer](
    "PReLU",
    becomes: "activation PReLU; max(0, x) − alpha · max(0, −x) if alpha differs within a channel",
    options: "any `shared_axes`",
    refused: "one alpha per step of an image sequence: constants have no sequence axis")
  static let maskPolicy = MaskPolicy.passes

  /// The maximum number of elements of alpha after it is repeated along shared axes.
  private static let elementLimit = 1 << 26

  /// max(0, x) − alpha · max(0, −x), for an alpha that differs within a channel.
  private static func elementwise(
    _ tensor: KerasTensor, _ alpha: FloatValues, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    var input = tensor
    if let sequence = tensor.layout.axes.firstIndex(of: .sequence), alpha.shape[sequence] != 1 {
      // Constants of Core ML's layers have no sequence axis.
      guard let free = [BlobAxis.height, .width].first(where: { !tensor.layout.axes.contains($0) })
      else { throw call.unsupported("one alpha per step of an image sequence is not supported") }
      var layout = tensor.layout
      layout.axes[sequence] = free
      input = network.relaid(tensor, to: layout, for: call.name)
    }
    let positive = network.add(call.name, Activation(.relu), [input.blob])
    let negated = network.add(
      call.name + "__neg__", Activation(.linear(alpha: -1, beta: 0)), [input.blob])
    let negative = network.add(call.name + "__negrelu__", Activation(.relu), [negated])
    let factors = try blobOrder(alpha, input, call)
    let scale = Scale(Weights(factors.values.map { -$0 }), factors.shape)
    let scaled = network.add(call.name + "__alpha__", scale, [negative])
    var result = input
    result.blob = network.add(call.name + "__sum__", Add(), [positive, scaled])
    return network.relaid(result, to: tensor.layout, for: call.name + "_back")
  }

  /// alpha as `[C, H, W]`, repeated along its shared axes.
  private static func blobOrder(
    _ alpha: FloatValues, _ input: KerasTensor, _ call: LayerCall
  ) throws -> (shape: [Int], values: [Float]) {
    let places: [BlobAxis] = [.channel, .height, .width]
    var shape: [Int] = []
    var steps: [Int] = []
    let strides = Tensor.strides(alpha.shape)
    for place in places {
      guard let axis = input.layout.axes.firstIndex(of: place) else {
        shape.append(1)
        steps.append(0)
        continue
      }
      let size = try input.shape[axis + 1].orThrow(call.unknownSize(of: input))
      shape.append(size)
      steps.append(alpha.shape[axis] == 1 ? 0 : strides[axis])
    }
    let count = try computedCount(shape, limit: Self.elementLimit)
    let source = try alpha.array()
    var values: [Float] = []
    values.reserveCapacity(count)
    for c in 0..<shape[0] {
      for y in 0..<shape[1] {
        for x in 0..<shape[2] { values.append(source[c * steps[0] + y * steps[1] + x * steps[2]]) }
      }
    }
    return (shape, values)
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let sharedAxes = try configuration.ints("shared_axes") ?? []
    return conversion([WeightSlot("alpha")]) { call, network in
      let tensor = try call.input
      let alpha = try call.elementWeight("alpha", of: tensor, sharedAxes: sharedAxes)
      let channel = try tensor.index(of: .channel).orThrow(
        call.unsupported("its input \(tensor.shapeText) has no channels"))
      let others = alpha.shape.indices.filter { $0 != channel - 1 }
      var result = tensor
      if others.allSatisfy({ alpha.shape[$0] == 1 }) {
        result.blob = network.add(
          call.name, Activation(.prelu(alpha: Weights(alpha.shaped([alpha.count])))), [tensor.blob])
        return [result]
      }
      return [try elementwise(tensor, alpha, call, &network)]
    }
  }
}
