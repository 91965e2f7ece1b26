import ByteFormats
import Files
import TensorCore

extension Model {
  /// Reads an `.mlmodel` that Core ML would accept. Large weights stay in the mapped file.
  /// - Throws: `ModelError` with the file, the layer and the field, listing every problem.
  public init(contentsOf path: String) throws {
    try self.init(uncheckedContentsOf: path)
    try inFile(path == "-" ? "standard input" : path) {
      try connectVGSLNetwork()
      try requireValid()
    }
  }

  /// Reads an `.mlmodel` even if its content is invalid, such as a model without its weights.
  /// - Throws: `ModelError` if the file is not an encoded model.
  package init(uncheckedContentsOf path: String) throws {
    let (bytes, format, package) = try FileFormat.readPackage(path, limit: Limits.modelBytes)
    self = try inFile(path == "-" ? "standard input" : path) {
      guard format == .coreML || format == .unknown else {
        throw format.error(expected: "a Core ML model")
      }
      return try Model(bytes: bytes, package: package)
    }
  }

  /// Reads an encoded model and, for an ML Program, the weight files in its package.
  package init(bytes: Bytes, package: ModelPackage?) throws {
    try self.init(bytes: bytes)
    try readWeightFiles(package)
  }

  /// Reads an encoded model. Large weights stay in `bytes`.
  public init(bytes: Bytes) throws {
    try require(
      bytes.count <= Limits.modelBytes, .limitExceeded,
      "\(bytes.count) bytes exceed the format's limit of \(Limits.modelBytes)")
    self = try Self(
      decoding: bytes, SpecificationSchema.descriptor, SpecificationSchema.model, "a Core ML model")
    // coremltools describes an output twice if the program returns it twice.
    var described: [String: FeatureDescription] = [:]
    description?.output.removeAll { described.updateValue($0, forKey: $0.name) == $0 }
  }

  /// Writes an `.mlmodel`, or a package if the path ends with `.mlpackage`, atomically. The same
  /// model always gives the same bytes.
  /// - Throws: `ModelError`; `.limitExceeded` if the model exceeds the format's 2 GiB − 1,
  ///   `.unsupported` for an ML Program whose weights are in separate files.
  public func write(to path: String) throws { try write(to: path, verify: nil) }

  /// - Parameters:
  ///   - verify: inspects the complete file before it takes its name; if it throws, an earlier file
  ///     stays as it was. Pipes and devices are not verified.
  ///   - onProgress: receives the byte count so far and the total.
  package func write(
    to path: String, verify: ((Bytes) throws -> Void)? = nil,
    onProgress: ((_ done: Int, _ total: Int) -> Void)? = nil
  ) throws {
    if ModelPackage.isPackage(path) { return try writePackage(to: path) }
    try inFile(path == "-" ? "standard output" : path) {
      if let file = weightFile {
        throw ModelError(
          .unsupported, "the program has weights in '\(file)', which an .mlmodel cannot hold",
          hint: "name the output .mlpackage")
      }
      let encoding = try encoding()
      try AtomicFile.write(to: path, byteCount: encoding.byteCount, verify: verify) { file in
        try encoding.forEachPiece { piece in
          for start in stride(from: 0, to: piece.count, by: Self.pieceByteCount) {
            let end = min(start + Self.pieceByteCount, piece.count)
            try file.write(UnsafeRawBufferPointer(rebasing: piece[start..<end]))
            onProgress?(file.byteCount, encoding.byteCount)
          }
        }
      }
    }
  }

  private func writePackage(to path: String) throws {
    let bytes = try inFile(path) { Bytes(try encoded()) }
    try ModelPackage.write(bytes, files: weightFiles, to: path)
  }

  /// The most bytes written between two progress reports.
  private static let pieceByteCount = 16 << 20

  /// Whether the model is encoded as exactly these bytes.
  package func isEncoded(as bytes: Bytes) throws -> Bool {
    let encoding = try encoding()
    guard encoding.byteCount == bytes.count else { return false }
    var isEqual = true
    try bytes.withUnsafeBytes { expected in
      var position = 0
      try encoding.forEachPiece { piece in
        isEqual =
          isEqual && position + piece.count <= expected.count
          && piece.elementsEqual(expected[position..<position + piece.count])
        position += piece.count
      }
    }
    return isEqual
  }

  /// The encoded model in memory.
  public func encoded() throws -> [UInt8] {
    let encoding = try encoding()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoding.byteCount)
    try encoding.forEachPiece { bytes.append(contentsOf: $0) }
    return bytes
  }

  private func encoding() throws -> ProtobufSplice {
    try encoding(SpecificationSchema.descriptor, SpecificationSchema.model, "the model")
  }
}
