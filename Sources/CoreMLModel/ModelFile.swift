import ByteFormats
import CProtobufC
import Files
import TensorCore

extension Model {
  /// Reads an `.mlmodel` that Core ML would accept. Large weights stay in the mapped file.
  /// - Throws: `ModelError` with the file, the layer and the field, listing all faults at once.
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

  /// Reads an encoded model and, of an ML Program, the weight files in its package.
  package init(bytes: Bytes, package: ModelPackage?) throws {
    try self.init(bytes: bytes)
    try readWeightFiles(package)
  }

  /// Reads an encoded model. Large weights stay in `bytes`.
  public init(bytes: Bytes) throws {
    try require(
      bytes.count <= Limits.modelBytes, .limitExceeded,
      "\(bytes.count) bytes exceed the format's limit of \(Limits.modelBytes)")
    guard bytes.count > 0 else { throw ModelError(.malformed, "the file is empty") }
    // The nodes of a tree take some twenty times their bytes.
    let budget = 4 * bytes.count + 24 * min(bytes.count, 32 << 20) + (64 << 20)
    let skeleton = try ProtobufSkeleton(
      of: bytes, schema: SpecificationSchema.model, budget: budget)
    let allocator = UnpackAllocator(budget: budget)
    var model = try allocator.withUnpacked(skeleton.bytes, SpecificationSchema.descriptor) {
      try Model(MessageReader($0, payloads: skeleton.payloads))
    }
    model?.unknownFields.places = skeleton.unknownFields
    guard let model else {
      throw allocator.isExhausted
        ? ModelError(.limitExceeded, "unpacking it would take more than \(budget) bytes of memory")
        : ModelError(.malformed, "the file is not a Core ML model")
    }
    self = model
  }

  /// Writes an `.mlmodel`, or a package if the path ends with `.mlpackage`, atomically. The same model always gives the same bytes.
  /// - Throws: `ModelError`; `.limitExceeded` if the model exceeds the format's 2 GiB − 1,
  ///   `.unsupported` for an ML Program whose weights are in files of their own.
  public func write(to path: String) throws { try write(to: path, verify: nil) }

  /// - Parameters:
  ///   - verify: looks at the complete file before it takes its name; what it throws leaves an earlier
  ///     file as it was. Pipes and devices are not verified.
  ///   - onProgress: takes the bytes written so far, and how many there will be.
  package func write(
    to path: String, verify: ((Bytes) throws -> Void)? = nil,
    onProgress: ((_ done: Int, _ total: Int) -> Void)? = nil
  ) throws {
    if ModelPackage.isPackage(path) { return try writePackage(to: path) }
    try inFile(path == "-" ? "standard output" : path) {
      if let file = weightFile {
        throw ModelError(
          .unsupported, "the program has weights in '\(file)', which an .mlmodel cannot hold",
          hint: "write an .mlpackage")
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

  /// Writes the model and its weight files as a package.
  private func writePackage(to path: String) throws {
    let bytes = try inFile(path) { Bytes(try encoded()) }
    try ModelPackage.write(bytes, files: weightFiles, to: path)
  }

  /// What is written between two reports of progress, at most.
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
    let context = EncodingContext()
    let writer = try MessageWriter(
      SpecificationSchema.descriptor, context, unknown: unknownFields.fields)
    try write(writer)
    try writer.finish()
    let message = UnsafePointer(writer.message.assumingMemoryBound(to: ProtobufCMessage.self))
    let size = protobuf_c_message_get_packed_size(message)
    let skeleton = [UInt8](unsafeUninitializedCapacity: size) { target, count in
      count = target.baseAddress.map { protobuf_c_message_pack(message, $0) } ?? 0
    }
    let encoding = try ProtobufSplice(
      skeleton: skeleton, payloads: context.payloads, schema: SpecificationSchema.model)
    try require(
      encoding.byteCount <= Limits.modelBytes, .limitExceeded,
      "the model would take \(encoding.byteCount) bytes; the format's limit is \(Limits.modelBytes)",
      hint: "half-precision weights take half the space")
    return encoding
  }
}
