extension Report {
  /// Adds the input and output images, and the distribution of every other output.
  ///
  /// - Parameter labels: the class labels, if the model is a classifier.
  mutating func add(
    _ prediction: Prediction, inputs: [String: FeatureValue], labels: [String]?
  ) throws {
    var images: [(caption: String, image: Image)] = inputs.sorted { $0.key < $1.key }
      .compactMap { name, value in
        if case .image(let image) = value { ("input '\(name)'", image) } else { nil }
      }
    var rows: [HTML] = []
    for output in prediction.outputs {
      if case .image = output.kind, output.value.shape.count == 3 {
        let order: ChannelOrder = output.value.shape[2] == 1 ? .grayscale : .rgb
        images.append(("output '\(output.name)'", try Image(output.value, order, channels: .last)))
      } else {
        if let classes = Self.bestClasses(of: output, labels) {
          rows.append(classes)
          continue
        }
        let values = output.value.withUnsafeElements { ValueDistribution($0) }
        rows.append(
          """
          <p>\(output.name) \(output.value.shape.map(String.init).joined(separator: "×"))\
          \(output.text.map { ": \($0)" } ?? "")</p>\(values?.chart ?? "")
          """)
      }
    }
    try add("Images", images: images)
    if !rows.isEmpty { add("Outputs", rows.lines()) }
  }

  /// Adds the detected objects, in the image and as a table.
  mutating func add(_ result: ImageDetection.Result) throws {
    try add("Boxes", images: [("objects found", result.drawn())])
    let rows = result.objects.map { object in
      [
        result.detector.label(object.classIndex), fixedText(object.score * 100, decimals: 2),
      ] + DetectionText.numbers(object.box).map { fixedText($0, decimals: 1) }
    }
    add(HTML.table(["", "%", "x", "y", "width", "height"], rows, numbers: [1, 2, 3, 4, 5]))
  }

  /// The five best of scores with labels.
  private static func bestClasses(of output: PredictedOutput, _ labels: [String]?) -> HTML? {
    let scores = output.value.elements
    guard output.isScores, let labels, labels.count == scores.count else { return nil }
    let best = scores.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }.prefix(5)
    return """
      <p>\(output.name)</p>
      \(HTML.table(
        ["class", "score"], best.map { [labels[$0], numberText(Double(scores[$0]), digits: 6)] },
        numbers: [1]))
      """
  }
}
