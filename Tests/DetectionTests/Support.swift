import ByteFormats
import Files
import TensorCore
import TestSupport

@testable import Detection

/// The arrays in `Fixtures/detection/detection.npz`, computed by OpenCV.
enum Fixture {
  static func array(_ name: String) throws -> Tensor {
    let set = try ArraySet.parse(try MappedFile.read(Fixtures("detection").path("detection.npz")))
    guard let array = set.arrays.first(where: { $0.name == name }) else {
      throw ModelError(.missingFile, "no array \(name)")
    }
    return array.tensor
  }

  /// Rows of class, score, left, top, right, bottom.
  static func objects(_ name: String) throws -> [DetectedObject] {
    let values: [Double] = try array(name).elements.map(Double.init)
    var objects: [DetectedObject] = []
    for at in stride(from: 0, to: values.count, by: 6) {
      let box = Box(
        left: values[at + 2], top: values[at + 3], right: values[at + 4], bottom: values[at + 5])
      objects.append(DetectedObject(box: box, classIndex: Int(values[at]), score: values[at + 1]))
    }
    return objects
  }
}

extension [DetectedObject] {
  /// Sorted by class and score, which are distinct in the fixtures.
  var inOrder: [DetectedObject] {
    sorted { ($0.classIndex, $0.score) < ($1.classIndex, $1.score) }
  }

  /// The largest difference of scores and edges from those of `other`, relative to edges larger
  /// than 1; infinite if the classes differ.
  func difference(from other: [DetectedObject]) -> Double {
    guard count == other.count else { return .infinity }
    var largest = 0.0
    for (a, b) in zip(inOrder, other.inOrder) {
      if a.classIndex != b.classIndex { return .infinity }
      let found = [a.box.left, a.box.top, a.box.right, a.box.bottom, a.score]
      let expected = [b.box.left, b.box.top, b.box.right, b.box.bottom, b.score]
      for (x, y) in zip(found, expected) {
        largest = Swift.max(largest, abs(x - y) / Swift.max(1, abs(y)))
      }
    }
    return largest
  }
}
