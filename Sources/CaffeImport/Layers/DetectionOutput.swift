import CoreMLModel
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// SSD's boxes: decodes them, suppresses overlaps within each class, and keeps the best
  ///
  /// Rows of image, class, score, xmin, ymin, xmax, ymax as fractions of the image, in Caffe's order:
  /// by class, then by score. There are always `keep_top_k` rows; those after the last box are 0, −1,
  /// −1, …
  static let detectionOutput = CaffeLayerType(
    SourceLayer(
      "DetectionOutput",
      becomes:
        "reshapeStatic, products and sums with constants, topK, gather, NonMaximumSuppression with the "
        + "classes as its batch, topK, concatND; always `keep_top_k` rows, those after the last box "
        + "0, −1, −1, …",
      options: "`num_classes`, `share_location`, `background_label_id`, `code_type`, "
        + "`variance_encoded_in_target`, `keep_top_k`, `confidence_threshold`, "
        + "`nms_param.nms_threshold`, `nms_param.top_k`",
      refused:
        "`nms_param.eta` other than 1, which Core ML's layer lacks; boxes that do not come from PriorBox; "
        + "several images at once; RefineDet's five bottoms", version: 4), batchAxis: wholeBatch
  ) { layer, network in
    try layer.require(
      layer.inputs.count == 3,
      unsupported: "it has \(counted(layer.inputs.count, "bottom")); three are supported",
      field: "bottom"
    )
    guard let priors = layer.inputs[2].constant, layer.inputs[2].shape.count == 3,
      layer.inputs[2].shape[1] == 2
    else {
      throw layer.unsupported(
        "its boxes \(layer.inputs[2].shapeText) do not come from PriorBox layers", field: "bottom")
    }
    let settings = try DetectionSettings(layer, boxes: layer.inputs[2].shape[2] / 4)
    try layer.require(
      layer.inputs[0].count() == settings.boxes * settings.locations * 4
        && layer.inputs[1].count() == settings.boxes * settings.classes,
      "its bottoms \(layer.inputs[0].shapeText) and \(layer.inputs[1].shapeText) do not fit "
        + "\(settings.boxes) boxes and \(settings.classes) classes",
      hint: "one image at a time is supported")
    let decoded = try settings.decoded(layer.inputs[0], priors.array(), &network)
    let scores = try settings.scores(layer.inputs[1], &network)
    let kept = settings.suppressed(boxes: decoded, scores: scores, &network)
    let rows = settings.rows(kept, &network)
    let blob = network.reshapedArray(
      rows, [1, 1, 1, settings.rowCount, 7], layer.name, to: layer.tops[0])
    return [CaffeTensor(blob, [1, 1, settings.rowCount, 7])]
  }
}

private struct DetectionSettings {
  enum Code { case corner, centerSize, cornerSize }

  let layer: LayerCall
  let boxes: Int
  let classes: Int
  /// The number of boxes per prior: one for all classes, or one per class.
  let locations: Int
  /// The classes without the background.
  let labels: [Int]
  let code: Code
  let isVarianceInTarget: Bool
  let threshold: Float
  let overlap: Float
  /// The maximum numbers of boxes considered and kept per class.
  let candidates: Int
  let keptOfClass: Int
  let rowCount: Int

  init(_ layer: LayerCall, boxes: Int) throws {
    self.layer = layer
    self.boxes = boxes
    let parameters = layer.parameters("detection_output_param")
    classes = try parameters.int("num_classes", atLeast: 1, atMost: 1 << 20)
    let isShared = try parameters.bool("share_location")
    locations = isShared ? 1 : classes
    let background = try parameters.int("background_label_id")
    labels = (0..<classes).filter { $0 != background }
    code = try parameters.choice(
      "code_type",
      of: ["CORNER": .corner, "CENTER_SIZE": .centerSize, "CORNER_SIZE": .cornerSize])
    isVarianceInTarget = try parameters.bool("variance_encoded_in_target")
    threshold =
      parameters.has("confidence_threshold")
      ? try parameters.float("confidence_threshold") : -Float.greatestFiniteMagnitude
    let suppression = parameters.message("nms_param")
    overlap = try suppression.float("nms_threshold")
    guard try suppression.float("eta") == 1 else {
      throw suppression.unsupported(
        "eta", "\(try suppression.float("eta")) is not supported, only 1 is")
    }
    let limit = suppression.has("top_k") ? try suppression.int("top_k") : -1
    let keep = try parameters.int("keep_top_k")
    try layer.require(
      boxes > 0 && !labels.isEmpty && keep != 0 && limit != 0,
      "its output would be empty: boxes or classes are missing, or keep_top_k is 0")
    candidates = limit > 0 ? min(limit, boxes) : boxes
    keptOfClass = keep > 0 ? min(keep, candidates) : candidates
    let all = try checkedProduct([labels.count, keptOfClass], limit: 1 << 22)
    rowCount = keep > 0 ? min(keep, all) : all
  }

