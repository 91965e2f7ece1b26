import CoreMLModel
import TensorCore

/// Amounts before the first and after the last step: one number, a pair, or Keras 1's object.
private struct StepBorders {
  let left: Int
  let right: Int

  init(_ configuration: LayerConfiguration, _ field: String) throws {
    guard let (_, value) = configuration.field(field) else {
      (left, right) = (1, 1)
      return
    }
    let numbers: [Int]
    if let object = value.object, object["items"] == nil {
      numbers = ["left_pad", "right_pad"].map { object[$0]?.int ?? 0 }
    } else if let outer = value.array, outer.count == 1, outer[0].int == nil {
      numbers = try configuration.ints(field, outer[0])
    } else {
      let flat = try configuration.ints(field, value)
      numbers = flat.count == 1 ? [flat[0], flat[0]] : flat
    }
    guard numbers.count == 2, numbers.allSatisfy({ (0...Limits.dimension).contains($0) }) else {
      throw configuration.bad(field, value, "an amount or a pair")
    }
    (left, right) = (numbers[0], numbers[1])
  }

  var amounts: BorderAmounts { BorderAmounts(top: 0, bottom: 0, left: left, right: right) }
}

/// Zeros before and after a sequence.
struct ZeroPadding1D: KerasLayer {
  static let classNames = ["ZeroPadding1D"]

  private let borders: StepBorders
  private let steps: StepSettings

  init(_ configuration: LayerConfiguration) throws {
    borders = try StepBorders(configuration, "padding")
    steps = try StepSettings(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try steps.input(call, &network)
    var padding = Padding()
    padding.kind = .constant(value: 0)
    padding.paddingAmounts = borders.amounts
    var output = steps.output(input) { $0 + borders.left + borders.right }
    output.blob = network.add(call.name, padding, [input.blob])
    return [output]
  }
}

/// Cuts steps off both ends of a sequence.
struct Cropping1D: KerasLayer {
  static let classNames = ["Cropping1D"]

  private let borders: StepBorders
  private let steps: StepSettings

  init(_ configuration: LayerConfiguration) throws {
    borders = try StepBorders(configuration, "cropping")
    steps = try StepSettings(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try steps.input(call, &network)
    var crop = Crop()
    crop.cropAmounts = borders.amounts
    crop.offset = [0, 0]
    var output = steps.output(input) { $0 - borders.left - borders.right }
    guard output.shape.allSatisfy({ $0.map { $0 > 0 } ?? true }) else {
      throw call.error("nothing is left of its input \(input.shapeText)")
    }
    output.blob = network.add(call.name, crop, [input.blob])
    return [output]
  }
}

/// Repeats each step.
struct UpSampling1D: KerasLayer {
  static let classNames = ["UpSampling1D"]

  private let size: Int
  private let steps: StepSettings

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.single("size", "length", default: 2)
    steps = try StepSettings(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try steps.input(call, &network)
    var upsample = Upsample()
    upsample.scalingFactor = [1, size]
    upsample.mode = .nearest
    var output = try steps.output(input) {
      try checkedProduct([$0, size], limit: Limits.dimension)
    }
    output.blob = network.add(call.name, upsample, [input.blob])
    return [output]
  }
}
