import ByteFormats
import CoreMLModel
import Files
import ImportSupport
import ModelTransforms
import TensorCore

extension WeightFiles {
  /// Reads the weights in `folder` for `model`, in Core ML's order: those in its manifest, or,
  /// without a manifest, those whose files have the names that `write` uses.
  ///
  /// - Throws: `.mismatch` if a shape differs from the model's, if the folder has no weights, or if
  ///   a file matches no weight and there is no manifest; `.missingFile` if a file that the manifest
  ///   names does not exist.
  package func read(_ folder: String, for model: Model) throws -> [WeightPath: FloatValues] {
    guard Folder.isFolder(folder) else {
      throw Folder.exists(folder)
        ? ModelError(.mismatch, "is a file; \(setting: "weights") takes a folder", file: folder)
        : ModelError(.missingFile, "no such folder", file: folder)
    }
    let manifest = folder + "/" + Self.manifest
    guard Folder.exists(manifest) else { return try readUnlisted(folder, for: model) }
    let (files, entries) = try inFile(manifest) {
      try Self.parse(
        JSONValue(parsing: MappedFile.read(manifest, limit: Limits.jsonBytes).array(of: UInt8.self))
      )
    }
    var positions: [WeightPath: WeightOrder] = [:]
    for (name, layer, orders) in try Self.layers(of: model, files.layout) {
      for weight in layer.parameters?.weights ?? [] {
        positions[WeightPath(layer: name, parameter: weight.name)] = orders.order(
          of: weight, in: layer)
      }
    }
    var listed: [(entry: Entry, order: WeightOrder)] = []
    for entry in entries {
      let position = WeightPath(layer: entry.layer, parameter: entry.parameter)
      let order = try positions[position].orThrow(
        ModelError(
          .mismatch, "the model has no such weight", file: manifest, layer: entry.layer,
          field: entry.parameter))
      listed.append((entry, order))
    }
    return try files.values(of: listed, in: folder)
  }

  /// Files by name, without a manifest.
  private func readUnlisted(
    _ folder: String, for model: Model
  ) throws -> [WeightPath: FloatValues] {
    let known = try entries(of: model)
    let present = try Folder.files(below: folder).map { String($0.dropFirst(folder.count)) }
      .map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 }.filter { !$0.contains("/") }
    let listed = known.filter { present.contains($0.entry.file) }
    let hint =
      "`assay inspect` shows the names with \(setting: "exportWeights") DIR and the same \(setting: "weightFiles")"
    try require(
      !listed.isEmpty, .mismatch, "contains no weights file for this model", file: folder,
      hint: hint
    )
    let names = Set(known.map(\.entry.file))
    if let other = present.first(where: { $0.hasSuffix(fileExtension) && !names.contains($0) }) {
      throw ModelError(
        .mismatch, "is not a weight of the model", file: folder + "/" + other, hint: hint)
    }
    for (file, parts) in Dictionary(grouping: listed, by: \.entry.file) {
      let count = try checkedSum(parts.map(\.entry.count))
      let found = try values(folder + "/" + file).values.count
      try require(
        found == count, .mismatch, "\(found) values, but the model has \(count)",
        file: folder + "/" + file)
    }
    return try values(of: listed.map { ($0.entry, $0.order) }, in: folder)
  }

  private func values(
    of positions: [(entry: Entry, order: WeightOrder)], in folder: String
  ) throws -> [WeightPath: FloatValues] {
    var result: [WeightPath: FloatValues] = [:]
    var contents: (file: String, values: FloatValues, shape: [Int]?)?
    for (entry, order) in positions {
      let path = folder + "/" + entry.file
      if contents?.file != entry.file {
        let (values, shape) = try self.values(path)
        contents = (entry.file, values, shape)
      }
      guard let contents else { continue }
      // A file of one axis may contain several consecutive weights.
      if let shape = contents.shape, shape.count != 1, shape != order.fileShape {
        throw ModelError(
          .mismatch, "the shape is \(shape), but the model's is \(order.fileShape)", file: path,
          layer: entry.layer, field: entry.parameter)
      }
      result[WeightPath(layer: entry.layer, parameter: entry.parameter)] = try Self.piece(
        contents.values, entry, order, file: path)
    }
    return result
  }

  private static func piece(
    _ values: FloatValues, _ entry: Entry, _ order: WeightOrder, file: String
  ) throws -> FloatValues {
    func mismatch(_ message: String) -> ModelError {
      ModelError(.mismatch, message, file: file, layer: entry.layer, field: entry.parameter)
    }
    guard entry.shape == order.fileShape else {
      throw mismatch("the shape is \(entry.shape), but the model's is \(order.fileShape)")
    }
    let count = try checkedProduct(entry.shape)
    let end = try checkedSum([entry.offset, count])
    guard entry.offset >= 0, end <= values.count else {
      throw mismatch("\(values.count) values; elements up to \(end) are needed")
    }
    let bytes = try values.contiguousBytes.orThrow(ModelError(.internal, "values in pieces"))
    return order.model(FloatValues(bytes: bytes[entry.offset * 4..<end * 4]))
  }

  /// The values of a file, and its shape.
  private func values(_ path: String) throws -> (values: FloatValues, shape: [Int]?) {
    let bytes = try MappedFile.read(path)
    return try inFile(path) {
      if format == .npy {
        let tensor = try NumPyFile.parse(bytes).tensor
        return (FloatValues(tensor.elements), tensor.shape)
      }
      try require(
        bytes.count % 4 == 0, "\(bytes.count) bytes are not a whole number of 32-bit floats")
      return (FloatValues(bytes: bytes), nil)
    }
  }

  private static func parse(_ document: JSONValue) throws -> (WeightFiles, [Entry]) {
    var files = WeightFiles()
    guard let format = document["format"]?.string.flatMap(Format.init),
      let layout = document["layout"]?.string.flatMap(ExportLayout.init),
      let list = document["weights"]?.array
    else {
      throw ModelError(
        .malformed, "a manifest needs 'format', 'layout' and 'weights'",
        hint: "formats are npy and raw, layouts coreml, source and mps")
    }
    files.format = format
    files.layout = layout
    return (
      files,
      try list.enumerated().map { index, value in
        let shape = value["shape"]?.array?.compactMap(\.int) ?? []
        guard let layer = value["layer"]?.string, let parameter = value["parameter"]?.string,
          let file = value["file"]?.string, let offset = value["offset"]?.int,
          let count = value["count"]?.int, offset >= 0,
          shape.allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }),
          try checkedProduct(shape, limit: Limits.tensorElements) == count
        else {
          throw ModelError(
            .malformed,
            "a weight needs layer, parameter, file, offset, and a count that fits its shape",
            field: "weights[\(index)]")
        }
        try require(
          !file.contains("/") && !file.isEmpty && file != "..",
          "'\(file)' is not a file in the folder", field: "weights[\(index)].file")
        return Entry(
          name: value["name"]?.string ?? "", layer: layer, parameter: parameter, file: file,
          offset: offset, count: count, shape: shape)
      }
    )
  }
}
