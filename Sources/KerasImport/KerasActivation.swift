import CoreMLModel
import ImportSupport

/// Keras's activation functions as Core ML layers.
enum KerasActivation: Sendable {
  case common(ActivationFormula)
  /// min(max(0, x), 6), with layers named as in coremltools
  case relu6
  /// scale · (x > 0 ? x : alpha · (eˣ − 1)), with layers named as in coremltools
  case selu
  case softmax
  /// x − log Σ eˣ
  case logSoftmax
  /// a · sigmoid(b), where a and b are the halves of the last axis
  case glu
  /// max(x − τ, 0) along the last axis, as in Keras: with z the elements in descending order and c
  /// their cumulative sums, k is the number of i with 1 + i·zᵢ > cᵢ, and τ = (Σ cᵢ − 1) / k over
  /// these i.
  case sparsemax

  /// Nil for a function that this version lacks, which may be a user's function of the same name.
  init?(_ name: String, version: KerasVersion) {
    let dialects: [(ActivationFormula.Dialect, isSpoken: Bool)] = [
      (.keras3, version.isAtLeast(3, 0)), (.keras2, version.isAtLeast(2, 13)),
      (.tensorFlow, version.isTensorFlowKeras && version.isAtLeast(2, 3)), (.keras, true),
    ]
    let known = dialects.lazy.filter(\.isSpoken).compactMap { dialect, _ in
      Self.own[dialect]?[name]
        ?? ActivationFormula.named(name, in: dialect).map { KerasActivation.common($0) }
    }
    guard let first = known.first else { return nil }
    self = first
  }

  /// Functions that `ActivationFormula` does not contain.
  private static let own: [ActivationFormula.Dialect: [String: KerasActivation]] = [
    .keras: ["relu6": .relu6, "softmax": .softmax, "selu": .selu],
    .keras2: ["log_softmax": .logSoftmax],
    .keras3: ["log_softmax": .logSoftmax, "glu": .glu, "sparsemax": .sparsemax],
  ]

  /// The names of each function in all versions of Keras, the most common name first.
  static let names: [[String]] =
    Set(own.values.flatMap(\.keys)).sorted().map { [$0] }
    + ActivationFormula.all.map { $0.names(in: .keras, .tensorFlow, .keras2, .keras3) }

  /// Packages whose functions with these names are the same as Keras's.
  static let packages: Set<String> = [
    "Addons", "kecam", "kecam/common", "kecamCommon", "keras_cv", "keras_hub", "keras_nlp", "Text",
    "Vision",
  ]

  /// - Precondition: the size of the last axis is even for `glu`.
  func add(to network: inout KerasWriter, _ tensor: KerasTensor, name: String) -> KerasTensor {
    var result = tensor
    let x = tensor.blob
    switch self {
    case .common(let formula):
      result.blob = network.add(
        formula, x, ActivationNames(name, prefix: name + "__", suffix: "__"))
    case .relu6:
      let relu = network.add(name, Activation(.relu), [x], to: name + "_output_relu")
      result.blob = network.addUpperLimit(6, relu, name: name)
    case .selu:
      let elu = network.add(
        name + "__elu__", Activation(.elu(alpha: 1.6732632423543772)), [x], to: name + "_output_elu"
      )
      result.blob = network.add(name, Multiply().with(\.alpha, 1.0507009873554805), [elu])
    case .softmax: return network.softmax(tensor, axis: tensor.rank - 1, name)
    case .glu, .sparsemax, .logSoftmax:
      return network.withChannelAxis(tensor.rank - 1, of: [tensor], for: name) {
        addAlongChannels(to: &$0, $1[0], name)
      }
    }
    return result
  }

  private func addAlongChannels(
    to network: inout KerasWriter, _ tensor: KerasTensor, _ name: String
  ) -> KerasTensor {
    var result = tensor
    switch self {
    case .glu:
      let halves = network.split(result.blob, into: 2, name + "__split__")
      let gate = network.add(name + "__gate__", Activation(.sigmoid), [halves[1]])
      result.blob = network.product(halves[0], gate, name)
      result.shape[result.rank - 1] = result.shape[result.rank - 1].map { $0 / 2 }
    case .sparsemax: result.blob = network.addSparsemax(tensor, name: name)
    default: result.blob = network.addLogSoftmax(tensor.blob, name: name)
    }
    return result
  }
}

extension KerasWriter {
  /// min(x, limit) = −max(−limit, −x), with layers named as in coremltools.
  mutating func addUpperLimit(_ limit: Float, _ blob: String, name: String) -> String {
    let negated = affine(blob, -1, name + "__neg__", to: blob + "_neg")
    let clipped = unary(
      .threshold, negated, name + "__clip__", alpha: -limit, to: blob + "_clip")
    return affine(clipped, -1, name + "_neg2", to: name + "_output")
  }

  /// - Precondition: the number of channels is known.
  fileprivate mutating func addSparsemax(_ tensor: KerasTensor, name: String) -> String {
    let count = tensor.channels ?? 1
    var order = TopK()
    order.axis = BlobAxis.channel.blobIndex
    order.count = count
    let sorted = add(
      name + "__sorted__", order, [tensor.blob],
      outputs: [name + "__sorted__values", name + "__sorted__places"])
    var ordered = tensor
    ordered.blob = sorted[0]
    let triangle = (0..<count).flatMap { row in
      (0..<count).map { $0 <= row ? Float(1) : 0 }
    }
    let sums = channelProduct(
      ordered, Weights(triangle), inputs: count, outputs: count, name + "__sums__")
    var ranks = Scale()
    ranks.shapeScale = [count]
    ranks.scale = Weights((1...count).map { Float($0) })
    let ranked = add(name + "__ranked__", ranks, [sorted[0]])
    let margin = difference(ranked, sums.blob, name + "__margin__")
    let support = add(name + "__support__", GreaterThan().with(\.alpha, -1), [margin])
    let size = reduced(.sum, .c, support, name + "__size__")
    let total = reduced(
      .sum, .c, product(sums.blob, support, name + "__supported__"), name + "__total__")
    let inverse = unary(.inverse, size, name + "__inverse__", epsilon: .leastNormalMagnitude)
    let threshold = product(
      affine(total, -1, 1, name + "__rest__"), inverse, name + "__threshold__")
    return add(name, Activation(.relu), [sum([tensor.blob, threshold], name + "__over__")])
  }

  /// d − log Σ exp(d) with d = x − max x, over the channels.
  fileprivate mutating func addLogSoftmax(_ x: String, name: String) -> String {
    let largest = reduced(.max, .c, x, name + "__max__")
    let difference = sum([x, affine(largest, -1, name + "__negmax__")], name + "__difference__")
    let exponentials = unary(.exp, difference, name + "__exp__", epsilon: 0)
    let total = unary(
      .log, reduced(.sum, .c, exponentials, name + "__sum__"), name + "__log__", epsilon: 0)
    return sum([difference, affine(total, -1, name + "__neglog__")], name)
  }
}
