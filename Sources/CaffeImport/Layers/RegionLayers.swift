import CoreMLModel
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// The maximum of each window of each region (Fast R-CNN)
  static let regionPooling = CaffeLayerType(
    SourceLayer(
      "ROIPooling", becomes: "custom layer ROIPooling, a built-in class",
      options: "`pooled_h`, `pooled_w`, `spatial_scale`", version: 4), batchAxis: wholeBatch
  ) { layer, network in
    let parameters = layer.parameters("roi_pooling_param")
    let rows = try parameters.int("pooled_h", atLeast: 1, atMost: 4096)
    let columns = try parameters.int("pooled_w", atLeast: 1, atMost: 4096)
    var custom = Custom(className: "ROIPooling")
    custom.parameters["pooled_h"] = .int(Int32(rows))
    custom.parameters["pooled_w"] = .int(Int32(columns))
    custom.parameters["spatial_scale"] = .double(
      Double(try parameters.float("spatial_scale", default: 1)))
    return [try network.addRegions(custom, layer, [layer.input.shape[1], rows, columns])]
  }

  /// The layer types that pool the regions in their second bottom.
  static let regionTypes: Set<String> = ["ROIPooling", "PSROIPooling", "ROIAlign"]
}

extension CaffeLayerType {
  /// The mean of each window of each region; each window reads other channels (R-FCN)
  static let positionSensitivePooling = CaffeLayerType(
    SourceLayer(
      "PSROIPooling", becomes: "custom layer PSROIPooling, a built-in class",
      options: "`output_dim`, `group_size`, `spatial_scale`", version: 4), batchAxis: wholeBatch
  ) { layer, network in
    let parameters = layer.parameters("psroi_pooling_param")
    let group = try parameters.int("group_size", atLeast: 1, atMost: 1024)
    let channels = try parameters.int("output_dim", atLeast: 1)
    try parameters.require(
      try checkedProduct([channels, group, group], limit: Limits.tensorElements)
        == layer.input.shape.dropFirst().first, "output_dim",
      "\(channels) · \(group) · \(group) are not the channels of its bottom "
        + layer.input.shapeText)
    var custom = Custom(className: "PSROIPooling")
    custom.parameters["group_size"] = .int(Int32(group))
    custom.parameters["output_dim"] = .int(Int32(channels))
    custom.parameters["spatial_scale"] = .double(Double(try parameters.float("spatial_scale")))
    return [try network.addRegions(custom, layer, [channels, group, group])]
  }
}

extension CaffeWriter {
  /// Adds a pooling of the regions in the second bottom.
  ///
  /// - Parameter item: C, H and W of the result for one region.
  fileprivate mutating func addRegions(
    _ custom: Custom, _ layer: LayerCall, _ item: [Int]
  ) throws -> CaffeTensor {
    try layer.requireBottoms(2...2)
    let (image, regions) = (layer.inputs[0], layer.inputs[1])
    try layer.requireImages(image)
    try layer.require(
      regions.shape.count >= 2 && regions.shape.dropFirst().reduce(1, *) == 5,
      "its bottom \(regions.shapeText) must have five numbers for each region")
    var result = CaffeTensor(
      add(
        layer.name, custom,
        [images(image, for: layer.name).blob, placed(regions, for: layer.name).blob],
        to: layer.tops[0]),
      [regions.shape[0]] + item)
    result.isShapeAssumed = image.isShapeAssumed || regions.isShapeAssumed
    return result
  }
}

extension CaffeLayerType {
  /// The regions of a region proposal network, implemented in C++
  static let proposal = CaffeLayerType(
    SourceLayer(
      "Proposal", becomes: "custom layer Proposal, a built-in class",
      options: "`feat_stride`, `base_size`, `min_size`, `ratio`, `scale`, `pre_nms_topn`, "
        + "`post_nms_topn`, `nms_thresh`; always `post_nms_topn` rows, those after the last region "
        + "−1, 0, 0, 0, 0", version: 4), batchAxis: wholeBatch
  ) { layer, network in
    let parameters = layer.parameters("proposal_param")
    var settings = RegionSettings()
    settings.stride = try parameters.int("feat_stride", atLeast: 1)
    settings.base = try parameters.int("base_size", atLeast: 1, atMost: 1 << 16)
    settings.minimum = try parameters.int("min_size", atLeast: 0)
    if parameters.has("ratio") { settings.ratios = try parameters.doubles("ratio") }
    if parameters.has("scale") { settings.scales = try parameters.doubles("scale") }
    settings.candidates = try parameters.int("pre_nms_topn", atLeast: 0, atMost: 1 << 16)
    settings.count = try parameters.int("post_nms_topn", atLeast: 1, atMost: 1 << 12)
    settings.overlap = Double(try parameters.float("nms_thresh"))
    settings.keepsSmall = true
    return try settings.convert(layer, &network)
  }
}

