extension Report {
  /// Adds the effect of half precision on the layers.
  mutating func add(_ study: HalfPrecisionStudy) {
    add("Half precision", "<pre>\(HalfPrecisionText(study: study).text())</pre>")
  }

  /// Adds the results of `diff`: the verdicts, the errors along the network, and the images.
  mutating func add(_ comparison: Comparison, diagnosis: Diagnosis?) throws {
    add(comparison.outputs)
    if let diagnosis {
      add("Diagnosis", "<pre>\(DiagnosisText(diagnosis: diagnosis).text())</pre>")
    }
    if let blobs = comparison.blobs {
      add(
        "Errors along the network",
        errors: ErrorPlot(
          blobs.blobs.map { blob in
            (
              name: blob.name, error: blob.metrics?.relativeToLargest ?? .infinity,
              own: comparison.layerErrors?.own[blob.name], agrees: blob.agrees
            )
          }))
    }
    for images in comparison.images {
      let (difference, largest) = try images.amplified()
      try add(
        "Image '\(images.name)'",
        images: [
          ("actual", images.actualImage()), ("expected", images.expectedImage()),
          ("difference, white is \(largest) of 255", difference),
        ])
    }
  }
}
