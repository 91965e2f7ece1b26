import Files
import LibC
import TensorCore

/// The format of a file, detected from its content and never from its name.
package enum FileFormat: Sendable, Equatable {
  /// A Core ML document.
  case coreML
  case hdf5
  /// A zip archive: Keras, NumPy or unknown.
  case zip
  case json
  /// Text that starts with a word, like a `.prototxt`.
  case prototxt
  /// A `.caffemodel`.
  case caffeBinary
  /// Text that starts with a section, like a Darknet `.cfg`.
  case darknet
  /// A Darknet `.weights`.
  case darknetWeights
  case numPy
  case png
  case jpeg
  /// Any other text.
  case text
  case empty
  /// A known format that is not supported.
  case foreign(ForeignFormat)
  case unknown

  package init(_ bytes: Bytes) {
    self = bytes.withUnsafeBytes { Self.told($0) } ?? .unknown
    if self == .zip, let archive = try? ZipArchive(bytes),
      let foreign = ForeignFormat(members: archive.members.map(\.name))
    {
      self = .foreign(foreign)
    }
  }

  /// The bytes of the file at `path`, for a Core ML package those of its model, and their format.
  ///
  /// - Throws: as `MappedFile.read`; for a folder that contains a model of another framework, the
  ///   error names the framework.
  package static func read(
    _ path: String, limit: Int = Limits.fileBytes
  ) throws -> (bytes: Bytes, format: FileFormat) {
    let file = try readPackage(path, limit: limit)
    return (file.bytes, file.format)
  }

  /// The same, with the package if the file is one.
  package static func readPackage(
    _ path: String, limit: Int = Limits.fileBytes
  ) throws -> (bytes: Bytes, format: FileFormat, package: ModelPackage?) {
    func opened(_ package: ModelPackage) throws -> (Bytes, FileFormat, ModelPackage?) {
      let format = FileFormat(package.model)
      guard format == .coreML else { throw format.error(expected: "a Core ML model") }
      return (package.model, format, package)
    }
    return try inFile(path == "-" ? "standard input" : path) {
      if let package = try ModelPackage(folder: path, limit: limit) { return try opened(package) }
      if let foreign = ForeignFormat(folder: path) {
        throw ModelError(.unsupported, "is \(foreign.name)", hint: foreign.remedy)
      }
      let bytes = try MappedFile.read(path, limit: limit)
      let format = FileFormat(bytes)
      if format == .zip || format == .foreign(.modelPackage),
        let package = try ModelPackage(ZipArchive(bytes))
      {
        return try opened(package)
      }
      return (bytes, format, nil)
    }
  }

  /// The name with its article: "an ONNX model".
  package var name: String {
    switch self {
    case .coreML: "a Core ML model"
    case .hdf5: "an HDF5 file"
    case .zip: "a zip archive"
    case .json: "JSON"
    case .prototxt, .text: "text"
    case .caffeBinary: "a .caffemodel"
    case .darknet: "a Darknet configuration"
    case .darknetWeights: "a Darknet weights file"
    case .numPy: "a NumPy array (.npy)"
    case .png: "a PNG image"
    case .jpeg: "a JPEG image"
    case .empty: "empty"
    case .foreign(let format): format.name
    case .unknown: "something else"
    }
  }

  /// What to do with the file instead.
  package var remedy: String? {
    switch self {
    case .empty: "download or save it again"
    case .zip: "a .keras file is one, which `assay convert` reads; unpack any other"
    case .json: "an architecture .json comes first, its weights file second"
    case .darknetWeights: "its .cfg comes first, the .weights second"
    case .hdf5, .prototxt, .caffeBinary, .darknet:
      "`assay convert` converts Keras, Caffe and Darknet networks to Core ML models"
    case .png, .jpeg: "images are inputs: assay run MODEL IMAGE"
    case .numPy: "arrays are inputs: assay run MODEL ARRAY"
    case .foreign(let format): format.remedy
    case .coreML, .text, .unknown: nil
    }
  }

  /// The error for a reader that expects another format.
  ///
  /// - Parameter expected: what the reader expects, with the article.
  package func error(expected: String) -> ModelError {
    switch self {
    case .empty: ModelError(.malformed, "the file is empty", hint: remedy)
    case .unknown: ModelError(.malformed, "is not \(expected)")
    default: ModelError(.unsupported, "is \(name), not \(expected)", hint: remedy)
    }
  }
}

extension FileFormat {
  private static func told(_ bytes: UnsafeRawBufferPointer) -> FileFormat? {
    if bytes.isEmpty { return .empty }
    func begins(_ magic: String) -> Bool { bytes.starts(with: magic.utf8) }
    func begins(_ magic: [UInt8]) -> Bool { bytes.starts(with: magic) }
    // An archive may contain an HDF5 file at byte 512, 1024, 2048, …
    if begins("PK\u{3}\u{4}") || begins("PK\u{5}\u{6}") { return .zip }
    if isHDF5(bytes) { return .hdf5 }
    if begins([0x93] + Array("NUMPY".utf8)) { return .numPy }
    if begins([0x89] + Array("PNG".utf8)) { return .png }
    if begins([0xFF, 0xD8, 0xFF]) { return .jpeg }
    let isText = isText(bytes.prefix(1024))
    let foreign = ForeignFormat.magic.first {
      ($0.offset == 0 || !isText) && bytes.dropFirst($0.offset).starts(with: $0.bytes)
    }
    if let foreign { return .foreign(foreign.format) }
    if isText { return text(bytes) }
    if begins("BM") { return .foreign(.image("BMP")) }
    // Versions 0.1 to 0.9, as 32-bit integers: no field of a message has the number 0.
    if begins([0, 0, 0, 0]), bytes.count >= 16, (1...9).contains(bytes[4]),
      bytes[5..<8].allSatisfy({ $0 == 0 })
    {
      return .darknetWeights
    }
    return ProtobufModel(bytes)?.format
  }

  /// The signature is at byte 0 or, after a user block, at 512, 1024, 2048, …
  private static func isHDF5(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let signature: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
    var offset = 0
    while offset + signature.count <= bytes.count {
      if bytes.dropFirst(offset).starts(with: signature) { return true }
      offset = offset == 0 ? 512 : offset * 2
    }
    return false
  }

  /// Whether the bytes contain no control characters except whitespace.
  private static func isText(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || isSpace($0) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> FileFormat {
    var rest = bytes.prefix(64 << 10)
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    if isConfiguration(rest) { return .darknet }
    // Whitespace and comments.
    while let byte = rest.first, byte == UInt8(ascii: "#") || isSpace(byte) {
      rest = byte == UInt8(ascii: "#") ? rest.drop { $0 != 0x0A } : rest.dropFirst()
    }
    switch rest.first {
    // Text that starts with nothing but comments is assumed to be Caffe's.
    case nil: return bytes.count > 64 << 10 ? .prototxt : .text
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
    case UInt8(ascii: "<"): return .foreign(.markup)
    case UInt8(ascii: "_"): return .prototxt
    case let byte?:
      if rest.starts(with: "version https://git-lfs".utf8) { return .foreign(.largeFilePointer) }
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) ? .prototxt : .text
    }
  }

  /// Whether the first line that is not a comment is a section, such as `[net]` or `[conv_lstm]`.
  private static func isConfiguration(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let line = line.filter { !isSpace($0) }
      guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
        continue
      }
      let name = line.dropFirst().prefix {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
      }
      return first == UInt8(ascii: "[") && !name.isEmpty
        && line.dropFirst(1 + name.count).first.map { $0 == UInt8(ascii: "]") || $0 == 0x5F }
          ?? false
    }
    return false
  }
}
