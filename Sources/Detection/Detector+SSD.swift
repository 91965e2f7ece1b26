import TensorCore

// MARK: SSD

extension Detector {
  /// The index of the background class: 0 unless a setting says otherwise; nil for a setting of −1.
  private func background(_ output: String?) throws -> Int? {
    let index = try settings.integer("background", of: output, in: -1...1 << 20) ?? 0
    return index < 0 ? nil : index
  }

  func rows(_ output: DetectorOutput) throws -> BoxDecoding {
    var rows = DetectionRows()
    rows.background = try background(output.name)
    return .rows(output, rows)
  }

  func suppressed(_ outputs: [DetectorOutput]) throws -> BoxDecoding {
    func tensor(_ key: String) throws -> Tensor {
      let name = settings.text(key) ?? key
      guard let output = outputs.first(where: { $0.name == name }) else {
        throw ModelError(.mismatch, "the output '\(name)' is missing")
      }
      return output.value
    }
    return .suppressed(
      SuppressedBoxes(
        confidences: try tensor("confidence"), coordinates: try tensor("coordinates")))
  }

  func ssd(_ outputs: [DetectorOutput]) throws -> BoxDecoding {
    if let output = outputs.first(where: { $0.value.shape.last == 7 && $0.shape.count <= 2 }) {
      return try rows(output)
    }
    if let output = outputs.first, outputs.count == 1, settings.text("priors") == nil,
      let decoding = try rowsWithPriors(output)
    {
      return decoding
    }
    var rest = outputs
    let priors: PriorBoxes
    if let description = settings.text("priors") {
      priors = try PriorBoxes(description: description, width: width, height: height)
    } else if let index = rest.firstIndex(where: Self.arePriors) {
      priors = try PriorBoxes(caffe: rest.remove(at: index).value)
    } else {
      throw ModelError(
        .mismatch, "the prior boxes of the SSD outputs are missing",
        hint:
          "describe them with \(setting: "detector") 'anchors=COLUMNSxROWS: WIDTHxHEIGHT, …; …'; Caffe networks have "
          + "them as the output of PriorBox")
    }
    var decoder = SSDDecoder(priors: priors)
    if let variances = try variances() { decoder.priors.variances = [variances] }
    try finish(&decoder)
    let (locations, scores) = try split(rest, count: priors.boxes.count)
    return .offsets(locations, scores: scores, decoder)
  }

  private func variances() throws -> [Double]? {
    guard let variances = try settings.numbers("variances") else { return nil }
    guard variances.count == 4 else {
      throw settings.fault("variances", nil, "\(variances.count) numbers; four are needed")
    }
    return variances
  }

  /// Sets the decoder's score function and background class.
  private func finish(_ decoder: inout SSDDecoder) throws {
    if let text = settings.text("scores") {
      guard let function = ScoreFunction(rawValue: text) else {
        throw settings.fault("scores", nil, "'\(text)' is invalid; use none, softmax or sigmoid")
      }
      decoder.function = function
    }
    decoder.background = try background(nil)
  }

  /// The rows of Keras's ports of SSD: four offsets, the class probabilities, a prior box and its
  /// variances. In rykov8's, offsets come first and prior boxes have corners; in ssd_keras's,
  /// classes come first and prior boxes have centers and sizes. Probabilities add up to 1.
  private func rowsWithPriors(_ output: DetectorOutput) throws -> BoxDecoding? {
    let width = output.shape.last ?? 0
    guard output.shape.count == 2, width > 13 else { return nil }
    let classes = width - 12
    let values = output.value.elements.map(Double.init)
    func isDistribution(_ first: Int) -> Bool {
      stride(from: 0, to: values.count, by: width).allSatisfy {
        abs(values[$0 + first..<$0 + first + classes].reduce(0, +) - 1) < 1e-3
      }
    }
    let startsWithClasses = isDistribution(0)
    guard startsWithClasses || isDistribution(4) else { return nil }
    var priors = PriorBoxes(boxes: [], variances: [])
    for row in stride(from: 0, to: values.count, by: width) {
      let end = row + width
      let position = values[end - 8..<end - 4].map { $0 }
      priors.boxes.append(
        startsWithClasses
          ? Box(centerX: position[0], centerY: position[1], width: position[2], height: position[3])
          : Box(left: position[0], top: position[1], right: position[2], bottom: position[3]))
      priors.variances.append(values[end - 4..<end].map { $0 })
    }
    var decoder = SSDDecoder(priors: priors)
    try finish(&decoder)
    let first = startsWithClasses ? classes : 0
    return .offsets(
      output.columns(first..<first + 4),
      scores: output.columns(startsWithClasses ? 0..<classes : 4..<4 + classes), decoder)
  }

