import ByteFormats
import Files
import HDF5Reader
import TensorCore

/// Arrays of any file that `diff` takes: `.npz`, `.npy`, `.json`, `.csv`, or the datasets of an
/// HDF5 file, named by their paths.
enum ExpectedArrays {
  static func read(_ path: String) throws -> ArraySet {
    guard path != "-", try isHDF5(path) else { return try ArraySet.read(path) }
    return try inFile(path) {
      ArraySet(
        try HDF5File.open(path).root.allDatasets.map { dataset in
          let values = try dataset.values()
          return NamedArray(
            Tensor(shape: dataset.shape, values.array()), name: String(dataset.path.dropFirst()))
        })
    }
  }

  private static func isHDF5(_ path: String) throws -> Bool {
    let bytes = try MappedFile.read(path)
    return bytes[0..<min(8, bytes.count)].array(of: UInt8.self)
      == [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
  }
}
