import CoreMLModel
import ImportSupport
import TensorCore

/// The mean or maximum over parts of an axis, one per output: output i covers the elements from
/// ⌊i·n/m⌋ up to, but not including, ⌈(i+1)·n/m⌉.
enum AdaptivePooling: KerasLayer {
  static let classes = [SourceLayer](
    "AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D",
    becomes:
      "average: two 1 × 1 convolutions, one along each axis; maximum: slices, max and concat",
    options: "`output_size`", refused: "unknown sizes")

  private static func matrix(_ parts: [Range<Int>], _ length: Int) -> Weights {
    Weights(
      parts.flatMap { part in
        (0..<length).map { part.contains($0) ? 1 / Float(part.count) : 0 }
      })
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let count = configuration.dimensions
    let stated = try configuration.ints("output_size") ?? []
    let sizes = stated.count == 1 ? [Int](repeating: stated[0], count: count) : stated
    guard sizes.count == count, sizes.allSatisfy({ $0 > 0 }) else {
      throw configuration.unsupported("output_size", "\(sizes) for \(count) axes")
    }
    let isAverage = configuration.kind.contains("Average")
    let format = try configuration.dataFormat ?? .channelsLast
    return conversion { call, network in
      var tensor = network.standard(try call.input, for: call.name)
      try call.require(
        tensor.rank == sizes.count + 2,
        "its input \(tensor.shapeText) must have \(sizes.count) axes besides the channels")
      if tensor.rank > 4 { network.fixesSequences = true }
      // The axes are independent of each other.
      for (index, size) in sizes.enumerated() {
        let axis = index + (format == .channelsLast ? 1 : 2)
        let name = index == sizes.count - 1 ? call.name : "\(call.name)__axis_\(axis)__"
        guard let length = tensor.shape[axis], !tensor.isShapeAssumed else {
          throw call.unknownSize(of: tensor)
        }
        _ = try checkedProduct([size, length], limit: 1 << 24)
        let parts = (0..<size).map { $0 * length / size..<(($0 + 1) * length + size - 1) / size }
        tensor =
          isAverage
          ? network.axisProduct(
            tensor, axis: axis, Self.matrix(parts, length), inputs: length, outputs: size, name)
          : try network.largest(of: parts, tensor, axis, name, call)
      }
      return [network.settled(tensor, for: call.name)]
    }
  }
}

extension KerasWriter {
  fileprivate mutating func largest(
    of parts: [Range<Int>], _ tensor: KerasTensor, _ axis: Int, _ name: String, _ call: LayerCall
  ) throws -> KerasTensor {
    withChannelAxis(axis, of: [tensor], for: name) { network, tensors in
      var result = tensors[0]
      let blobs = parts.enumerated().map { index, part in
        let slice = network.slice(result.blob, part, "\(name)__part_\(index)__")
        return part.count == 1 ? slice : network.reduced(.max, .c, slice, "\(name)__max_\(index)__")
      }
      result.blob = network.joined(blobs, alongSequence: false, name)
      result.shape[axis] = parts.count
      return result
    }
  }
}
