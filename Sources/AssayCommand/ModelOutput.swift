/// The file to which a command writes its model.
enum ModelOutput {
  /// - Parameter isConversion: whether the model may become ONNX.
  /// - Throws: `ValidationError` if the path has the extension of another format, or none, and is
  ///   neither standard output nor a pipe or device.
  static func validate(_ path: String, isConversion: Bool = false) throws {
    guard path != "-", !Folder.isDevice(path), !ModelPackage.isPackage(path),
      !path.lowercased().hasSuffix(".mlmodel"), !isConversion || !ONNXModel.isONNX(path)
    else { return }
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    let found = name.lastIndex(of: ".").map { String(name[$0...]) }
    let extensions = [".mlmodel", ".mlpackage"] + (isConversion ? [".onnx"] : [])
    let similar = found.map { NameDistance.nearest(to: $0, among: extensions) } ?? []
    throw ValidationError(
      "\(path): "
        + (found.map { "unknown format '\($0)'" }
          ?? "the name has no extension, which is the format")
        + (similar.isEmpty ? "" : "; did you mean '\(similar[0])'?")
        + "\nhint: write an .mlmodel (a neural network)"
        + (isConversion
          ? ", an .mlpackage (an ML Program) or an .onnx" : " or an .mlpackage (an ML Program)"))
  }

  /// The file name of the model with the new extension, in the current folder.
  ///
  /// - Throws: `.cannotCreate` if the file exists.
  static func standard(for model: String, isProgram: Bool, mayExist: Bool) throws -> String {
    try require(
      model != "-" || mayExist, .usage, "a model from standard input has no name",
      hint: "add -o OUT.mlmodel")
    var name = model.split(separator: "/").last.map(String.init) ?? "model"
    for end in [".h5", ".hdf5"] where name.lowercased().hasSuffix(".caffemodel" + end) {
      name.removeLast(end.count)
    }
    if let dot = name.lastIndex(of: "."), dot > name.startIndex { name = String(name[..<dot]) }
    let path = name + (isProgram ? ".mlpackage" : ".mlmodel")
    try require(
      mayExist || !Folder.exists(path), .cannotCreate, "exists already", file: path,
      hint: "add -o \(path.shellWord) to replace it, or another name")
    return path
  }
}
