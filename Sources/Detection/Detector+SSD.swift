import TensorCore

// MARK: SSD

extension Detector {
  /// The class that is nothing: 0 unless the settings say another, or −1 for none.
  private func background(_ output: String?) throws -> Int? {
    let index = try settings.integer("background", of: output, in: -1...1 << 20) ?? 0
    return index < 0 ? nil : index
  }

  func rows(_ output: DetectorOutput) throws -> [DetectedObject] {
    var rows = DetectionRows()
    rows.background = try background(output.name)
    do { return try rows.objects(in: output.value, threshold: threshold) } catch let error
      as ModelError
    { throw error.inLayer(output.name) }
  }

  func ssd(
    _ outputs: [DetectorOutput], _ isSuppressed: inout Bool
  ) throws -> [DetectedObject] {
    if let output = outputs.first(where: { $0.value.shape.last == 7 && $0.shape.count <= 2 }) {
      return try rows(output)
    }
    isSuppressed = false
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
    if let variances = try settings.numbers("variances") {
      guard variances.count == 4 else {
        throw settings.fault("variances", nil, "\(variances.count) numbers; four are needed")
      }
      decoder.priors.variances = [variances]
    }
    if let text = settings.text("scores") {
      guard let function = ScoreFunction(rawValue: text) else {
        throw settings.fault("scores", nil, "'\(text)' is invalid; use none, softmax or sigmoid")
      }
      decoder.function = function
    }
    decoder.background = try background(nil)
    let (locations, scores) = try split(rest, count: priors.boxes.count)
    return try decoder.objects(
      locations: locations.value, scores: scores.value, threshold: threshold)
  }

  /// What PriorBox gives: two rows, each four times as long as there are boxes.
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
