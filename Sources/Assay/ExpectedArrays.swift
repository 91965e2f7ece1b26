import ByteFormats
import HDF5Reader
import Imaging
import TensorCore

/// Arrays from any file that `diff` accepts: `.npz`, `.npy`, `.json`, `.csv`, an image as `[height,
/// width, channels]` of 0…255, or the datasets of an HDF5 file, named by their paths.
enum ExpectedArrays {
  static func isImage(_ path: String) throws -> Bool {
    [.png, .jpeg].contains(try FileFormat.read(path).format)
  }

  static func read(_ path: String) throws -> ArraySet {
    if try isImage(path) {
      let image = try Image.read(path)
      let order: ChannelOrder = image.channelCount == 1 ? .grayscale : .rgb
      return ArraySet([NamedArray(try image.tensor(order, channels: .last), type: .uint8)])
    }
    guard try FileFormat.read(path).format == .hdf5 else { return try ArraySet.read(path) }
    return try inFile(path) {
      ArraySet(
        try HDF5File.open(path).root.allDatasets.map { dataset in
          let values = try dataset.values()
          return NamedArray(
            Tensor(shape: dataset.shape, try values.array()), name: String(dataset.path.dropFirst())
          )
        })
    }
  }
}
