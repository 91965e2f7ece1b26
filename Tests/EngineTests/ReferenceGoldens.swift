import ByteFormats
import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Arrays that `Fixtures/reference/make.py`, `make_arrays.py`, `make_windows.py` and
/// `make_computed.py` computed with NumPy and SciPy.
struct Goldens {
  private static let folder = Fixtures("reference")
  private static let planes = Result { try ArraySet.read(folder.path("goldens.npz")) }
  private static let exact = Result { try ArraySet.read(folder.path("arrays.npz")) }
  private static let windows = Result { try ArraySet.read(folder.path("windows.npz")) }
  private static let computed = Result { try ArraySet.read(folder.path("computed.npz")) }

  let name: String
  private let arrays: Result<ArraySet, any Error>

  /// - Parameter isExact: whether the case is from `make_arrays.py`.
  init(_ name: String, isExact: Bool = false) {
    self.name = name
    arrays = isExact ? Self.exact : Self.planes
  }

  private init(name: String, _ arrays: Result<ArraySet, any Error>) {
    self.name = name
    self.arrays = arrays
  }

  /// A case from `make_windows.py`.
  static func windows(_ name: String) -> Goldens { Goldens(name: name, windows) }

  /// A case from `make_computed.py`.
  static func computed(_ name: String) -> Goldens { Goldens(name: name, computed) }

  private func array(_ key: String) throws -> Tensor {
    try #require(try arrays.get()["\(name)/\(key)"], "no golden \(name)/\(key)").tensor
  }

  func has(_ key: String) -> Bool { (try? arrays.get()["\(name)/\(key)"]) != nil }

  func tensor(_ key: String) throws -> ReferenceTensor { ReferenceTensor(try array(key)) }

  func values(_ key: String) throws -> [Float] { try array(key).elements }

  func weights(_ key: String) throws -> Weights { Weights(try values(key)) }

  /// Compares the layer's outputs for the arrays `inputs` with the arrays `outputs`, within |a − b|
  /// ≤ 1e-6 · max |b| + 2e-6 · |b|, because the goldens and their inputs are rounded to single
  /// precision.
  func check(
    _ layer: any ReferenceLayer, _ inputs: [String] = ["input"], _ outputs: [String] = ["output"],
    zeroState: [Int]? = nil,
    settings: ReferenceSettings = ReferenceSettings(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let actual = try layer.referenceOutputs(
      try inputs.map(tensor)
        + [zeroState].compactMap { $0.map { ReferenceTensor(shape: $0) } }, settings)
    #expect(actual.count >= outputs.count, sourceLocation: sourceLocation)
    for (key, a) in zip(outputs, actual) {
      let b = try tensor(key)
      #expect(a.shape == b.shape, "\(name)/\(key)", sourceLocation: sourceLocation)
      guard a.shape == b.shape else { continue }
      let largest = b.elements.reduce(0) { max($0, abs($1)) }
      let wrong = b.elements.indices.first {
        let difference = abs(a.elements[$0] - b.elements[$0])
        return !(difference <= 1e-6 * largest + 2e-6 * abs(b.elements[$0]))
          && a.elements[$0] != b.elements[$0]
      }
      #expect(
        wrong == nil,
        "\(name)/\(key): \(a.elements[wrong ?? 0]), expected \(b.elements[wrong ?? 0])",
        sourceLocation: sourceLocation)
    }
  }
}
