import ByteFormats
import CoreMLModel
import Files
import ImportSupport
import LayerTemplates
import ModelPrediction
import TensorCore

extension WeightFiles {
  /// Writes all weights of a network, or of a pipeline's networks, to `folder`, decoded to single
  /// precision, and a manifest with the location of each. Creates the folder if necessary.
  ///
  /// - Returns: the numbers of weights and files written.
  package func write(_ model: Model, to folder: String) throws -> (weights: Int, files: Int) {
    try require(
      !model.networks.isEmpty, .unsupported,
      "a model of type \(model.typeName) has no weights to export")
    let positions = try entries(of: model)
    for position in positions { try position.weight.requireValues() }
    if Folder.exists(folder) { try Folder.make(folder, for: "weights") }
    return try AtomicFolder.write(to: folder, existing: .filled(replacing: true)) { writer in
      var (begin, count) = (0, 0)
      while begin < positions.count {
        let file = positions[begin].entry.file
        let end = positions[begin...].firstIndex { $0.entry.file != file } ?? positions.count
        try write(positions[begin..<end].map { ($0.weight, $0.order) }, to: file, with: writer)
        (begin, count) = (end, count + 1)
      }
      let text = manifestText(positions.map(\.entry))
      try writer.write(Self.manifest) { try $0.write(text) }
      if format == .swift {
        try writer.write(Self.offsets) { try $0.write(offsetsText(positions.map(\.entry))) }
      }
      return (positions.count, count)
    }
  }

  private func write(
    _ weights: [(NamedWeights, WeightOrder)], to file: String, with writer: FolderWriter
  ) throws {
    let count = try checkedSum(weights.map { try checkedProduct($0.0.shape) })
    let shape = weights.count == 1 ? weights[0].1.fileShape : [count]
    let block = 1 << 18
    try writer.write(file, byteCount: count * 4) { file in
      if format == .npy { try file.write(NumPyFile.header(shape: shape)) }
      let buffer = try AlignedBuffer(checkedByteCount: min(block, max(count, 1)) * 4)
      try withExtendedLifetime(buffer) {
        let target = buffer.pointer.bindMemory(to: Float.self, capacity: min(block, max(count, 1)))
        for (weight, order) in weights {
          let values = try order.file(weight.decoded())
          for start in stride(from: 0, to: values.count, by: block) {
            let range = start..<min(start + block, values.count)
            values.copy(range, to: target)
            try file.write(UnsafeRawBufferPointer(start: target, count: range.count * 4))
          }
        }
      }
    }
  }

  /// Swift constants such as `static let conv1_weights = 0..<216`.
  private func offsetsText(_ entries: [Entry]) -> String {
    var names = SwiftNames(taken: [])
    let lines = entries.map { entry in
      """
        /// \(SwiftNames.comment("\(entry.layer), \(entry.parameter), in \(entry.file)")): \(entry.shape)
        static let \(names.unique(entry.name, else: "weight")) = \(entry.offset)..<\(entry.offset + entry.count)

      """
    }
    return "// Where the weights are, in 32-bit floats.\nenum Weights {\n" + lines.joined() + "}\n"
  }

  private func manifestText(_ entries: [Entry]) -> String {
    func object(_ pairs: [(String, JSONValue)]) -> String {
      var object = JSONObject()
      for (name, value) in pairs { object[name] = value }
      return JSONValue.object(object).text
    }
    let lines = entries.map { entry in
      "  "
        + object([
          ("name", .string(entry.name)), ("layer", .string(entry.layer)),
          ("parameter", .string(entry.parameter)), ("file", .string(entry.file)),
          ("offset", .int(entry.offset)), ("count", .int(entry.count)),
          ("shape", .array(entry.shape.map { .int($0) })),
        ])
    }
    return "{\"format\": \"\(format.rawValue)\", \"layout\": \"\(layout.rawValue)\", "
      + "\"weights\": [\n" + lines.joined(separator: ",\n") + "\n]}\n"
  }
}