  /// RetinaNet's boxes in pixels of the model's image, or offsets of the sides if there are prior
  /// boxes, such as `anchors=retinanet` for its defaults. By default, no class is the background.
  func retinaNet(_ outputs: [DetectorOutput]) throws -> BoxDecoding {
    guard let boxes = outputs.first(where: { $0.shape.count == 2 && $0.shape.last == 4 }) else {
      throw ModelError(.mismatch, "no output has four numbers per box")
    }
    let count = boxes.value.count / 4
    var priors = PriorBoxes(boxes: [])
    if let description = settings.text("priors") ?? settings.text("anchors") {
      priors =
        description == DetectionMode.retinanet.rawValue
        ? PriorBoxes(pyramidOf: width, height: height)
        : try PriorBoxes(description: description, width: width, height: height)
      priors.coding = .corners
      priors.variances = [try variances() ?? [Double](repeating: 0.2, count: 4)]
      try require(
        priors.boxes.count == count, .mismatch,
        "\(counted(priors.boxes.count, "anchor")) for \(count) boxes", field: boxes.name)
    } else {
      priors.coding = .sides
      let sides = [width, height, width, height].map { 1 / Double($0) }
      priors.variances = [sides]
      priors.boxes = [Box](repeating: Box(left: 0, top: 0, right: 1, bottom: 1), count: count)
    }
    var decoder = SSDDecoder(priors: priors)
    try finish(&decoder)
    decoder.background = settings.text("background") == nil ? nil : decoder.background
    guard
      let scores = outputs.first(where: {
        $0.name != boxes.name && $0.value.count % max(1, count) == 0 && $0.shape.count == 2
      })
    else { throw ModelError(.mismatch, "no output has the scores of \(count) boxes") }
    return .offsets(boxes, scores: scores, decoder)
  }

  /// Whether this is an output of PriorBox: two rows of four values per box.
  private static func arePriors(_ output: DetectorOutput) -> Bool {
    output.shape.count == 2 && output.shape[0] == 2 && output.shape[1] % 4 == 0
      && output.shape[1] > 0
  }

  /// The offsets and the scores among `outputs`.
  private func split(
    _ outputs: [DetectorOutput], count: Int
  ) throws -> (DetectorOutput, DetectorOutput) {
    let candidates = outputs.filter { $0.value.count == 4 * count }
    // `mbox_conf` has "box" in its name, too.
    let named = ["loc", "reg", "box"].lazy.compactMap { part in
      candidates.first { $0.name.lowercased().contains(part) }
    }.first
    guard let locations = named ?? (candidates.count == 1 ? candidates[0] : nil),
      let scores = outputs.first(where: {
        $0.name != locations.name && $0.value.count % count == 0
      })
    else {
      throw ModelError(
        .mismatch,
        "no two outputs match as offsets and scores of \(count) prior boxes: "
          + outputs.map { "\($0.name) \($0.value.shape)" }.joined(separator: ", "),
        hint: "offsets have four numbers per box; choose outputs with \(setting: "feature") NAME")
    }
    return (locations, scores)
  }
}
