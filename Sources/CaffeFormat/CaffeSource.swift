import ByteFormats
import HDF5Reader

/// A Caffe network that has been read: its layers, and where its weights are.
public struct CaffeSource: Sendable {
  package let path: String
  /// `NetParameter`, upgraded to the current version of the format.
  package let network: CaffeMessage
  package let weights: CaffeWeights?
  /// Notes about unknown fields and upgrades.
  package let notes: [String]
  /// Whether the network comes with weights.
  package var hasWeights: Bool { weights != nil }
}

extension CaffeSource {
  /// Reads a `.prototxt`, alone or with a `.caffemodel` or `.caffemodel.h5`, in either order, or a
  /// `.caffemodel` alone, whose layers define the network.
  ///
  /// - Throws: `ModelError` with the file, and the line or the layer.
  package static func load(
    _ path: String, weights weightsPath: String? = nil, access: HDF5Access = .isolated
  ) throws -> CaffeSource {
    let file = try CaffeFile(path)
    guard let weightsPath else {
      switch file {
      case .text(let bytes):
        return try inFile(path) { try CaffeSource(path: path, text: bytes, weights: nil) }
      case .binary(let bytes):
        return try inFile(path) { try CaffeSource(path: path, binary: bytes) }
      case .hdf5:
        throw ModelError(
          .mismatch, "contains weights but no network", file: path,
          hint: "give the .prototxt first, then this file")
      }
    }
    let other = try CaffeFile(weightsPath)
    if case .text(let bytes) = other {
      try require(
        !file.isText, .mismatch, "is a text file, not a weights file", file: weightsPath,
        hint: "weights come as .caffemodel or .caffemodel.h5")
      let weights = try CaffeWeights(path, file, access: access)
      return try inFile(weightsPath) {
        try CaffeSource(path: weightsPath, text: bytes, weights: weights)
      }
    }
    guard case .text(let bytes) = file else {
      throw ModelError(
        .mismatch, "is not a .prototxt", file: path,
        hint: "of two files, one must be the network's .prototxt and the other its weights")
    }
    let weights = try CaffeWeights(weightsPath, other, access: access)
    return try inFile(path) { try CaffeSource(path: path, text: bytes, weights: weights) }
  }
}

extension CaffeSource {
  package init(path: String, text: Bytes, weights: CaffeWeights?) throws {
    var parser = try TextParser(text.array(of: UInt8.self))
    var network = try parser.parse(.network)
    var notes = parser.unknownFields.map { field in
      "\(path): \(field.position)\(field.count > 1 ? " and \(field.count - 1) more" : ""): "
        + "'\(field.path)' is not a field of Caffe's schema; it is ignored unless the layer type reads it"
        + (field.similar.map { "; did you mean '\($0)'?" } ?? "")
    }
    if let weights { notes += weights.notes }
    try NetworkUpgrade.apply(to: &network, notes: &notes)
    try require(
      network.has("layer"), "the text has no layers",
      hint: network.unknownFields.isEmpty
        ? "a .prototxt declares each as 'layer { … }'"
        : "if this is a solver, convert the network that its field 'net' names")
    self.init(path: path, network: network, weights: weights, notes: notes)
  }

  package init(path: String, binary: Bytes) throws {
    var notes: [String] = []
    let network = try BinaryReader.network(binary, notes: &notes)
    let weights = try CaffeWeights(path: path, network: network)
    self.init(path: path, network: network, weights: weights, notes: notes + weights.notes)
  }
}

/// A Caffe file, detected from its content.
package enum CaffeFile {
  case text(Bytes)
  case binary(Bytes)
  case hdf5

  package init(_ path: String) throws {
    let (bytes, format) = try FileFormat.read(path)
    switch format {
    case .hdf5: self = .hdf5
    case .prototxt, .text: self = .text(bytes)
    case .caffeBinary, .unknown: self = .binary(bytes)
    default: throw format.error(expected: "a Caffe file").inFile(path)
    }
  }

  var isText: Bool { if case .text = self { true } else { false } }
}
