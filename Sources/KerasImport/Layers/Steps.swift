import CoreMLModel
import TensorCore

/// What the one-dimensional layers have in common: they run along Core ML's W, with H = 1.
struct StepSettings: Sendable {
  let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    format = try configuration.dataFormat ?? .channelsLast
  }

  var layout: TensorLayout {
    format == .channelsLast ? .steps : TensorLayout(axes: [.channel, .width])
  }

  func input(_ call: LayerCall, _ network: inout NetworkWriter) throws -> KerasTensor {
    let input = try call.input
    guard input.rank == 3 else { throw call.error("its input \(input.shapeText) is no sequence") }
    return network.relaid(input, to: layout, for: call.name)
  }

  /// The tensor with another number of steps.
  func output(_ input: KerasTensor, steps: (Int) throws -> Int?) rethrows -> KerasTensor {
    var output = input
    if let index = input.index(of: .width), let length = input.shape[index] {
      output.shape[index] = try steps(length)
    }
    return output
  }
}

extension LayerConfiguration {
  /// One number, or a list of one.
  func single(_ names: String..., default standard: Int? = nil, atLeast minimum: Int = 1) throws
    -> Int
  {
    guard let (name, value) = field(names) else {
      guard let standard else { throw missing(names) }
      return standard
    }
    let numbers = try ints(name, value)
    guard numbers.count == 1, numbers[0] >= minimum else {
      throw bad(name, value, "a whole number of at least \(minimum)")
    }
    return numbers[0]
  }
}

extension NetworkWriter {
  /// A sequence that a one-dimensional layer left along W, back on Core ML's sequence axis.
  mutating func standard(_ tensor: KerasTensor, for name: String) -> KerasTensor {
    tensor.rank == 3 ? relaid(tensor, to: .sequence, for: name) : tensor
  }
}