  /// The decoded boxes, `[locations, boxes, 4]`: center x, center y, width, height.
  func decoded(
    _ locationsBottom: CaffeTensor, _ priors: [Float], _ network: inout CaffeWriter
  ) throws -> String {
    let ordered = try network.inOrder(locationsBottom, layer)
    var offsets = network.reshapedArray(ordered, [boxes, locations, 4], layer.part("locations"))
    offsets = network.transposed(offsets, [1, 0, 2], layer.part("by_location"))
    var (factors, shifts, sizes) = ([Float](), [Float](), [Float]())
    for box in 0..<boxes {
      let corners = Array(priors[box * 4..<box * 4 + 4])
      let given = priors[(boxes + box) * 4..<(boxes + box) * 4 + 4]
      let variances = isVarianceInTarget ? [1, 1, 1, 1] : Array(given)
      let (width, height) = (corners[2] - corners[0], corners[3] - corners[1])
      switch code {
      case .corner:
        factors += variances
        shifts += corners
      case .cornerSize:
        factors += zip(variances, [width, height, width, height]).map { $0 * $1 }
        shifts += corners
      case .centerSize:
        factors += zip(variances, [width, height, 1, 1]).map { $0 * $1 }
        shifts += [(corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2, 0, 0]
        sizes += [width, height]
      }
    }
    let scaled = network.arrayProduct(
      offsets, network.arrayConstant([1, boxes, 4], factors, layer.part("factors")),
      layer.part("scaled"))
    let shifted = network.arraySum(
      scaled, network.arrayConstant([1, boxes, 4], shifts, layer.part("shifts")),
      layer.part("shifted"))
    let first = network.arraySlice(
      shifted, rank: 3, axis: 2, 0..<2, layer.part("first"))
    let second = network.arraySlice(
      shifted, rank: 3, axis: 2, 2..<4, layer.part("second"))
    if code == .centerSize {
      let factors = network.unary(.exp, second, layer.part("exp"))
      let extents = network.arrayProduct(
        factors, network.arrayConstant([1, boxes, 2], sizes, layer.part("sizes")),
        layer.part("extents"))
      return network.arrayJoined([first, extents], axis: 2, layer.part("boxes"))
    }
    let sums = network.arraySum(first, second, layer.part("corner_sums"))
    let centers = network.affine(sums, 0.5, layer.part("centers"))
    let negated = network.affine(first, -1, layer.part("negated"))
    let extents = network.arraySum(second, negated, layer.part("extents"))
    return network.arrayJoined([centers, extents], axis: 2, layer.part("boxes"))
  }

  /// The scores, `[labels, boxes]`.
  func scores(_ bottom: CaffeTensor, _ network: inout CaffeWriter) throws -> String {
    let ordered = try network.inOrder(bottom, layer)
    let rows = network.reshapedArray(ordered, [boxes, classes], layer.part("confidences"))
    let all = network.transposed(rows, [1, 0], layer.part("by_class"))
    return withoutBackground(all, rank: 2, "scores", &network)
  }

  private func withoutBackground(
    _ blob: String, rank: Int, _ name: String, _ network: inout CaffeWriter
  ) -> String {
    guard labels.count < classes else { return blob }
    let gap = zip(labels, 0...).first { $0 != $1 }?.1 ?? labels.count
    var parts: [String] = []
    if gap > 0 {
      parts.append(
        network.arraySlice(blob, rank: rank, axis: 0, 0..<gap, layer.part(name + "_before")))
    }
    if gap + 1 < classes {
      parts.append(
        network.arraySlice(
          blob, rank: rank, axis: 0, gap + 1..<classes, layer.part(name + "_behind")))
    }
    return network.arrayJoined(parts, axis: 0, layer.part(name))
  }

  /// Boxes `[labels, kept, 4]`, scores `[labels, kept, 1]` and indices `[labels, kept]`.
  func suppressed(boxes decoded: String, scores: String, _ network: inout CaffeWriter) -> [String] {
    var scores = scores
    var own: String
    let count = labels.count
    if candidates < boxes {
      let best = network.best(scores, axis: 1, candidates, layer.part("candidates"))
      scores = best.values
      if locations == 1 {
        let picked = network.gathered(
          decoded, best.positions, axis: 1, layer.part("picked"))
        own = network.reshapedArray(
          picked, [count, candidates, 4], layer.part("picked_boxes"))
      } else {
        let all = withoutBackground(decoded, rank: 3, "classes", &network)
        let positions = network.reshapedArray(
          best.positions, [count, candidates, 1], layer.part("places"))
        var broadcast = BroadcastToStatic()
        broadcast.targetShape = [count, candidates, 4]
        let wide = network.add(layer.part("places_wide"), broadcast, [positions])
        own = network.add(
          layer.part("picked_boxes"), GatherAlongAxis().with(\.axis, 1), [all, wide])
      }
    } else if locations == 1 {
      var broadcast = BroadcastToStatic()
      broadcast.targetShape = [count, boxes, 4]
      own = network.add(layer.part("all_boxes"), broadcast, [decoded])
    } else {
      own = withoutBackground(decoded, rank: 3, "classes", &network)
    }
    let column = network.reshapedArray(
      scores, [count, candidates, 1], layer.part("score_column"))
    var suppression = NonMaximumSuppression()
    suppression.iouThreshold = overlap
    suppression.scoreThreshold = threshold
    suppression.maxBoxes = keptOfClass
    return network.add(
      layer.part("suppression"), suppression, [own, column],
      outputs: ["boxes", "scores", "places", "count"].map { layer.part("kept_" + $0) })
  }

  /// The layer's rows, `[rowCount, 7]`.
  func rows(_ kept: [String], _ network: inout CaffeWriter) -> String {
    let all = labels.count * keptOfClass
    let scores = network.reshapedArray(kept[1], [all], layer.part("all_scores"))
    let positions = network.reshapedArray(kept[2], [all], layer.part("all_places"))
    var isEnough = GreaterThan()
    isEnough.alpha = threshold
    var mask = network.arrayProduct(
      network.add(layer.part("is_place"), GreaterEqual().with(\.alpha, 0), [positions]),
      network.add(layer.part("is_enough"), isEnough, [scores]), layer.part("is_box"))
    if rowCount < all {
      let low = network.arrayConstant([1], [-3e38], layer.part("low"))
      let counted = network.add(
        layer.part("counted"), WhereBroadcastable(), [mask, scores, low])
      let best = network.best(counted, axis: 0, rowCount, layer.part("best"))
      let least = network.arraySlice(
        best.values, rank: 1, axis: 0, rowCount - 1..<rowCount, layer.part("least"))
      let isBest = network.add(layer.part("is_best"), GreaterEqual(), [counted, least])
      mask = network.arrayProduct(mask, isBest, layer.part("is_kept"))
    }
    // Valid rows come first, in their original order.
    let order = network.arrayConstant([all], (0..<all).map(Float.init), layer.part("order"))
    let late = network.affine(mask, -Float(all), Float(all), layer.part("late"))
    let keys = network.arraySum(order, late, layer.part("keys"))
    let chosen = network.best(
      keys, axis: 0, rowCount, smallest: true, layer.part("chosen")
    ).positions

    let boxes = network.reshapedArray(kept[0], [all, 4], layer.part("all_boxes_kept"))
    let centers = network.arraySlice(
      boxes, rank: 2, axis: 1, 0..<2, layer.part("kept_centers"))
    let extents = network.arraySlice(
      boxes, rank: 2, axis: 1, 2..<4, layer.part("kept_extents"))
    let least = network.arraySum(
      centers, network.affine(extents, -0.5, layer.part("to_least")), layer.part("least_corners"))
    let greatest = network.arraySum(
      centers, network.affine(extents, 0.5, layer.part("to_greatest")),
      layer.part("greatest_corners"))
    let names = network.arrayConstant(
      [all, 2],
      labels.flatMap { label in
        [[Float]](repeating: [0, Float(label)], count: keptOfClass).flatMap { $0 }
      }, layer.part("labels"))
    let column = network.reshapedArray(scores, [all, 1], layer.part("all_score_column"))
    let table = network.arrayJoined(
      [names, column, least, greatest], axis: 1, layer.part("table"))
    let rows = network.gathered(table, chosen, axis: 0, layer.part("rows"))
    let flags = network.reshapedArray(
      network.gathered(mask, chosen, axis: 0, layer.part("row_flags")), [rowCount, 1],
      layer.part("flags"))
    let empty = network.arrayConstant(
      [1, 7], [0, -1, -1, -1, -1, -1, -1], layer.part("empty"))
    return network.add(
      layer.part("filled"), WhereBroadcastable(), [flags, rows, empty])
  }
}

extension CaffeWriter {
  /// A blob with the tensor's elements in Caffe's row-major order.
  fileprivate mutating func inOrder(_ tensor: CaffeTensor, _ layer: LayerCall) throws -> String {
    let input = five(tensor, for: layer.name)
    if input.isInOrder { return input.blob }
    return try reshaped(input, to: [input.count()], layer, name: layer.part("ordered")).blob
  }
}
