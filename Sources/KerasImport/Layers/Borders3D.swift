import CoreMLModel
import TensorCore

/// Amounts before and after depth, height and width: one number, three, or three pairs.
private struct VolumeBorders: Sendable {
  let amounts: [[Int]]
  let volume: VolumeSettings

  init(_ configuration: LayerConfiguration, _ field: String) throws {
    volume = try VolumeSettings(configuration)
    guard let (_, value) = configuration.field(field) else {
      amounts = [[1, 1], [1, 1], [1, 1]]
      return
    }
    if let pairs = value.array, pairs.count == 3, pairs[0].int == nil {
      amounts = try pairs.map { try configuration.ints(field, $0) }
    } else {
      amounts = try configuration.triple(field, atLeast: 0).map { [$0, $0] }
    }
    guard amounts.allSatisfy({ $0.count == 2 && $0.allSatisfy { $0 >= 0 } }) else {
      throw configuration.bad(field, value, "an amount, three or three pairs")
    }
  }

  func sizes(_ tensor: KerasTensor, _ call: LayerCall, sign: Int) throws -> [Int] {
    zip(try volume.sizes(tensor, call), amounts).map { $0 + sign * ($1[0] + $1[1]) }
  }

  /// `body` on height and width, then on the depth.
  func apply(
    _ call: LayerCall, sign: Int, _ network: inout NetworkWriter,
    _ body: (inout NetworkWriter, String, BorderAmounts, String) -> String
  ) throws -> KerasTensor {
    var tensor = try volume.images(call.input, call, &network)
    let result = try sizes(tensor, call, sign: sign)
    guard result.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }) else {
      throw call.error("nothing is left of its input \(tensor.shapeText)")
    }
    let depth = try volume.sizes(tensor, call)[0]
    tensor.blob = body(
      &network, tensor.blob,
      BorderAmounts(
        top: amounts[1][0], bottom: amounts[1][1], left: amounts[2][0], right: amounts[2][1]),
      call.name + "__images__")
    tensor = volume.resized(tensor, to: [depth, result[1], result[2]])
    tensor = volume.slices(tensor, call, &network)
    tensor.blob = body(
      &network, tensor.blob,
      BorderAmounts(top: amounts[0][0], bottom: amounts[0][1], left: 0, right: 0), call.name)
    return volume.resized(tensor, to: result)
  }
}

/// Zeros around a volume.
struct ZeroPadding3D: KerasLayer {
  static let classNames = ["ZeroPadding3D"]

  private let borders: VolumeBorders

  init(_ configuration: LayerConfiguration) throws {
    borders = try VolumeBorders(configuration, "padding")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [
      try borders.apply(call, sign: 1, &network) { network, blob, amounts, name in
        var padding = Padding()
        padding.kind = .constant(value: 0)
        padding.paddingAmounts = amounts
        return network.add(name, padding, [blob])
      }
    ]
  }
}

/// Cuts the borders of a volume off.
struct Cropping3D: KerasLayer {
  static let classNames = ["Cropping3D"]

  private let borders: VolumeBorders

  init(_ configuration: LayerConfiguration) throws {
    borders = try VolumeBorders(configuration, "cropping")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [
      try borders.apply(call, sign: -1, &network) { network, blob, amounts, name in
        var crop = Crop()
        crop.cropAmounts = amounts
        crop.offset = [0, 0]
        return network.add(name, crop, [blob])
      }
    ]
  }
}

/// Repeats slices, rows and columns.
struct UpSampling3D: KerasLayer {
  static let classNames = ["UpSampling3D"]

  private let size: [Int]
  private let volume: VolumeSettings

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.triple("size", default: [2, 2, 2])
    volume = try VolumeSettings(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var tensor = try volume.images(call.input, call, &network)
    let sizes = try volume.sizes(tensor, call)
    let result = try zip(sizes, size).map {
      try checkedProduct([$0, $1], limit: Limits.dimension)
    }
    var upsample = Upsample()
    upsample.mode = .nearest
    upsample.scalingFactor = [size[1], size[2]]
    tensor.blob = network.add(call.name + "__images__", upsample, [tensor.blob])
    tensor = volume.resized(tensor, to: [sizes[0], result[1], result[2]])
    tensor = volume.slices(tensor, call, &network)
    upsample.scalingFactor = [size[0], 1]
    tensor.blob = network.add(call.name, upsample, [tensor.blob])
    return [volume.resized(tensor, to: result)]
  }
}
