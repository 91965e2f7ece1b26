import CoreMLModel
import ImportSupport
import TensorCore

/// What becomes of whole numbers.
private enum CategoryMode: String {
  case int
  case oneHot = "one_hot"
  case multiHot = "multi_hot"
  case count

  init(_ configuration: LayerConfiguration, default standard: CategoryMode) throws {
    let name = try configuration.string("output_mode", default: standard.rawValue)
    guard let mode = CategoryMode(rawValue: name.lowercased() == "binary" ? "multi_hot" : name)
    else { throw configuration.unsupported("output_mode", "'\(name)' is not supported") }
    self = mode
  }
}

extension NetworkWriter {
  /// 1 at the place that a number names and 0 elsewhere, for vectors of one number.
  fileprivate mutating func categories(
    _ input: KerasTensor, count: Int, _ call: LayerCall
  ) throws -> KerasTensor {
    guard input.rank == 2 && input.shape[1] == 1 || input.rank == 1 else {
      throw call.unsupported(
        "an input \(input.shapeText): only single numbers are turned into vectors")
    }
    var result = input.rank == 2 ? relaid(input, to: .vector, for: call.name) : input
    let ones = Weights([Float](repeating: 1, count: count))
    let places = Weights((0..<count).map { -Float($0) })
    let distances = matrixProduct(
      result.blob, ones, inputs: 1, outputs: count, bias: places, call.name + "__distances__")
    let nearness = affine(
      unary(.abs, distances, call.name + "__abs__"), -1, 1, call.name + "__nearness__")
    result.blob = add(call.name, Activation(.relu), [nearness])
    result.shape = [input.shape[0], count]
    result.layout = .vector
    return result
  }
}

/// The number of boundaries that are not above each element.
struct Discretization: KerasLayer {
  static let classNames = ["Discretization"]

  private let boundaries: [Double]
  private let mode: CategoryMode

  private static let boundaryLimit = 1024

  init(_ configuration: LayerConfiguration) throws {
    boundaries = try configuration.numbers("bin_boundaries") ?? []
    mode = try CategoryMode(configuration, default: .int)
    guard !boundaries.isEmpty, boundaries.count <= Self.boundaryLimit else {
      throw configuration.unsupported(
        "bin_boundaries", "\(boundaries.count) boundaries",
        hint: "boundaries that `adapt` found are part of the configuration of a saved model")
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    var above: [String] = []
    for (index, boundary) in boundaries.enumerated() {
      let name = "\(call.name)__boundary_\(index)__"
      // 1 where the element is below the boundary, by however little.
      let distance = network.affine(input.blob, -1, Float(boundary), name + "distance")
      above.append(
        network.add(
          name, Activation(.sigmoidHard(alpha: 1e30, beta: 0)), [distance]))
    }
    let sum = above.count == 1 ? above[0] : network.sum(above, call.name + "__sum__")
    var bins = input
    let isLast = mode == .int
    bins.blob = network.affine(
      sum, -1, Float(boundaries.count), isLast ? call.name : call.name + "__bins__")
    if isLast { return [bins] }
    return [try network.categories(bins, count: boundaries.count + 1, call)]
  }
}

/// A vector with a 1 at the place that a number names.
struct CategoryEncoding: KerasLayer {
  static let classNames = ["CategoryEncoding"]

  private let count: Int
  private let mode: CategoryMode

  init(_ configuration: LayerConfiguration) throws {
    count = try configuration.int("num_tokens", "max_tokens")
    mode = try CategoryMode(configuration, default: .multiHot)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try network.categories(call.input, count: count, call)]
  }
}
