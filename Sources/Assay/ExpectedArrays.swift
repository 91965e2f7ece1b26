import ByteFormats
import HDF5Reader
import TensorCore

/// Arrays of any file that `diff` takes: `.npz`, `.npy`, `.json`, `.csv`, or the datasets of an
/// HDF5 file, named by their paths.
enum ExpectedArrays {
  static func read(_ path: String) throws -> ArraySet {
    guard try FileFormat.read(path).format == .hdf5 else { return try ArraySet.read(path) }
    return try inFile(path) {
      ArraySet(
        try HDF5File.open(path).root.allDatasets.map { dataset in
          let values = try dataset.values()
          return NamedArray(
            Tensor(shape: dataset.shape, values.array()), name: String(dataset.path.dropFirst()))
        })
    }
  }
}
