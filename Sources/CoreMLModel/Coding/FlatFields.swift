import TensorCore

/// A field of a message by its path, such as `convolution.kernelSize`, with values printed as in
/// protobuf's text format.
package struct FlatField: Sendable, Equatable {
  package var path: String
  package var values: [String]
}

extension Model {
  /// All fields of the model that are set, in the order of the specification. Fields of a repeated
  /// message follow one another under the same path.
  func flatFields() throws -> [FlatField] {
    let text = try withUnpacked { message in
      var text = ProtobufText()
      text.append(message)
      return text.text
    }
    var fields: [FlatField] = []
    var positions: [String: Int] = [:]
    var path: [Substring] = []
    func add(_ name: String, _ value: String?) {
      if let position = positions[name] {
        if let value { fields[position].values.append(value) }
        return
      }
      positions[name] = fields.count
      fields.append(FlatField(path: name, values: value.map { [$0] } ?? []))
    }
    for line in text.split(separator: "\n") {
      let content = line.drop { $0 == " " }
      if content == "}" {
        path.removeLast()
      } else if content.hasSuffix(" {") {
        path.append(content.dropLast(2))
        add(path.joined(separator: "."), nil)
      } else if let colon = content.firstIndex(of: ":") {
        add(
          (path + [content[..<colon]]).joined(separator: "."),
          String(content[content.index(colon, offsetBy: 2)...]))
      }
    }
    return fields
  }
}

extension NeuralNetworkLayer {
  /// The fields of the parameters, without weights and names.
  package func flatFields() throws -> [FlatField] {
    var bare = try withoutWeights()
    if bare.parameters is OpaqueLayer { return [] }
    bare.name = ""
    bare.input = []
    bare.output = []
    let model = Model().with(\.description, nil)
      .with(\.type, .neuralNetwork(NeuralNetwork().with(\.layers, [bare])))
    return try model.flatFields(below: "neuralNetwork.layers.")
  }
}

extension NeuralNetworkLayer {
  /// The layer with empty weights, and without fields missing from the schema.
  func withoutWeights() throws -> NeuralNetworkLayer {
    var bare = self
    bare.unknownFields = UnknownFields()
    if var activation = bare.parameters as? Activation {
      activation.function = activation.function?.with(weights: [nil, nil])
      bare.parameters = activation
    }
    try bare.editWeights { _, weights in
      let isUpdatable = weights.isUpdatable
      weights = Weights()
      weights.isUpdatable = isUpdatable
    }
    return bare
  }
}

extension FeatureDescription {
  package func flatFields() throws -> [FlatField] {
    var model = Model()
    model.description?.input = [self]
    return try model.flatFields(below: "description.input.")
  }
}

extension Model {
  fileprivate func flatFields(below prefix: String) throws -> [FlatField] {
    try flatFields().filter { $0.path.hasPrefix(prefix) }.map {
      FlatField(path: String($0.path.dropFirst(prefix.count)), values: $0.values)
    }
  }
}
