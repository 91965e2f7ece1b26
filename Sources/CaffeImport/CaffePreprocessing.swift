import ImportSupport
import TensorCore

/// Image preprocessing that the network specifies and the user does not override.
enum CaffePreprocessing {
  /// The options with a layer's `transform_param` as the preprocessing of its image: y = scale · (x
  /// − mean), with channels in the order blue, green, red.
  static func completed(
    _ options: ConversionOptions, _ network: ImportedNetwork, _ inputs: [CaffeInput],
    notes: inout [String]
  ) throws -> ConversionOptions {
    var options = options
    for (name, input) in zip(options.inputNames, inputs) {
      guard options.imageInputs.contains(name), input.layer.message.has("transform_param"),
        input.layer.tops.first == input.blob, !options.preprocessing.isPrepared(name)
      else { continue }
      let parameters = input.layer.parameters("transform_param")
      let scale = try parameters.double("scale")
      let means = try parameters.doubles("mean_value")
      var text: [String] = []
      if scale != 1 {
        options.preprocessing.scale.named[name] = scale
        text.append("scale \(Float(scale))")
      }
      let channels = input.featureShape.first ?? 0
      if !means.isEmpty {
        guard means.count == 1 || means.count == channels else {
          throw parameters.error("mean_value", "\(means.count) values for \(channels) channels")
        }
        // Caffe's means are blue, green, red, and apply before the scale.
        options.preprocessing.mean.named[name] = means.reversed().map { $0 * scale }
        text.append("mean \(means.map { "\(Float($0))" }.joined(separator: ", "))")
      }
      if channels == 3, options.preprocessing.color[name] == nil {
        options.preprocessing.color.named[name] = .bgr
        text.append("channels in the order blue, green, red")
      }
      if !text.isEmpty {
        notes.append(
          "transform_param of layer '\(input.layer.name)' sets the preprocessing of image input '\(name)': "
            + text.joined(separator: "; "))
      }
      if parameters.has("mean_file") {
        notes.append(
          "layer '\(input.layer.name)' subtracts the mean image \(try parameters.string("mean_file")): "
            + "give it with \(setting: "imageMean") \(name.shellWord)=FILE")
      }
    }
    return options
  }
}
