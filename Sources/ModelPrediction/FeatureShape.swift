import CoreMLModel
import ModelTransforms
import TensorCore

extension Model {
  /// The number of steps in a sequence if the source framework accepts any number.
  private static let typicalSteps = 16

  /// `[Seq, Batch, C, H, W]` for an input about which nothing else is known: the declared shape
  /// and, for a sequence, the number of steps that the source framework takes. Nil if the input is
  /// neither an image nor an array.
  package func typicalShape(of input: FeatureDescription) -> [Int]? {
    guard let network = neuralNetwork else {
      return pipelineModels.first { $0.takes(input.name) }?.typicalShape(of: input)
    }
    guard var shape = input.type?.networkShape(in: network) else { return nil }
    if network.arrayInputShapeMapping == .rank5, shape[0] == 1,
      let layout = SourceLayout(of: input.name, in: self),
      layout.axes.contains(.sequence)
    {
      shape[0] = layout.steps(of: input.name, in: self) ?? Self.typicalSteps
    }
    return shape
  }

  /// Whether the source framework's axes are recorded for all arrays of the interface.
  package var recordsLayouts: Bool {
    ((description?.input ?? []) + (description?.output ?? [])).allSatisfy {
      guard case .multiArray? = $0.type?.kind else { return true }
      return description?.metadata?.userDefined[SourceLayout.metadataPrefix + $0.name] != nil
    }
  }

  /// The network that takes the input, or the first such one in a pipeline; nil if there is none.
  package func network(taking input: String) -> NeuralNetwork? {
    neuralNetwork ?? pipelineModels.first { $0.takes(input) }?.network(taking: input)
  }
}

/// An array's declared shape in the source framework's axis order.
package struct SourceShape: Sendable {
  /// One letter for each axis, such as `NHWC`.
  package let letters: String
  /// The sizes, with one item in a batch; empty if the model declares none.
  package let sizes: [Int]
  /// Whether it is a sequence of any number of steps.
  package let isFlexible: Bool

  /// - Parameter steps: the number of steps that the source framework takes, if it is fixed.
  init(_ layout: SourceLayout, declared: [Int], steps: Int?) {
    letters = layout.letters
    isFlexible = layout.axes.contains(.sequence) && steps == nil && declared.count < 5
    guard let first = [1: 2, 3: 2, 5: 0][declared.count] else {
      sizes = []
      return
    }
    var canonical = [steps ?? 1, 1, 1, 1, 1]
    canonical.replaceSubrange(first..<first + declared.count, with: declared)
    sizes = layout.axes.map { canonical[$0.canonicalIndex] }
  }

  init(_ layout: ExactLayout, declared: [Int]) {
    letters = String(layout.source)
    isFlexible = false
    let sizes = Dictionary(zip(layout.model, declared)) { first, _ in first }
    self.sizes = declared.count == layout.model.count ? layout.source.map { sizes[$0] ?? 1 } : []
  }
}

/// Core ML's axis order: `[C]`, `[C, H, W]`, or all five axes.
enum CoreMLLayout {
  /// `[Seq, Batch, C, H, W]` for an array that fits the declared shape, possibly with leading
  /// axes.
  static func canonical(
    _ array: Tensor, declared: ArrayFeatureType, feature: String
  ) throws -> Tensor {
    let rank = declared.shape.count
    let shape = array.shape
    if shape.count == 5 { return array }
    if rank == 1 {
      switch shape.count {
      case 1: return array.reshaped([1, 1, shape[0], 1, 1])
      case 2: return array.reshaped([1, shape[0], shape[1], 1, 1])
      case 3: return array.reshaped([shape[0], shape[1], shape[2], 1, 1])
      default: break
      }
    }
    switch shape.count {
    case 3: return array.reshaped([1, 1] + shape)
    case 4: return array.reshaped([1] + shape)
    default:
      throw ModelError(
        .mismatch, "an array of shape \(shape) does not match the declared \(declared.shape)",
        field: feature)
    }
  }

  /// The blob without leading axes of length 1; a vector is reduced to one axis.
  static func array(_ blob: Tensor, rank: Int?) -> Tensor {
    guard blob.shape.count == 5 else { return blob }
    let shape = blob.shape
    let isVector = shape[3] == 1 && shape[4] == 1
    let inner = isVector && rank != 3 ? [shape[2]] : Array(shape[2...])
    if shape[0] > 1 { return blob.reshaped([shape[0], shape[1]] + inner) }
    if shape[1] > 1 { return blob.reshaped([shape[1]] + inner) }
    return blob.reshaped(inner)
  }
}
