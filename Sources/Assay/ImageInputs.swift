import CoreMLModel
import CustomLayers
import ImportSupport

extension ModelSource {
  /// Converts for these inputs, words of a command line: unless the options name image inputs,
  /// array inputs that can be images become images if image files are given for them.
  package func convert(
    _ options: ConversionOptions, for words: [String], customLayers: CustomLayerRegistry
  ) throws -> ConversionResult {
    var options = options
    let images = InputList.images(among: words)
    guard options.imageInputs.isEmpty, !images.isEmpty else {
      return try convert(options, customLayers: customLayers)
    }
    var plain = options
    plain.preprocessing = ImagePreprocessing()
    plain.onVisit = nil
    let inputs = try convert(plain, customLayers: customLayers).model.description?.input ?? []
    let named = FeatureNames.input.meant(by: Array(images), among: inputs.map(\.name))
    options.imageInputs = inputs.filter(\.canBeImage).map(\.name).filter { name in
      named.contains(name) || named.contains(nil)
    }
    var result = try convert(options, customLayers: customLayers)
    for name in options.imageInputs where !result.model.preparesPixels(of: name) {
      let colors =
        switch result.model.imageType(of: name)?.colorSpace {
        case .bgr: "blue first"
        case .rgb: "red first"
        default: "gray"
        }
      result.notes.append(
        "'\(name)' receives pixels from 0 to 255, \(colors); \(setting: "preset"), \(setting: "color"), \(setting: "imageScale") and "
          + "\(setting: "imageMean") set the preprocessing that was used in training")
    }
    return result
  }
}

extension FeatureDescription {
  /// An array of one or three planes.
  fileprivate var canBeImage: Bool {
    guard case .multiArray(let array)? = type?.kind else { return false }
    let shape =
      array.shape.count == 4 && array.shape[0] == 1 ? array.shape.dropFirst() : array.shape[...]
    return shape.count == 3 && [1, 3].contains(shape.first)
      && shape.dropFirst().allSatisfy { $0 > 1 }
  }
}