extension CaffeLayerType {
  /// The region proposals of py-faster-rcnn; the code of other Python layers is in another file
  static let python = CaffeLayerType(
    SourceLayer(
      "Python",
      becomes: "`ProposalLayer` of `rpn.proposal_layer`: custom layer Proposal, a built-in class",
      options: "`feat_stride`, `scales`, `ratios` in `param_str`; the defaults of py-faster-rcnn's "
        + "configuration for tests: 6000 candidates, 300 regions of at least 16 pixels, which overlap "
        + "by at most 0.7", refused: "every other layer, because its code is in another file",
      version: 4), batchAxis: wholeBatch
  ) { layer, network in
    if let error = pythonRefusal(of: layer) { throw error }
    var settings = RegionSettings()
    let text = try layer.parameters("python_param").string("param_str")
    for (key, numbers) in try PythonSettings.parse(text, layer) {
      switch (key, numbers.count) {
      case ("feat_stride", 1): settings.stride = Int(numbers[0])
      case ("scales", 1...): settings.scales = numbers
      case ("ratios", 1...): settings.ratios = numbers
      default:
        throw layer.unsupported(
          "py-faster-rcnn's ProposalLayer has no setting '\(key)'", field: "python_param.param_str")
      }
    }
    return try settings.convert(layer, &network)
  }
}

extension CaffeLayerType {
  /// The error for a layer with unknown code; nil for py-faster-rcnn's proposal layer.
  static func pythonRefusal(of layer: LayerCall) -> ModelError? {
    let parameters = layer.parameters("python_param")
    let module = (try? parameters.string("module")) ?? ""
    let name = (try? parameters.string("layer")) ?? ""
    if name == "ProposalLayer", module.hasSuffix("proposal_layer") { return nil }
    return layer.unsupported(
      "the code of layer '\(name)' is in another file, the Python module '\(module)'",
      field: "python_param.layer",
      hint: "make it a custom layer with a rule: \(setting: "customLayers") FILE.json with "
        + CustomLayerSubject(layer: layer.name, layerClass: layer.type).suggestedRule)
  }
}

/// The settings of region proposals; the defaults are py-faster-rcnn's.
private struct RegionSettings {
  var stride = 16
  var base = 16
  var minimum = 16
  var ratios = [0.5, 1, 2]
  var scales: [Double] = [8, 16, 32]
  var candidates = 6000
  var count = 300
  var overlap = 0.7
  var keepsSmall = false

  func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(3...3)
    try layer.require(
      (1...2).contains(layer.tops.count),
      "it has \(counted(layer.tops.count, "top")); 1 or 2 are needed", field: "top")
    let anchors = ratios.count * scales.count
    try layer.require(
      (ratios + scales).allSatisfy({ $0 > 0 }) && ratios.count <= 64 && scales.count <= 64,
      "its anchors need at most 64 positive ratios and scales")
    for (input, factor) in zip(layer.inputs, [2, 4]) {
      try layer.requireImages(input)
      try layer.require(
        input.isShapeAssumed || (input.shape[0] == 1 && input.shape[1] == factor * anchors),
        "its bottom \(input.shapeText) must have \(factor * anchors) channels: \(factor) for each of "
          + "\(counted(anchors, "anchor"))")
    }
    var custom = Custom(className: "Proposal")
    for (name, value) in [
      ("feat_stride", stride), ("base_size", base), ("min_size", minimum),
      ("pre_nms_topn", candidates), ("post_nms_topn", count),
    ] { custom.parameters[name] = .int(Int32(value)) }
    for (name, values) in [("ratios", ratios), ("scales", scales)] {
      custom.parameters[name] = .string(values.map { "\(Float($0))" }.joined(separator: ","))
    }
    custom.parameters["nms_thresh"] = .double(overlap)
    custom.parameters["keeps_small"] = .bool(keepsSmall)
    custom.parameters["has_scores"] = .bool(layer.tops.count == 2)
    network.hasRegions = true
    let inputs = layer.inputs.map { network.placed($0, for: layer.name).blob }
    let blobs = network.add(layer.name, custom, inputs, outputs: layer.tops)
    return zip(blobs, [[count, 5], [count, 1, 1, 1]]).map { CaffeTensor($0, $1) }
  }
}

/// The settings of a Python layer: YAML with numbers and lists of numbers.
private enum PythonSettings {
  /// - Throws: `.unsupported` if it is another kind of text.
  static func parse(_ text: String, _ layer: LayerCall) throws -> [(String, [Double])] {
    // Tags such as `!!python/tuple` change nothing about a list.
    let words = text.split(whereSeparator: { $0.isWhitespace || "{}'\"".contains($0) })
      .filter { !$0.hasPrefix("!!") }.joined()
    var settings: [(String, [Double])] = []
    var rest = words[...]
    while !rest.isEmpty {
      guard let colon = rest.firstIndex(of: ":") else { throw fault(text, layer) }
      let key = String(rest[..<colon].drop { $0 == "," })
      rest = rest[rest.index(after: colon)...]
      let isList = rest.first == "[" || rest.first == "("
      let end = rest.firstIndex { isList ? "])".contains($0) : !"0123456789.-+e".contains($0) }
      var value = rest[..<(end ?? rest.endIndex)]
      if isList { value = value.dropFirst() }
      let parts = value.split(separator: ",")
      let numbers = parts.compactMap { Double($0) }
      guard numbers.count == parts.count, !parts.isEmpty, numbers.allSatisfy({ abs($0) < 1e6 }),
        settings.count < 16
      else { throw fault(text, layer) }
      settings.append((key, numbers))
      rest = rest[(end ?? rest.endIndex)...].dropFirst(isList ? 1 : 0)
    }
    return settings
  }

  private static func fault(_ text: String, _ layer: LayerCall) -> ModelError {
    layer.unsupported(
      "'\(text)' is not a list of settings with numeric values", field: "python_param.param_str")
  }
}
