import CoreMLModel
import ImportSupport
import LibC
import TensorCore

/// Each pair of channels c and c + n / 2 turned by the angle step / wavelength^(2c / n).
/// Source: keras-hub 0.32, `rotary_embedding.py`.
struct RotaryEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "RotaryEmbedding", becomes: "loadConstant, slice, multiply, add, concat",
    options: "`max_wavelength`, `scaling_factor`, `rope_type` linear; from keras-hub",
    refused: "other axes, `positions`")
  static let maskPolicy = MaskPolicy.passes

  private let wavelength: Double
  private let factor: Double
  private let divisor: Int?

  init(_ configuration: LayerConfiguration) throws {
    wavelength = try configuration.double("max_wavelength", default: 10000)
    factor = try configuration.double("scaling_factor", default: 1)
    divisor = try configuration.field("denominator_dim").map { _ in
      try configuration.int("denominator_dim")
    }
    let type = try configuration.string("rope_type", default: "linear")
    try configuration.require(
      type == "linear", "rope_type", unsupported: "'\(type)' is not supported")
    for (field, axis) in [("sequence_axis", 1), ("feature_axis", -1)] {
      try configuration.require(
        (configuration[field]?.int ?? axis) == axis, field, unsupported: "another axis")
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try call.requireNoPositions()
    let given = try call.input
    try call.require((3...4).contains(given.rank), "its input \(given.shapeText) is not a sequence")
    let input = network.relaid(given, to: given.rank == 3 ? .steps : .image, for: call.name)
    let sizes = try call.known(input.shape.dropFirst(), of: input)
    let half = (sizes.last ?? 0) / 2
    try call.require(half > 0 && sizes.last == 2 * half, "its channels are not pairs")
    let heads = sizes.count == 3 ? sizes[1] : 1
    _ = try checkedProduct([half, sizes[0], heads], limit: 1 << 26)
    let shape = sizes.count == 3 ? [half, sizes[0], heads] : [half, 1, sizes[0]]
    func table(_ wave: (Double) -> Double, _ name: String) -> String {
      let values = (0..<half).flatMap { channel in
        let speed = pow(wavelength, -Double(2 * channel) / Double(divisor ?? 2 * half)) / factor
        return (0..<sizes[0]).flatMap { step in
          [Float](repeating: Float(wave(Double(step) * speed)), count: heads)
        }
      }
      return network.add("\(call.name)__\(name)__", LoadConstant(Weights(values), shape), [])
    }
    let tables = [table(cos, "cosines"), table(sin, "sines")]
    let halves = [0..<half, half..<2 * half].map {
      network.slice(input.blob, $0, "\(call.name)__\($0.lowerBound)__")
    }
    func product(_ half: Int, _ table: Int) -> String {
      network.product(halves[half], tables[table], "\(call.name)__product_\(half)_\(table)__")
    }
    let parts = [
      network.difference(product(0, 0), product(1, 1), call.name + "__first__"),
      network.sum([product(1, 0), product(0, 1)], call.name + "__second__"),
    ]
    let result = input.with(network.joined(parts, alongSequence: false, call.name))
    return [network.settled(result, for: call.name)]
  }
}
