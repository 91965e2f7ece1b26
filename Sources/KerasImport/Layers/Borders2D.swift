import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// Amounts at the top, bottom, left and right, in any of the ways in which Keras writes them: one
/// number, `[rows, columns]`, `[[top, bottom], [left, right]]`; in Keras 1 also
/// `[top, bottom, left, right]` and an object with these names.
struct Borders: Sendable {
  let top: Int
  let bottom: Int
  let left: Int
  let right: Int

  init(_ configuration: LayerConfiguration, _ field: String, default standard: Int) throws {
    guard let (_, value) = configuration.field(field) else {
      (top, bottom, left, right) = (standard, standard, standard, standard)
      return
    }
    let numbers: [Int]
    if let object = value.object, object["items"] == nil {
      numbers = ["top_pad", "bottom_pad", "left_pad", "right_pad"].map { object[$0]?.int ?? 0 }
    } else if let pairs = value.array, pairs.count == 2, pairs[0].int == nil {
      let inner = try pairs.map { try configuration.ints(field, $0) }
      guard inner.allSatisfy({ $0.count == 2 }) else { throw Self.bad(configuration, field, value) }
      numbers = inner[0] + inner[1]
    } else {
      let flat = try configuration.ints(field, value)
      switch flat.count {
      case 1: numbers = [flat[0], flat[0], flat[0], flat[0]]
      case 2: numbers = [flat[0], flat[0], flat[1], flat[1]]
      case 4: numbers = flat
      default: throw Self.bad(configuration, field, value)
      }
    }
    guard numbers.allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }) else {
      throw Self.bad(configuration, field, value)
    }
    (top, bottom, left, right) = (numbers[0], numbers[1], numbers[2], numbers[3])
  }

  private static func bad(
    _ configuration: LayerConfiguration, _ field: String, _ value: JSONValue
  ) -> ModelError {
    configuration.bad(field, value, "an amount, a pair or a pair of pairs")
  }

  var amounts: BorderAmounts {
    BorderAmounts(top: top, bottom: bottom, left: left, right: right)
  }

  /// The image with `sign` times the borders more.
  func resized(_ image: KerasTensor, sign: Int) -> KerasTensor {
    var output = image
    if let index = image.index(of: .height), let size = image.shape[index] {
      output.shape[index] = size + sign * (top + bottom)
    }
    if let index = image.index(of: .width), let size = image.shape[index] {
      output.shape[index] = size + sign * (left + right)
    }
    return output
  }
}

/// Zeros around an image.
struct ZeroPadding2D: KerasLayer {
  static let classNames = ["ZeroPadding2D"]

  private let borders: Borders
  private let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    borders = try Borders(configuration, "padding", default: 1)
    format = try configuration.dataFormat ?? .channelsLast
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try network.image(call.input, format, call)
    var padding = Padding()
    padding.kind = .constant(value: 0)
    padding.paddingAmounts = borders.amounts
    var output = borders.resized(input, sign: 1)
    output.blob = network.add(call.name, padding, [input.blob])
    return [output]
  }
}

/// Cuts the borders of an image off.
struct Cropping2D: KerasLayer {
  static let classNames = ["Cropping2D"]

  private let borders: Borders
  private let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    borders = try Borders(configuration, "cropping", default: 0)
    format = try configuration.dataFormat ?? .channelsLast
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try network.image(call.input, format, call)
    var crop = Crop()
    crop.cropAmounts = borders.amounts
    crop.offset = [0, 0]
    var output = borders.resized(input, sign: -1)
    guard output.shape.allSatisfy({ $0.map { $0 > 0 } ?? true }) else {
      throw call.error("nothing is left of its input \(input.shapeText)")
    }
    output.blob = network.add(call.name, crop, [input.blob])
    return [output]
  }
}
