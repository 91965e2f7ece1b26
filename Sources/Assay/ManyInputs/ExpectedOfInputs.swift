import ByteFormats
import ModelPrediction
import TensorCore

/// The expected outputs of many inputs: a folder with a file of arrays per input, by its path
/// without extension, or one file whose first axis is the input.
package struct ExpectedOfInputs {
  private enum Source {
    case folder
    case batch([NamedArray])
  }

  private let path: String
  private let source: Source

  /// - Parameter count: the number of inputs; nil if unknown.
  package init(_ path: String, count: Int?) throws {
    self.path = path
    guard !Folder.isFolder(path) else {
      source = .folder
      return
    }
    let arrays = try ExpectedArrays.read(path).arrays
    for array in arrays {
      guard let length = array.tensor.shape.first, count.map({ $0 == length }) ?? true else {
        let name = array.name.map { "'\($0)'" } ?? "the array"
        throw ModelError(
          .mismatch,
          "\(name) has shape \(array.tensor.shape), but there are \(count ?? 0) inputs", file: path,
          hint: "the first axis counts the inputs; or name a folder with a file for each")
      }
    }
    source = .batch(arrays)
  }

  /// The expected outputs of the input at this index.
  ///
  /// - Throws: `.mismatch` if there are none, or they cannot be read.
  package func arrays(of input: InputSource, at index: Int) throws -> (
    arrays: ArraySet, file: String
  ) {
    switch source {
    case .batch(let arrays):
      let rows = try arrays.map { array in
        let shape = array.tensor.shape
        guard let length = shape.first, index < length else {
          throw ModelError(.mismatch, "\(path) has no row \(index)", file: input.name)
        }
        let count = array.tensor.count / length
        let row = array.tensor.withUnsafeElements { Array($0[index * count..<(index + 1) * count]) }
        return NamedArray(Tensor(shape: [1] + shape.dropFirst(), row), name: array.name)
      }
      return (ArraySet(rows), path)
    case .folder:
      let stem = (path.hasSuffix("/") ? path : path + "/") + (input.outputStem ?? "output")
      for suffix in ["npz", "npy", "json", "csv"] {
        let file = "\(stem).\(suffix)"
        guard Folder.exists(file) else { continue }
        do { return (try ArraySet.read(file), file) } catch var error as ModelError {
          error.code = .mismatch
          throw error
        }
      }
      throw ModelError(
        .mismatch, "it has no expected outputs: \(stem).npz is missing", file: input.name)
    }
  }
}
