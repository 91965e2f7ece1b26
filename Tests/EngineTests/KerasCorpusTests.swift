import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Networks with the answer that Keras gave, as the reference converter wrote them.
@Suite struct KerasCorpusTests {
  @Test(.shared("corpus/keras")) func predictionsAgreeWithKeras() throws {
    let folder = Shared.path("corpus/keras")
    var agreed = 0
    var unsupported = 0
    for name in fileNames(in: folder) {
      let path = "\(folder)/\(name)"
      guard fileExists("\(path)/coremltools.mlmodel"),
        let meta = try? String(contentsOfFile: "\(path)/meta.json", encoding: .utf8),
        meta.contains("\"reference_agrees_with_source\": [\n  \"ok\""),
        let inputs = try? ArraySet.read("\(path)/inputs.npz"),
        let expected = try? ArraySet.read("\(path)/expected.npz")
      else { continue }
      do {
        let model = try Model(contentsOf: "\(path)/coremltools.mlmodel")
        try check(model, inputs, expected, name)
        agreed += 1
      } catch let error as ModelError where error.code == .unsupported {
        unsupported += 1
        if !"\(error)".contains("custom layer") { Issue.record("\(name): \(error)") }
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
    print("\(agreed) networks of the corpus run, \(unsupported) have layers that do not")
    #expect(agreed > 100)
  }

  private func check(
    _ model: Model, _ inputs: ArraySet, _ expected: ArraySet, _ name: String
  ) throws {
    var options = CompileOptions()
    options.threads = 2
    var values: [String: Tensor] = [:]
    for feature in model.description?.input ?? [] {
      guard let array = inputs[feature.name]?.tensor else { continue }
      let tensor = canonical(array, feature, model)
      values[feature.name] = tensor
      options.inputShapes[feature.name] = tensor.shape
    }
    let network = try CompiledNetwork(model: model, options: options)
    let outputs = try network.predict(values)
    for array in expected.arrays {
      guard let output = outputs[array.name ?? ""] else {
        // A classifier's probabilities stand under the reference's own name.
        continue
      }
      let ours = framework(output, array.tensor.shape)
      guard ours.count == array.tensor.count else {
        Issue.record("\(name): \(output.shape) where Keras has \(array.tensor.shape)")
        continue
      }
      let error = zip(ours.elements, array.tensor.elements).map { abs($0 - $1) }.max() ?? 0
      let size = array.tensor.elements.map { abs($0) }.max() ?? 0
      let tolerance: Float = name.contains("half_precision") ? 2e-3 : 1e-4
      if !(error <= tolerance * max(size, 1e-3)) {
        Issue.record(
          "\(name): '\(array.name ?? "")' differs by \(error), its largest value is \(size)")
      }
    }
  }

  /// Keras' layout → `[Seq, Batch, C, H, W]`.
  private func canonical(_ array: Tensor, _ feature: FeatureDescription, _ model: Model) -> Tensor {
    let s = array.shape
    switch s.count {
    case 5: return array.transposed([1, 0, 4, 2, 3])
    case 4:
      var tensor = array.transposed([0, 3, 1, 2]).reshaped([1, s[0], s[3], s[1], s[2]])
      if case .image(let image) = feature.type?.kind, image.colorSpace == .bgr {
        let area = s[1] * s[2]
        let e = tensor.elements
        tensor = Tensor(
          shape: tensor.shape, Array(e[2 * area..<3 * area] + e[area..<2 * area] + e[..<area]))
      }
      return tensor
    case 3: return array.transposed([1, 0, 2]).reshaped([s[1], s[0], s[2], 1, 1])
    case 2:
      if case .multiArray(let type) = feature.type?.kind, type.shape == [1], s[1] > 1 {
        return array.transposed([1, 0]).reshaped([s[1], s[0], 1, 1, 1])
      }
      return array.reshaped([1, s[0], s[1], 1, 1])
    default: return array
    }
  }

  /// The inverse, for an array of the wanted rank.
  private func framework(_ tensor: Tensor, _ shape: [Int]) -> Tensor {
    switch shape.count {
    case 4: tensor.transposed([0, 1, 3, 4, 2])
    case 3: tensor.transposed([1, 0, 2, 3, 4])
    default: tensor
    }
  }
}
