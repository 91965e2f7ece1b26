import Assay

/// Predictions as files.
enum OutputFiles {
  /// Returns a closure that writes `outputs` in the format of the extension of `path`.
  ///
  /// - Throws: an error if the format cannot store the outputs, before anything is written.
  static func writing(
    _ outputs: [PredictedOutput], to path: String
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
      return { try AtomicFile.write(to: path) { try arrays.write(format, to: $0.write) } }
    }
    let images = outputs.filter { if case .image = $0.kind { true } else { false } }
    if images.isEmpty, outputs.count == 1 { return try writingHeatMap(outputs[0], to: path) }
    guard images.count == 1, let image = images.first, image.value.shape.count == 3 else {
      throw ModelError(
        .mismatch, "a .png holds one output, but the model has \(outputs.count)",
        file: path, hint: "choose one with --feature NAME, or write .npy or .npz")
    }
    let order: ChannelOrder = image.value.shape[2] == 1 ? .grayscale : .rgb
    let picture = try Image(image.value, order, channels: .last)
    return { try picture.writePNG(to: path) }
  }

  /// An array of one to three channels as colors; prints its range to standard error.
  private static func writingHeatMap(
    _ output: PredictedOutput, to path: String
  ) throws -> () throws -> Void {
    let map = try inFile(path) {
      try HeatMap(output.value, channels: output.channels)
    }
    let range = map.range.map {
      "\(numberText(Double($0.lowerBound), digits: 6)) to "
        + numberText(Double($0.upperBound), digits: 6)
    }
    return {
      try map.image.writePNG(to: path)
      Console.note(
        Console.escaped("\(path): \(output.name), ") + (range ?? "no finite value"))
    }
  }

  /// The file for one of several inputs in `folder`: its name with `.png` for a single image,
  /// `.npz` otherwise.
  static func path(
    in folder: String, for name: String, _ outputs: [PredictedOutput]
  ) throws -> String {
    var isImage = false
    if outputs.count == 1, case .image = outputs[0].kind { isImage = true }
    return try path(in: folder, for: name, extension: isImage ? "png" : "npz")
  }

  /// The same with an extension. Creates missing folders.
  static func path(
    in folder: String, for name: String, extension suffix: String
  ) throws -> String {
    let path = folder + "/" + name + "." + suffix
    let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? folder
    try Folder.make(parent, for: "several inputs")
    return path
  }
}
