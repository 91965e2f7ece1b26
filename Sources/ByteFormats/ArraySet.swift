import Files
import TensorCore

/// An array as read from a file.
package struct NamedArray: Sendable, Equatable {
  package var name: String?
  /// Element type in the file; the elements themselves are the nearest floats. `.uint8` is kept
  /// when the array is written; everything else becomes float32.
  package var type: NumericType
  package var tensor: Tensor
  /// The elements in double precision, if requested.
  package var doubles: [Double]?
  /// The number of elements that are finite in the file and infinite as floats.
  package var overflowCount = 0

  package init(_ tensor: Tensor, name: String? = nil, type: NumericType = .float32) {
    self.name = name
    self.type = type
    self.tensor = tensor
  }
}

/// Arrays in file order: one without a name, or any number with different names.
package struct ArraySet: Sendable, Equatable {
  package var arrays: [NamedArray]

  package init(_ arrays: [NamedArray]) { self.arrays = arrays }

  package subscript(name: String) -> NamedArray? { arrays.first { $0.name == name } }

  /// Reads `.npy`, `.npz`, JSON or CSV, detected from the content; `-` is standard input.
  package static func read(_ path: String) throws -> ArraySet {
    let bytes = try MappedFile.read(path)
    return try inFile(path == "-" ? "standard input" : path) {
      try parse(bytes, prefersJSON: path.hasSuffix(".json"))
    }
  }

  /// - Parameters:
  ///   - prefersJSON: true reads a lone number as JSON (no axes), false as CSV (one axis).
  ///   - exactly: whether NumPy arrays also keep their elements as doubles.
  package static func parse(
    _ bytes: Bytes, prefersJSON: Bool = false, exactly: Bool = false
  ) throws -> ArraySet {
    let format = FileFormat(bytes)
    switch format {
    case .numPy: return ArraySet([try NumPyFile.parse(bytes, exactly: exactly)])
    case .zip: return try parseArchive(bytes, exactly: exactly)
    // `[NaN]` looks like a section of a Darknet file.
    case .json, .darknet: return try JSONArrays.parse(bytes)
    case .text, .prototxt:
      return try prefersJSON ? JSONArrays.parse(bytes) : ArraySet([CSVFile.parse(bytes)])
    case .hdf5:
      throw ModelError(.unsupported, "is an HDF5 file, not an array file")
    case .empty: throw ModelError(.malformed, "the file is empty")
    default:
      var error = format.error(expected: "an array file")
      error.hint = error.hint ?? "use a .npy, .npz, .json or .csv file"
      throw error
    }
  }

  /// Writes the format given by the extension of `path`: `.npy` and `.csv` hold one array, `.npz`
  /// and `.json` any number. The same arrays always produce the same bytes.
  package func write(to path: String, deflated: Bool = false) throws {
    let format = try format(of: path)
    try AtomicFile.write(to: path) { try write(format, deflated: deflated, to: $0.write) }
  }

  /// The format for the extension of `path`.
  ///
  /// - Throws: if there is none, or if it cannot hold these arrays.
  package func format(of path: String) throws -> Format {
    let format = Format.allCases.first { path.lowercased().hasSuffix("." + $0.rawValue) }
    guard let format else {
      throw ModelError(
        .usage, "the file extension is not an array format", file: path,
        hint: "use .npy, .npz, .json or .csv")
    }
    try require(
      arrays.count == 1 || format == .npz || format == .json, .mismatch,
      "a .\(format.rawValue) file holds one array, not \(arrays.count)", file: path,
      hint: "use .npz")
    return format
  }

  package enum Format: String, CaseIterable, Sendable { case npy, npz, json, csv }

  /// Precondition: `.npy` and `.csv` take exactly one array.
  package func write(
    _ format: Format, deflated: Bool = false,
    to write: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    switch format {
    case .npy: try NumPyFile.write(arrays[0], to: write)
    case .csv: try CSVFile.write(arrays[0], to: write)
    case .json: try JSONArrays.write(self, to: write)
    case .npz: try writeArchive(deflated: deflated, to: write)
    }
  }

  /// Replaces `/` in the names of an archive's members.
  private static let slash = "__SLASH__"
  private static let memberSuffix = ".npy"

  private static func parseArchive(_ bytes: Bytes, exactly: Bool) throws -> ArraySet {
    let archive = try ZipArchive(bytes)
    var names: Set<String> = []
    return ArraySet(
      try archive.members.map { member in
        guard member.name.hasSuffix(memberSuffix) else {
          throw ModelError(
            .unsupported, "the archive's member '\(member.name)' is not an .npy file")
        }
        let name = replaced(String(member.name.dropLast(memberSuffix.count)), slash, by: "/")
        try require(names.insert(name).inserted, "the archive has two arrays named '\(name)'")
        do {
          var array = try NumPyFile.parse(archive.contents(member), exactly: exactly)
          array.name = name
          return array
        } catch var error as ModelError {
          error.field = error.field ?? member.name
          throw error
        }
      })
  }

  private func writeArchive(
    deflated: Bool, to write: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var archive = ZipWriter(write)
    for (index, array) in arrays.enumerated() {
      let name = Self.replaced(array.name ?? "arr_\(index)", "/", by: Self.slash)
      var bytes: [UInt8] = []
      try NumPyFile.write(array) { bytes += $0 }
      try bytes.withUnsafeBytes {
        try archive.add(name + Self.memberSuffix, [$0], deflated: deflated)
      }
    }
    try archive.finish()
  }

  private static func replaced(_ text: String, _ old: String, by new: String) -> String {
    text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
  }
}
