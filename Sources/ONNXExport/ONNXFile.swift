import ByteFormats
import CSpec
import CoreMLModel
import Files
import TensorCore

extension ONNXModel {
  private static let schema = SpecificationSchema.schema(onnx_model_descriptor(), ONNXModel.self)
  /// Smaller initializers stay in the model.
  private static let externalByteCount = 1024
  /// Alignment that lets a runtime map each initializer.
  private static let alignment = 4096

  package static func isONNX(_ path: String) -> Bool { path.lowercased().hasSuffix(".onnx") }

  /// Reads the structure of a model; its initializers stay in `bytes`.
  package init(bytes: Bytes) throws {
    try self.init(decoding: bytes, onnx_model_descriptor(), Self.schema, "an ONNX model")
  }

  /// Writes the model atomically. The same model always gives the same bytes.
  ///
  /// - Parameter isExternal: whether to write the weights to a separate file next to the model,
  ///   even if the model can hold them.
  package func write(to path: String, isExternal: Bool = false) throws {
    let total = graph?.initializers.reduce(0) { $0 + $1.data.count } ?? 0
    guard isExternal || total > Limits.modelBytes - 64 << 20 else {
      return try writeMessage(to: path)
    }
    try require(
      path != "-", .usage, "weights in a file of their own need a file to be beside",
      hint: "name a file with -o")
    let dataPath = path + ".data"
    var model = self
    var pieces: [Bytes] = []
    var end = 0
    for index in graph?.initializers.indices ?? 0..<0 {
      guard var tensor = graph?.initializers[index], tensor.data.count >= Self.externalByteCount
      else { continue }
      let start = (end + Self.alignment - 1) / Self.alignment * Self.alignment
      if start > end { pieces.append(Bytes([UInt8](repeating: 0, count: start - end))) }
      pieces.append(tensor.data)
      end = start + tensor.data.count
      tensor.externalData = [
        ONNXEntry("location", dataPath.split(separator: "/").last.map(String.init) ?? ""),
        ONNXEntry("offset", String(start)), ONNXEntry("length", String(tensor.data.count)),
      ]
      tensor.location = 1
      tensor.data = Bytes()
      model.graph?.initializers[index] = tensor
    }
    try AtomicFile.write(to: dataPath, byteCount: end) { file in
      for piece in pieces { try piece.withUnsafeBytes(file.write) }
    }
    try model.writeMessage(to: path)
  }

  private func writeMessage(to path: String) throws {
    try inFile(path == "-" ? "standard output" : path) {
      let encoding = try encoding(onnx_model_descriptor(), Self.schema, "the model")
      try AtomicFile.write(to: path, byteCount: encoding.byteCount) { file in
        try encoding.forEachPiece(file.write)
      }
    }
  }
}
