import ByteFormats
import ImportSupport
import TensorCore

extension MeanImage {
  /// Reads a mean image: a `.binaryproto` with a Caffe blob, or an `.npy` with an array `[C, H,
  /// W]`, `[1, C, H, W]` or `[H, W]`.
  package init(contentsOf path: String) throws {
    self = try inFile(path) {
      let (bytes, format) = try FileFormat.read(path)
      switch format {
      case .numPy:
        let array = try NumPyFile.parse(bytes).tensor
        return try MeanImage(path, array.shape, Array(array.elements))
      case .foreign, .hdf5, .zip, .png, .jpeg, .empty:
        throw format.error(expected: "a Caffe mean image or an .npy array")
      default: break
      }
      var reader = BinaryReader(bytes)
      let message = try reader.parse(.blob)
      try require(
        message.fields.contains(where: { $0.type != nil }),
        "the file is neither a Caffe mean image nor an .npy array")
      let blob = try CaffeBlob(message)
      return try MeanImage(path, blob.shape, try blob.values().array())
    }
  }

  private init(_ path: String, _ shape: [Int], _ values: [Float]) throws {
    var shape = shape
    while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
    if shape.count == 2 { shape.insert(1, at: 0) }
    try require(
      shape.count == 3, "a mean image has the shape (C, H, W), not \(shape)", file: path,
      hint: shape.count == 1 ? "for one mean per channel use \(setting: "imageMean") R,G,B" : nil)
    try self.init(name: path, channels: shape[0], height: shape[1], width: shape[2], values: values)
  }
}
