import CoreMLModel
import TensorCore

/// The axis order of an array in the source framework, and the conversion to and from Core ML's
/// `[Seq, Batch, C, H, W]`.
///
/// Importers record these in the model's user-defined metadata:
/// - `assay.layout.NAME`: the layout of a feature or blob, one letter per axis, such as `NHWC`,
///   `NTC` or `NC`
/// - `assay.layout`: the layout of all other blobs
/// - `assay.shape.NAME`: an input's sizes in the source framework, such as `?,10,3`, where `?` is
///   any size
/// - `assay.type.NAME`: `int32` for an input of integers
///
/// Features of exact rank have an `ExactLayout` instead.
package struct SourceLayout: Sendable, Equatable {
  package enum Axis: Character, Sendable {
    case sequence = "T"
    case batch = "N"
    case channels = "C"
    case height = "H"
    case width = "W"

    /// Its position in `[Seq, Batch, C, H, W]`.
    var canonicalIndex: Int {
      switch self {
      case .sequence: 0
      case .batch: 1
      case .channels: 2
      case .height: 3
      case .width: 4
      }
    }
  }

  package static let metadataPrefix = "assay.layout."
  /// Key of the layout for every blob without a separate one.
  package static let blobKey = "assay.layout"
  package static let shapePrefix = "assay.shape."
  package static let typePrefix = "assay.type."

  package let axes: [Axis]

  /// Nil if a letter is unknown or repeated.
  package init?(_ letters: String) {
    let axes = letters.compactMap(Axis.init(rawValue:))
    guard axes.count == letters.count, Set(axes).count == axes.count, !axes.isEmpty else {
      return nil
    }
    self.axes = axes
  }

  /// The layout recorded for a feature of `model`.
  package init?(of feature: String, in model: Model) {
    guard
      let letters = model.description?.metadata?.userDefined[Self.metadataPrefix + feature]
    else { return nil }
    self.init(letters)
  }

  /// The number of steps that an input of `model` takes in the source framework; nil if it is
  /// variable or not recorded.
  package func steps(of feature: String, in model: Model) -> Int? {
    let text = model.description?.metadata?.userDefined[Self.shapePrefix + feature]
    let sizes = text?.split(separator: ",", omittingEmptySubsequences: false) ?? []
    guard sizes.count == axes.count, let axis = axes.firstIndex(of: .sequence),
      let steps = Int(sizes[axis]), (1...Limits.dimension).contains(steps)
    else { return nil }
    return steps
  }

  package var letters: String { String(axes.map(\.rawValue)) }

  /// Converts an array in this layout to `[Seq, Batch, C, H, W]`; the batch axis may be
  /// omitted.
  package func canonical(_ array: Tensor, feature: String) throws -> Tensor {
    let shape = try completed(array.shape, feature: feature)
    var canonicalShape = [1, 1, 1, 1, 1]
    for (axis, size) in zip(axes, shape) { canonicalShape[axis.canonicalIndex] = size }
    let order = axes.indices.sorted { axes[$0].canonicalIndex < axes[$1].canonicalIndex }
    return array.reshaped(shape).transposed(order).reshaped(canonicalShape)
  }

  /// Converts a `[Seq, Batch, C, H, W]` blob to this layout. An axis that is not in the layout
  /// must have length 1; otherwise the blob keeps its axes.
  package func source(_ blob: Tensor) -> Tensor {
    let named = Set(axes.map(\.canonicalIndex))
    guard blob.shape.count == 5,
      blob.shape.indices.allSatisfy({ named.contains($0) || blob.shape[$0] == 1 })
    else { return blob }
    let order = named.sorted()
    let dense = blob.reshaped(order.map { blob.shape[$0] })
    return dense.transposed(axes.map { axis in order.firstIndex(of: axis.canonicalIndex) ?? 0 })
  }

  private func completed(_ shape: [Int], feature: String) throws -> [Int] {
    if shape.count == axes.count { return shape }
    if shape.count == axes.count - 1, let batch = axes.firstIndex(of: .batch) {
      var completed = shape
      completed.insert(1, at: batch)
      return completed
    }
    throw ModelError(
      .mismatch, "an array of shape \(shape) does not match the layout \(letters)", field: feature,
      hint: "give \(axes.count) axes in the order \(letters), or use \(setting: "layout") coreml")
  }
}
