import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// A network of the reference corpus, converted from a source model, with inputs and the source
/// framework's outputs.
struct CorpusCase: CustomTestStringConvertible, Sendable {
  enum Framework: String, CaseIterable { case keras, keras1, caffe }

  let framework: Framework
  let folder: String

  var testDescription: String {
    framework.rawValue + "/" + (folder.split(separator: "/").last ?? "")
  }

  /// The cases whose conversion computes the same as the source framework.
  static func all(in folder: String) -> [CorpusCase] {
    Framework.allCases.flatMap { all($0, in: folder) }
  }

  static func all(_ framework: Framework, in folder: String) -> [CorpusCase] {
    let corpus = "\(folder)/\(framework.rawValue)"
    return fileNames(in: corpus).map { CorpusCase(framework: framework, folder: "\(corpus)/\($0)") }
      .filter { item in
        let agrees = item.meta["reference_agrees_with_source"] as? [Any]
        return agrees?.first as? String == "ok"
          && ["coremltools.mlmodel", "inputs.npz", "expected.npz"].allSatisfy {
            fileExists("\(item.folder)/\($0)")
          }
      }
  }

  private var meta: [String: Any] {
    guard
      let data = FileManager.default.contents(atPath: folder + "/meta.json"),
      let object = try? JSONSerialization.jsonObject(with: data)
    else { return [:] }
    return object as? [String: Any] ?? [:]
  }

  /// 1e-4, or 1e-2 if the weights were rounded to half precision.
  var tolerance: Double {
    let options = meta["convert_kwargs"] as? [String: Any]
    return options?["model_precision"] as? String == "float16" ? 1e-2 : 1e-4
  }

  func model() throws -> Model { try Model(contentsOf: folder + "/coremltools.mlmodel") }

  /// The inputs as `[Seq, Batch, C, H, W]`.
  func inputs(_ model: Model) throws -> [String: Tensor] {
    var inputs: [String: Tensor] = [:]
    for array in try ArraySet.read(folder + "/inputs.npz").arrays {
      let name = array.name ?? ""
      let feature = model.description?.input.first { $0.name == name }
      inputs[name] = try canonical(array.tensor, feature)
    }
    return inputs
  }

  /// The expected arrays, batch first, with channels as in the framework.
  func expected() throws -> [NamedArray] { try ArraySet.read(folder + "/expected.npz").arrays }

  /// A blob in the framework's axis order, without axes of length 1.
  func sourceLayout(_ blob: Tensor) -> Tensor {
    blob.transposed(framework == .caffe ? [0, 1, 2, 3, 4] : [1, 0, 3, 4, 2])
  }

  private func canonical(_ array: Tensor, _ feature: FeatureDescription?) throws -> Tensor {
    let shape = array.shape
    if case .image(let image) = feature?.type?.kind {
      let planes = array.transposed([0, 3, 1, 2])
      let blob = planes.reshaped([1] + planes.shape)
      guard image.colorSpace == .bgr else { return blob }
      return ReferenceTensor(shape: blob.shape) { p in
        Double(array.elements[((p.batch * shape[1] + p.y) * shape[2] + p.x) * 3 + 2 - p.channel])
      }.tensor
    }
    var declared: [Int] = []
    if case .multiArray(let type) = feature?.type?.kind { declared = type.shape }
    switch (framework, shape.count) {
    // The indices of an embedding, one per step.
    case (_, 2) where declared == [1]:
      return array.transposed([1, 0]).reshaped([shape[1], shape[0], 1, 1, 1])
    case (_, 2): return array.reshaped([1] + shape + [1, 1])
    case (.caffe, 3) where declared.count == 1: return array.reshaped(shape + [1, 1])
    case (.caffe, 3): return array.reshaped([1, 1] + shape)
    case (.caffe, 4): return array.reshaped([1] + shape)
    case (.caffe, 1): return array.reshaped([1, 1] + shape + [1, 1])
    case (_, 3):
      return array.transposed([1, 0, 2]).reshaped([shape[1], shape[0], shape[2], 1, 1])
    case (_, 4):
      let planes = array.transposed([0, 3, 1, 2])
      return planes.reshaped([1] + planes.shape)
    case (.caffe, 5): return array
    case (_, 5): return array.transposed([1, 0, 4, 2, 3])
    default:
      throw ModelError(.unsupported, "an array of shape \(shape)", file: folder)
    }
  }
}
