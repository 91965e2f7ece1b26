import CoreMLModel
import TensorCore

/// The gamma and beta of a normalization, both optional.
struct ScaleAndCenter: Sendable {
  let hasScale: Bool
  let hasCenter: Bool

  init(_ configuration: LayerConfiguration) throws {
    self.init(
      hasScale: try configuration.bool("scale", default: true),
      hasCenter: try configuration.bool("center", default: true))
  }

  init(hasScale: Bool, hasCenter: Bool) {
    self.hasScale = hasScale
    self.hasCenter = hasCenter
  }

  var weights: [WeightSlot] { WeightSlot.named(hasScale ? "gamma" : nil, hasCenter ? "beta" : nil) }

  func values(
    _ call: LayerCall, _ shape: [Int?]
  ) throws -> (gamma: FloatValues?, beta: FloatValues?) {
    (
      hasScale ? try call.weight("gamma", shape) : nil,
      hasCenter ? try call.weight("beta", shape) : nil
    )
  }
}

extension Scale {
  init(_ factors: Weights, _ shape: [Int]) {
    self.init()
    scale = factors
    shapeScale = shape
  }
}

extension Bias {
  init(_ values: Weights, _ shape: [Int]) {
    self.init()
    bias = values
    self.shape = shape
  }
}

extension LoadConstant {
  init(_ values: Weights, _ shape: [Int]) {
    self.init()
    data = values
    self.shape = shape
  }
}
