import LibC
import TensorCore

/// A format that is not supported, and what users with such a file can do.
package struct ForeignFormat: Sendable, Equatable {
  /// The name with its article: "an ONNX model".
  package let name: String
  package let remedy: String

  private static let source = "convert the Keras or Caffe file that it was made from"
  private static let keras = "load it in Keras and save it with model.save(\"NAME.keras\")"

  package static let onnx = ForeignFormat(
    name: "an ONNX model", remedy: source + ", or use coremltools 5 or earlier")
  package static let tensorFlowLite = ForeignFormat(name: "a TensorFlow Lite model", remedy: source)
  package static let savedModel = ForeignFormat(
    name: "a SavedModel (no Keras architecture)", remedy: keras)
  package static let frozenGraph = ForeignFormat(
    name: "a TensorFlow graph (no Keras architecture)", remedy: source)
  package static let pyTorch = ForeignFormat(
    name: "a PyTorch file",
    remedy:
      "it contains weights but no architecture: build the network in Keras, set its weights and "
      + "save it with model.save(\"NAME.keras\")")
  package static let pickle = ForeignFormat(
    name: "a Python pickle", remedy: "pickles are never read: save the model with model.save()")
  package static let tensors = ForeignFormat(
    name: "a file of tensors without a network", remedy: pyTorch.remedy)
  package static let compiledModel = ForeignFormat(
    name: "a compiled Core ML model (.mlmodelc)",
    remedy: "compiling cannot be undone: use the .mlmodel that it was compiled from")
  package static let coreAI = ForeignFormat(
    name: "a Core AI model (.aimodel)",
    remedy: "Core AI's models are for its own framework: " + source)
  package static let kerasMetadata = ForeignFormat(
    name: "the metadata of a SavedModel",
    remedy: "load the folder that contains it in Keras and save it with model.save(\"NAME.keras\")")
  package static let modelPackage = ForeignFormat(
    name: "a Core ML package (.mlpackage)",
    remedy: "a package with its Manifest.json is a model: assay run MODEL INPUT")
  package static let markup = ForeignFormat(
    name: "HTML or XML",
    remedy: "a failed download often saves a web page: download the file again")
  package static let largeFilePointer = ForeignFormat(
    name: "a Git LFS pointer", remedy: "run 'git lfs pull' to fetch the file itself")

  static let document = ForeignFormat(
    name: "a PDF file", remedy: "give a model, or an image as PNG or JPEG")

  static func archive(_ kind: String) -> ForeignFormat {
    ForeignFormat(name: "an archive (\(kind))", remedy: "unpack it and use the file inside")
  }

  static func image(_ kind: String) -> ForeignFormat {
    ForeignFormat(name: "a \(kind) file", remedy: "convert the image to PNG or JPEG")
  }

  /// Bytes that identify a format, at the start of a file or at an offset.
  static let magic: [(offset: Int, bytes: [UInt8], format: ForeignFormat)] = [
    (4, Array("TFL3".utf8), tensorFlowLite), (0, [0x4D, 0x4C, 0xEF, 0x52], coreAI),
    (2, [0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19], pyTorch),
    (0, [0x80, 0x02], pickle), (0, [0x80, 0x03], pickle), (0, [0x80, 0x04], pickle),
    (0, [0x80, 0x05], pickle),
    (8, Array("{\"".utf8), tensors), (0, Array("GGUF".utf8), tensors),
    (0, [0x1F, 0x8B], archive("gzip")), (0, Array("BZh".utf8), archive("bzip2")),
    (0, [0xFD] + Array("7zXZ".utf8), archive("xz")),
    (0, [0x28, 0xB5, 0x2F, 0xFD], archive("zstd")),
    (0, Array("7z".utf8) + [0xBC, 0xAF], archive("7z")), (0, Array("Rar!".utf8), archive("rar")),
    (257, Array("ustar".utf8), archive("tar")),
    (0, Array("GIF8".utf8), image("GIF")), (0, Array("II*\0".utf8), image("TIFF")),
    (0, Array("MM\0*".utf8), image("TIFF")), (8, Array("WEBP".utf8), image("WebP")),
    (4, Array("ftyphei".utf8), image("HEIF")), (4, Array("ftypmif1".utf8), image("HEIF")),
    (4, Array("ftypavif".utf8), image("AVIF")), (0, Array("%PDF".utf8), document),
  ]

  private init(name: String, remedy: String) {
    self.name = name
    self.remedy = remedy
  }

  /// The format that the names of a zip archive's members indicate; nil if unknown.
  package init?(members names: [String]) {
    func has(_ name: String) -> Bool { names.contains { $0 == name || $0.hasSuffix("/" + name) } }
    if has("saved_model.pb") {
      self = .savedModel
    } else if has("data.pkl") {
      self = .pyTorch
    } else if has("coremldata.bin") || has("model.espresso.net") {
      self = .compiledModel
    } else if has("com.apple.CoreML/model.mlmodel") {
      self = .modelPackage
    } else {
      return nil
    }
  }

  /// The format that the name of a path or the files in a folder indicate; nil if unknown.
  package init?(folder path: String) {
    let inside = "Data/com.apple.CoreML/model.mlmodel"
    var status = stat()
    func has(_ name: String) -> Bool { stat(path + "/" + name, &status) == 0 }
    var name = path[...]
    while name.hasSuffix("/") { name.removeLast() }
    let (exists, isFolder) = (stat(path, &status) == 0, has("."))
    if has("saved_model.pb") {
      self = .savedModel
    } else if has("coremldata.bin") || has("model.espresso.net")
      || isFolder && name.hasSuffix(".mlmodelc")
    {
      self = .compiledModel
    } else if exists, name.hasSuffix(isFolder ? ".aimodel" : ".mlirb") {
      self = .coreAI
    } else if exists, name.hasSuffix("keras_metadata.pb") {
      self = .kerasMetadata
    } else if has(inside) {
      self.init(
        name: "a Core ML package (.mlpackage) without its Manifest.json",
        remedy: "the model in it is '\(path)/\(inside)'")
    } else {
      return nil
    }
  }
}

