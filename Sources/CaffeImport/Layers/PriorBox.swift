import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// SSD's prior boxes and their variances: a constant, since it depends only on the bottoms' sizes
  static let priorBox = CaffeLayerType(
    SourceLayer(
      "PriorBox", becomes: "loadConstant; nothing if only DetectionOutput reads it",
      options:
        "`min_size`, `max_size`, `aspect_ratio`, `flip`, `clip`, `variance`, `img_size`, `img_h`, "
        + "`img_w`, `step`, `step_h`, `step_w`, `offset`")
  ) { layer, network in
    try layer.requireBottoms(1...2)
    try layer.require(
      layer.inputs.allSatisfy({ $0.shape.count == 4 }), "its bottoms must have four axes each")
    let settings = try PriorBoxSettings(
      layer.parameters("prior_box_param"), image: layer.inputs.dropFirst().first?.shape)
    let boxes = try settings.boxes(
      height: layer.inputs[0].shape[2], width: layer.inputs[0].shape[3], layer)
    return [
      network.constant(
        FloatValues(boxes).shaped([1, 2, boxes.count / 2]), layer.name, output: layer.tops[0])
    ]
  }
}

private struct PriorBoxSettings {
  let minimum: [Float]
  let maximum: [Float]
  let ratios: [Float]
  let clips: Bool
  let variances: [Float]
  /// The image's `[h, w]`.
  let image: [Int]
  let step: [Float]?
  let offset: Float

  init(_ parameters: CaffeParameters, image shape: [Int]?) throws {
    minimum = try parameters.floats("min_size")
    maximum = try parameters.floats("max_size")
    guard !minimum.isEmpty, minimum.allSatisfy({ $0 >= 1 && $0 < 1e9 }) else {
      throw parameters.error("min_size", "\(minimum) are not valid sizes in pixels")
    }
    try parameters.require(
      (maximum.isEmpty || maximum.count == minimum.count)
        && zip(minimum, maximum).allSatisfy({ $0 < $1 && $1 < 1e9 }), "max_size",
      "the maximum sizes \(maximum) must be larger than the minimum sizes \(minimum)")
    let flips = try parameters.bool("flip")
    var ratios: [Float] = [1]
    for ratio in try parameters.floats("aspect_ratio") {
      try parameters.require(ratio > 0 && ratio.isFinite, "aspect_ratio", "\(ratio)")
      if ratios.contains(where: { abs($0 - ratio) < 1e-6 }) { continue }
      ratios.append(ratio)
      if flips { ratios.append(1 / ratio) }
    }
    self.ratios = ratios
    clips = try parameters.bool("clip")
    let variances = try parameters.floats("variance")
    guard [0, 1, 4].contains(variances.count) else {
      throw parameters.error("variance", "it has \(variances.count) values; one or four are needed")
    }
    try parameters.require(
      variances.allSatisfy { $0 > 0 }, "variance",
      "the variances \(variances) must be larger than 0")
    self.variances =
      variances.count == 4 ? variances : [Float](repeating: variances.first ?? 0.1, count: 4)
    let side = parameters.has("img_size") ? try parameters.int("img_size", atLeast: 1) : nil
    let named =
      parameters.has("img_h") && parameters.has("img_w")
      ? [try parameters.int("img_h", atLeast: 1), try parameters.int("img_w", atLeast: 1)] : nil
    let image = try (named ?? side.map({ [$0, $0] }) ?? shape.map({ Array($0.suffix(2)) })).orThrow(
      parameters.error("img_size", "it has neither a size nor a second bottom"))
    self.image = image
    if parameters.has("step_h"), parameters.has("step_w") {
      step = [try parameters.float("step_h"), try parameters.float("step_w")]
    } else if parameters.has("step") {
      let both = try parameters.float("step")
      step = [both, both]
    } else {
      step = nil
    }
    try parameters.require(
      step?.allSatisfy { $0 > 0 } ?? true, "step", "the steps \(step ?? []) must be larger than 0")
    offset = try parameters.float("offset")
  }

  /// xmin, ymin, xmax, ymax of every box as fractions of the image, followed by the variances.
  func boxes(height: Int, width: Int, _ layer: LayerCall) throws -> [Float] {
    let each = ratios.count * minimum.count + maximum.count
    let count = try computedCount([height, width, each, 8], limit: Limits.computedElements)
    var values: [Float] = []
    values.reserveCapacity(count)
    let (tall, wide) = (Float(image[0]), Float(image[1]))
    let (down, across) = (
      step?[0] ?? tall / Float(height), step?[1] ?? wide / Float(width)
    )
    for row in 0..<height {
      for column in 0..<width {
        let x = (Float(column) + offset) * across
        let y = (Float(row) + offset) * down
        func add(_ width: Float, _ height: Float) {
          values += [
            (x - width / 2) / wide, (y - height / 2) / tall, (x + width / 2) / wide,
            (y + height / 2) / tall,
          ]
        }
        for (index, size) in minimum.enumerated() {
          // Caffe truncates the fraction.
          let least = size.rounded(.towardZero)
          add(least, least)
          if maximum.indices.contains(index) {
            let both = (least * maximum[index].rounded(.towardZero)).squareRoot()
            add(both, both)
          }
          for ratio in ratios where abs(ratio - 1) >= 1e-6 {
            let root = ratio.squareRoot()
            add(least * root, least / root)
          }
        }
      }
    }
    if clips { values = values.map { min(max($0, 0), 1) } }
    let boxCount = values.count / 4
    for _ in 0..<boxCount { values += variances }
    return values
  }
}
