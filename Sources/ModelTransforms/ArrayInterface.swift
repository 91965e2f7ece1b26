import CoreMLModel
import TensorCore

extension Model {
  /// The model with the image `name` changed to an array of its planes. The preprocessing of its
  /// pixels is removed: the first layer receives the array as is.
  ///
  /// - Throws: `.mismatch` if there is no such feature, or it is neither image nor array.
  package func settingArray(_ name: String) throws -> Model {
    try editingFeature(name) { position in
      guard case .image(let image)? = position.feature.type?.kind else {
        _ = try position.feature.arrayType()
        return
      }
      let item = [image.colorSpace.channelCount, image.height, image.width]
      var leading: [Int] = []
      if let network = position.network, position.isInput, network.arrayInputShapeMapping == .exact
      {
        leading = network.imageInputShapeMapping == .rank4 ? [1] : [1, 1]
      }
      var array = ArrayFeatureType(shape: leading + item, dataType: .double)
      let fixed = (leading + [item[0]]).map { SizeRange($0, $0) }
      switch image.flexibility {
      case .enumerated(let sizes)?:
        array.flexibility = .enumerated(sizes.map { leading + [item[0], $0.height, $0.width] })
      case .range(let width, let height)?:
        array.flexibility = .range(
          fixed + [
            height ?? SizeRange(image.height, image.height),
            width ?? SizeRange(image.width, image.width),
          ])
      case nil: break
      }
      position.feature.setKind(.multiArray(array))
      position.dropPreprocessing()
    }
  }
}

extension FeaturePath {
  /// Removes the preprocessing of the feature's pixels.
  fileprivate mutating func dropPreprocessing() {
    guard isInput, let steps = network?.preprocessing else { return }
    network?.preprocessing = steps.filter { step in
      // A step without a name belongs to the first image.
      step.featureName != feature.name && !(step.featureName.isEmpty && steps.count == 1)
    }
  }
}
