import ByteFormats
import ImportSupport
import TensorCore

extension LayerConfiguration {
  /// A number or a list of numbers with any nesting.
  func numbers(_ name: String) throws -> [Double]? {
    guard let (name, value) = field(name) else { return nil }
    var found: [Double] = []
    func collect(_ value: JSONValue) throws {
      if let number = value.double {
        found.append(number)
      } else if let elements = value.array ?? value["items"]?.array ?? value["value"]?.array {
        for element in elements { try collect(element) }
      } else if let inner = value["config"]?["value"] ?? value["value"] {
        try collect(inner)
      } else {
        throw bad(name, value, "numbers")
      }
    }
    try collect(value)
    return found
  }
}

extension KerasWriter {
  /// scale · x + offset, with one value for all elements or one per index along the last axis.
  mutating func rescaled(
    _ tensor: KerasTensor, scale: [Double], offset: [Double], _ call: LayerCall
  ) throws -> KerasTensor {
    var result = tensor
    if scale.count == 1, offset.count == 1 {
      result.blob = affine(tensor.blob, Float(scale[0]), Float(offset[0]), call.name)
      return result
    }
    let count = max(scale.count, offset.count)
    guard [1, count].contains(scale.count), [1, count].contains(offset.count),
      tensor.channels == nil || tensor.channels == count
    else { throw call.error("\(count) factors for an input \(tensor.shapeText)") }
    func all(_ values: [Double]) -> FloatValues {
      FloatValues(
        (values.count == 1 ? Array(repeating: values[0], count: count) : values).map(Float.init))
    }
    return try withChannelAxis(tensor.rank - 1, of: [tensor], for: call.name) { network, tensors in
      var result = tensors[0]
      let axes = try ReducibleAxes([result.rank - 1], of: result, call)
      result.blob = network.scaled(
        result.blob, axes, gamma: all(scale), beta: all(offset), call.name)
      return result
    }
  }
}

/// scale · x + offset
enum Rescaling: KerasLayer {
  static let classes = [SourceLayer](
    "Rescaling", becomes: "a linear activation; scale",
    options: "`scale`, `offset`: numbers or lists")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let scale = try configuration.numbers("scale") ?? [1]
    let offset = try configuration.numbers("offset") ?? [0]
    guard !scale.isEmpty, !offset.isEmpty else { throw configuration.missing(["scale"]) }
    return conversion { call, network in
      [try network.rescaled(call.input, scale: scale, offset: offset, call)]
    }
  }
}

/// (x − mean) / √variance along some axes, or the inverse; √variance is at least 1e-7.
enum NormalizationLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Normalization", becomes: "a linear activation; scale",
    options: "`axis`, `mean`, `variance`, `invert`, or the result of `adapt`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let mean = try configuration.numbers("mean")
    let variance = try configuration.numbers("variance")
    let axes =
      try configuration["axis"].map { $0.isNull ? [] : try configuration.ints("axis", $0) } ?? [-1]
    let isInverse = try configuration.bool("invert", default: false)
    return conversion(
      mean != nil ? [] : ["mean", "variance", "count"].map { WeightSlot($0, isTrainable: false) }
    ) { call, network in
      var tensor = network.standard(try call.input, for: call.name)
      let layout = tensor.layout
      let indices = try axes.map { try call.axis($0, of: tensor) }.sorted()
      let shape = indices.map { tensor.isShapeAssumed ? nil : tensor.shape[$0] }
      let means = try mean ?? call.weight("mean", shape).array().map(Double.init)
      let variances = try variance ?? call.weight("variance", shape).array().map(Double.init)
      guard means.count == variances.count || means.count == 1 || variances.count == 1,
        !means.isEmpty, !variances.isEmpty
      else { throw call.error("\(means.count) means and \(variances.count) variances") }
      let count = max(means.count, variances.count)
      var scale: [Double] = []
      var offset: [Double] = []
      for index in 0..<count {
        let mean = means[means.count == 1 ? 0 : index]
        let deviation = max(variances[variances.count == 1 ? 0 : index].squareRoot(), 1e-7)
        scale.append(isInverse ? deviation : 1 / deviation)
        offset.append(isInverse ? mean : -mean / deviation)
      }
      guard count > 1, !indices.isEmpty, indices != [tensor.rank - 1] else {
        return [try network.rescaled(tensor, scale: scale, offset: offset, call)]
      }
      let axes = try ReducibleAxes(indices, of: tensor, call)
      let sizes = shape.compactMap { $0 }
      guard sizes.count == shape.count, sizes.reduce(1, *) == count else {
        throw call.error("\(count) means for an input \(tensor.shapeText)")
      }
      tensor = network.relaid(tensor, to: axes.layout, for: call.name)
      tensor.blob = network.scaled(
        tensor.blob, axes, gamma: FloatValues(scale.map(Float.init)).shaped(sizes),
        beta: FloatValues(offset.map(Float.init)).shaped(sizes), call.name)
      return [network.relaid(tensor, to: layout, for: call.name + "_back")]
    }
  }
}
