/// A function of each element.
public struct Activation: LayerParameters {
  public enum Function: Sendable, Equatable {
    /// αx + β
    case linear(alpha: Float, beta: Float)
    /// max(0, x)
    case relu
    /// x > 0 ? x : αx
    case leakyReLU(alpha: Float)
    /// x ≥ α ? x : 0
    case thresholdedReLU(alpha: Float)
    /// x > 0 ? x : α[c]·x, one α or one a channel
    case prelu(alpha: Weights?)
    case tanh
    /// α · tanh(βx)
    case scaledTanh(alpha: Float, beta: Float)
    case sigmoid
    /// min(max(αx + β, 0), 1)
    case sigmoidHard(alpha: Float, beta: Float)
    /// x > 0 ? x : α(eˣ − 1)
    case elu(alpha: Float)
    /// x / (1 + |x|)
    case softsign
    /// log(1 + eˣ)
    case softplus
    /// α[c] · log(1 + exp(β[c]·x))
    case parametricSoftplus(alpha: Weights?, beta: Weights?)
  }

  public static let typeName = "activation"

  public var function: Function?
  public var unknownFields = UnknownFields()

  public init() {}

  public init(_ function: Function) { self.function = function }
}
