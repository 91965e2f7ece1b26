/// Predictions as files.
enum OutputFiles {
  /// Returns a closure that writes `outputs` in the format of the extension of `path`.
  ///
  /// - Throws: an error if the format cannot store the outputs, before anything is written.
  static func writing(
    _ outputs: [PredictedOutput], to path: String, in folder: String? = nil
  ) throws -> () throws -> Void {
    guard path.lowercased().hasSuffix(".png") else {
      if let text = outputs.first(where: { $0.text != nil }) {
        throw ModelError(
          .mismatch, "output '\(text.name)' is text, which array files cannot hold",
          file: path, hint: "choose others with --feature NAME, or print all with --json")
      }
      let arrays = ArraySet(outputs.map { NamedArray($0.value, name: $0.name) })
      let format =
        path != "-" ? try arrays.format(of: path) : outputs.count == 1 ? .npy : .npz
      return {
        try AtomicFile.write(to: path, in: folder) { try arrays.write(format, to: $0.write) }
      }
    }
    let images = outputs.filter { if case .image = $0.kind { true } else { false } }
    if images.isEmpty, outputs.count == 1 {
      return try writingHeatMap(outputs[0], to: path, in: folder)
    }
    guard images.count == 1, let image = images.first, image.value.shape.count == 3 else {
      throw ModelError(
        .mismatch, "a .png holds one output, but the model has \(outputs.count)",
        file: path, hint: "choose one with --feature NAME, or write .npy or .npz")
    }
    let order: ChannelOrder = image.value.shape[2] == 1 ? .grayscale : .rgb
    let picture = try Image(image.value, order, channels: .last)
    return { try picture.writePNG(to: path, in: folder) }
  }

  /// Draws an array of one to three channels as colors; prints its range to standard error.
  private static func writingHeatMap(
    _ output: PredictedOutput, to path: String, in folder: String?
  ) throws -> () throws -> Void {
    let whole = folder.map { "\($0)/\(path)" } ?? path
    let map = try inFile(whole) {
      try HeatMap(output.value, channels: output.channels)
    }
    let range = map.range.map {
      "\(numberText(Double($0.lowerBound), digits: 6)) to "
        + numberText(Double($0.upperBound), digits: 6)
    }
    let axes = output.value.shape.suffix(3)
    let colors =
      axes.first == 3 || axes.last == 3
      ? "; convert with --image-output \(output.name) to see its colors" : ""
    return {
      try map.image.writePNG(to: path, in: folder)
      Console.note(
        Console.escaped(
          "\(whole): \(output.name) as a heat map, "
            + (range.map { "scaled from \($0)" } ?? "without a finite value") + colors))
    }
  }

  /// The file for one of several inputs in the output folder: `NAME.png` for a single image,
  /// `NAME.npz` otherwise.
  static func path(for name: String, _ outputs: [PredictedOutput]) -> String {
    var isImage = false
    if outputs.count == 1, case .image = outputs[0].kind { isImage = true }
    return name + (isImage ? ".png" : ".npz")
  }
}
