import CoreMLModel
import ModelTransforms

/// Names of inputs and outputs.
package enum FeatureNames: String, Sendable {
  case input, output

  /// `input1`, `input2` and so on, as coremltools 4.1 names a Keras model's features.
  package func numbered(_ count: Int) -> [String] { (0..<count).map { "\(rawValue)\($0 + 1)" } }

  /// The feature that a user's name refers to: by its name, by its identifier, or by its position,
  /// as in `input2`.
  package func meant(by name: String, among features: [String]) -> String? {
    if features.contains(name) { return name }
    let identifier = MILProgram.identifier(name)
    if features.contains(identifier) { return identifier }
    return zip(numbered(features.count), features).first { $0.0 == name }?.1
  }

  /// Matches the array names of a file to features, each used once; other names stay unchanged.
  package func meant(by names: [String?], among features: [String]) -> [String?] {
    var taken = Set(names.compactMap { $0 }).intersection(features)
    return names.map { name in
      guard let name, let feature = meant(by: name, among: features),
        taken.insert(feature).inserted
      else { return name }
      return feature
    }
  }
}

extension ConversionOptions {
  /// The options with a name for every feature: the user's, or else the source's, numbered if
  /// several features share it, as Keras numbers the outputs of a layer. Options that refer to a
  /// feature by position refer to it by name in the result.
  ///
  /// - Parameter notes: receives the names that differ from the source's.
  package func naming(
    inputs: [String], outputs: [String], notes: inout [String]
  ) -> ConversionOptions {
    var taken = Set(inputNames + outputNames)
    var changes: [String] = []
    func names(_ own: [String], _ given: [String], _ kind: FeatureNames) -> [String] {
      given
        + zip(own, kind.numbered(own.count)).dropFirst(given.count).map { name, numbered in
          let plain = name.isEmpty ? numbered : name
          var unique = plain
          var number = 1
          while !taken.insert(unique).inserted {
            unique = "\(plain)_\(number)"
            number += 1
          }
          if unique != name { changes.append("\(numbered) is '\(unique)'") }
          return unique
        }
    }
    var options = self
    options.replacedNames = zip(replacedNames, [inputs, outputs]).map { $0.isEmpty ? $1 : $0 }
    options.inputNames = names(inputs, inputNames, .input)
    options.outputNames = names(outputs, outputNames, .output)
    if !changes.isEmpty { notes.append("names of features are unique: \(firstNames(changes))") }
    let (ins, outs) = (options.inputNames, options.outputNames)
    func input(_ name: String) -> String { FeatureNames.input.meant(by: name, among: ins) ?? name }
    func output(_ name: String) -> String {
      FeatureNames.output.meant(by: name, among: outs) ?? name
    }
    options.inputShapes = inputShapes.renamingKeys(input)
    options.imageInputs = imageInputs.map(input)
    options.imageOutputs = imageOutputs.map(output)
    options.preprocessing = preprocessing.renamingFeatures {
      outs.contains($0) ? $0 : output(input($0))
    }
    options.metadata.descriptions = metadata.descriptions.renamingKeys {
      outs.contains($0) ? $0 : output(input($0))
    }
    options.classifier?.probabilitiesOutput = classifier?.probabilitiesOutput.map(output)
    return options
  }
}

extension ImagePreprocessing {
  /// The same preprocessing with renamed features.
  package func renamingFeatures(_ rename: (String) -> String) -> ImagePreprocessing {
    var result = self
    result.color.named = color.named.renamingKeys(rename)
    result.scale.named = scale.named.renamingKeys(rename)
    result.redBias.named = redBias.named.renamingKeys(rename)
    result.greenBias.named = greenBias.named.renamingKeys(rename)
    result.blueBias.named = blueBias.named.renamingKeys(rename)
    result.grayBias.named = grayBias.named.renamingKeys(rename)
    result.mean.named = mean.named.renamingKeys(rename)
    result.std.named = std.named.renamingKeys(rename)
    result.meanImage.named = meanImage.named.renamingKeys(rename)
    return result
  }
}

extension Dictionary where Key == String {
  package func renamingKeys(_ rename: (String) -> String) -> Self {
    Dictionary(map { (rename($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