/// The top-level fields of a protobuf message, which distinguish the model formats.
struct ProtobufModel {
  private var wireTypes: [UInt32: Set<UInt8>] = [:]
  private var first: [UInt32: Range<Int>] = [:]
  private let bytes: UnsafeRawBufferPointer

  /// Maximum number of fields examined; a TensorFlow graph has one per node.
  private static let fieldCount = 1 << 16

  /// Nil if the bytes do not start with a field.
  init?(_ bytes: UnsafeRawBufferPointer) {
    self.init(bytes, 0..<bytes.count)
    if wireTypes.isEmpty { return nil }
  }

  private init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    self.bytes = bytes
    var position = range.lowerBound
    for _ in 0..<Self.fieldCount where position < range.upperBound {
      guard let field = try? ProtobufWire.field(bytes, at: position, end: range.upperBound) else {
        // If the file is truncated, its last, incomplete field counts too.
        var next = position
        if let key = try? ProtobufWire.varint(bytes, at: &next, end: range.upperBound, longest: 5),
          key >> 3 > 0, key >> 3 < 1 << 29, key & 7 == UInt64(ProtobufWire.delimited)
        {
          wireTypes[UInt32(key >> 3), default: []].insert(UInt8(key & 7))
        }
        return
      }
      wireTypes[field.number, default: []].insert(field.wireType)
      if first[field.number] == nil { first[field.number] = field.value }
      position = field.range.upperBound
    }
  }

  private func has(_ number: UInt32, _ wireType: UInt8 = ProtobufWire.delimited) -> Bool {
    wireTypes[number]?.contains(wireType) ?? false
  }

  private func inside(_ number: UInt32) -> ProtobufModel? {
    has(number) ? first[number].map { ProtobufModel(bytes, $0) } : nil
  }

  /// Nil if the fields match no known format.
  ///
  /// The formats have these fields:
  /// - Core ML's `Model`: a version (1), a description (2) and, from 200, its type
  /// - ONNX's `ModelProto`: a version (1), a graph (7) and operator sets (8)
  /// - `SavedModel`: a version (1) and graphs with their metadata (2)
  /// - `GraphDef`: nodes (1), each with a name (1) and an operation (2)
  /// - Caffe's `NetParameter`: a name (1) and layers (2 or 100)
  var format: FileFormat? {
    if wireTypes.contains(where: { $0.key >= 200 && $0.value.contains(ProtobufWire.delimited) }) {
      return .coreML
    }
    if has(1, ProtobufWire.varint) {
      if has(7) || has(8) { return .foreign(.onnx) }
      if let graph = inside(2)?.inside(2), graph.isGraph { return .foreign(.savedModel) }
      return has(2) ? .coreML : nil
    }
    if isGraph { return .foreign(.frozenGraph) }
    if hasCaffeLayers { return .caffeBinary }
    return nil
  }

  private var isGraph: Bool {
    guard let node = inside(1), let name = node.first[1], let operation = node.first[2] else {
      return false
    }
    func isWord(_ range: Range<Int>) -> Bool {
      !range.isEmpty && bytes[range].allSatisfy { (0x21..<0x7F).contains($0) }
    }
    return node.has(1) && node.has(2) && node.wireTypes.keys.allSatisfy { $0 < 20 }
      && isWord(name) && isWord(operation)
  }

  private var hasCaffeLayers: Bool {
    let messages: [UInt32] = [1, 2, 3, 6, 8, 100]
    return (has(2) || has(100))
      && messages.allSatisfy { wireTypes[$0].map { $0 == [ProtobufWire.delimited] } ?? true }
  }
}
