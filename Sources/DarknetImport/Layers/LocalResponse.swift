import CoreMLModel
import ImportSupport
import TensorCore

/// x / (kappa + alpha · Σ x²)^beta, with the sum over the neighboring channels.
///
/// The sum for channel c covers c − ⌊(size − 1) / 2⌋ … c + ⌊size / 2⌋, except channel ⌊size / 2⌋:
/// Darknet starts its running sum one channel early and never corrects it. Since networks were
/// trained that way, a 1 × 1 convolution of the squares reproduces this sum.
struct NormalizationLayer: DarknetLayer {
  static let source = SourceLayer(
    "normalization", "lrn",
    becomes: "squares, a 1 × 1 convolution, power and a product: Darknet's sum leaves out a channel"
  )
  static let options = ["size", "alpha", "beta", "kappa"]

  private let size: Int
  private let alpha: Double
  private let beta: Double
  private let kappa: Double

  /// The maximum number of channels, which determines the size of the summation matrix.
  private static let channelLimit = 4096

  init(_ section: ConfigurationSection) throws {
    size = try section.int("size", default: 5, in: 1...Self.channelLimit)
    alpha = try section.double("alpha", default: 1e-4)
    beta = try section.double("beta", default: 0.75)
    kappa = try section.double("kappa", default: 1)
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let count = input.channels
    guard count <= Self.channelLimit else {
      throw call.unsupported("\(count) channels; the limit is \(Self.channelLimit)")
    }
    let half = size / 2
    try call.require(half <= count, "sums over \(size) channels of \(count)")
    try network.addConstants([count, count], call)
    var matrix = [Float](repeating: 0, count: count * count)
    for row in 0..<count {
      for column in max(0, row - (size - 1) / 2)..<min(count, row + half + 1) {
        matrix[row * count + column] += Float(alpha)
      }
      if half < count { matrix[row * count + half] -= Float(alpha) }
    }
    let convolution = Convolution(
      [count, count, 1, 1], kernel: Weights(matrix),
      bias: Weights([Float](repeating: Float(kappa), count: count)))
    let squares = network.product(input.blob, input.blob, call.name + "__squares__")
    let sums = network.add(call.name + "__sums__", convolution, [squares])
    let factors = network.unary(.power, sums, call.name + "__power__", alpha: Float(-beta))
    return input.with(network.product(input.blob, factors, call.name))
  }
}
