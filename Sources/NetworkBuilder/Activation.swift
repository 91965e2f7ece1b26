import CoreMLModel
import CustomLayers

/// An elementwise function, used in a layer or as an ``ActivationLayer``.
public enum Activation: Sendable, Equatable {
  /// x
  case linear
  /// max(0, x)
  case relu
  /// x > 0 ? x : alpha · x
  case leakyReLU(alpha: Float)
  /// x > 0 ? x : alpha · (eˣ − 1)
  case elu(alpha: Float = 1)
  /// 1 / (1 + e⁻ˣ)
  case sigmoid
  /// tanh(x)
  case tanh
  /// log(1 + eˣ)
  case softplus
  /// x / (1 + |x|)
  case softsign
  /// exp(x) / Σ exp(x), over the channels of each pixel
  case softmax
  /// The function of the custom layer with this class; it must keep the shape.
  case custom(className: String, parameters: [String: CustomLayerParameter] = [:])

  /// The document's layer, including one for `linear`.
  var layerParameters: any LayerParameters {
    parameters?.0 ?? CoreMLModel.Activation(.linear(alpha: 1, beta: 0))
  }

  /// The document's layer and the suffix of its name; nil for `linear`.
  var parameters: (any LayerParameters, suffix: String)? {
    switch self {
    case .linear: nil
    case .relu: (CoreMLModel.Activation(.relu), "relu")
    case .leakyReLU(let alpha): (CoreMLModel.Activation(.leakyReLU(alpha: alpha)), "leakyrelu")
    case .elu(let alpha): (CoreMLModel.Activation(.elu(alpha: alpha)), "elu")
    case .sigmoid: (CoreMLModel.Activation(.sigmoid), "sigmoid")
    case .tanh: (CoreMLModel.Activation(.tanh), "tanh")
    case .softplus: (CoreMLModel.Activation(.softplus), "softplus")
    case .softsign: (CoreMLModel.Activation(.softsign), "softsign")
    case .softmax: (CoreMLModel.Softmax(), "softmax")
    case .custom(let className, let parameters):
      (CoreMLModel.Custom(className, parameters), "activation")
    }
  }
}

extension CoreMLModel.Custom {
  init(_ className: String, _ values: [String: CustomLayerParameter]) {
    self.init()
    self.className = className
    parameters = values.mapValues { $0 }
  }
}
