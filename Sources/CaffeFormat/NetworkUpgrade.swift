/// Upgrades networks of earlier versions of Caffe to the current format, as Caffe does when it
/// reads them: V0 (`layers { layer { … } }`, separate padding layers), V1 (`layers` with enumerated
/// types), data transformation settings inside data layers, and inputs without a layer. The importer and
/// the interpreter share it.
enum NetworkUpgrade {
  /// - Throws: `.malformed` if a network has both kinds of layers, or too few sizes.
  static func apply(to network: inout CaffeMessage, notes: inout [String]) throws {
    let old = network.messages("layers")
    if !old.isEmpty {
      try require(
        network.messages("layer").isEmpty, "the network has both 'layer' and 'layers'",
        hint: "'layers' is the syntax of Caffe before 2014; use one or the other")
      let isV0 = old.contains { $0.has("layer") }
      let layers = isV0 ? try upgradedV0(old) : old.map(upgradedV1)
      let positions = network["layers"]?.position
      network.remove("layers")
      for layer in layers { network.add(.message(layer), to: "layer", at: positions) }
      notes.append("the network uses version \(isV0 ? 0 : 1) of the format and was upgraded")
    }
    try upgradeInputs(&network)
  }

  // MARK: Inputs

  private static func upgradeInputs(_ network: inout CaffeMessage) throws {
    let names = network.strings("input")
    let shapes = network.messages("input_shape")
    let sizes = network.values("input_dim")
    guard !names.isEmpty else { return }
    defer { for field in ["input", "input_shape", "input_dim"] { network.remove(field) } }
    if shapes.isEmpty, sizes.isEmpty {
      // It is a weights file, in which inputs do not matter, or a layer provides the inputs, or the
      // user sets their sizes.
      let layers = network.messages("layer")
      let bottoms = Set(layers.flatMap { $0.strings("bottom") })
      let sources = Set(layers.flatMap { $0.has("bottom") ? [] : $0.strings("top") })
      guard names.allSatisfy({ bottoms.contains($0) && !sources.contains($0) }) else { return }
    }
    var parameters = CaffeMessage(MessageType.layer.message("input_param"))
    if shapes.isEmpty, !sizes.isEmpty {
      try require(
        sizes.count == 4 * names.count,
        "\(counted(sizes.count, "size")) for \(counted(names.count, "input"))",
        field: "input_dim", hint: "each input needs four: batch, channels, height and width")
      let type = MessageType.network.message("input_shape")
      for index in names.indices {
        var shape = CaffeMessage(type)
        shape.set("dim", Array(sizes[4 * index..<4 * index + 4]))
        parameters.add(.message(shape), to: "shape")
      }
    } else if !shapes.isEmpty {
      try require(
        shapes.count == names.count,
        "\(counted(shapes.count, "shape")) for \(counted(names.count, "input"))",
        field: "input_shape")
      for shape in shapes { parameters.add(.message(shape), to: "shape") }
    }
    var layer = CaffeMessage(MessageType.layer)
    layer.add(.string("input"), to: "name")
    layer.add(.string("Input"), to: "type")
    layer.set("top", names.map { .string($0) })
    if !parameters.fields.isEmpty { layer.add(.message(parameters), to: "input_param") }
    let layers = network.values("layer")
    network.set("layer", [.message(layer)] + layers)
  }

  // MARK: V1

  private static func upgradedV1(_ old: CaffeMessage) -> CaffeMessage {
    var old = old
    upgradeTransformation(&old)
    var layer = CaffeMessage(MessageType.layer)
    let changed: Set = [
      "type", "param", "blob_share_mode", "blobs_lr", "weight_decay", "layer",
    ]
    for field in old.fields where !changed.contains(field.name) {
      for value in field.values {
        layer.add(value, to: field.name, type: layer.type?[field.name], at: field.position)
      }
    }
    if let type = old.symbol("type"), old.has("type") {
      layer.set("type", [.string(typesOfV1[type] ?? type)])
    }
    for name in old.strings("param") {
      var specification = CaffeMessage(MessageType.layer.message("param"))
      specification.add(.string(name), to: "name")
      layer.add(.message(specification), to: "param")
    }
    return layer
  }

  /// Moves scale, mean, crop and mirror from the data layers' settings to `transform_param`.
  private static func upgradeTransformation(_ layer: inout CaffeMessage) {
    for field in ["data_param", "image_data_param", "window_data_param"] {
      guard var parameters = layer.message(field) else { continue }
      var transformation = settings("transform_param", of: layer)
      for name in ["scale", "mean_file", "crop_size", "mirror"] where parameters.has(name) {
        transformation.set(name, parameters.values(name))
        parameters.remove(name)
      }
      guard !transformation.fields.isEmpty else { continue }
      layer.set(field, [.message(parameters)])
      layer.set("transform_param", [.message(transformation)])
    }
  }

  /// The settings in a layer's field; empty if it is missing.
  private static func settings(_ field: String, of layer: CaffeMessage) -> CaffeMessage {
    layer.message(field) ?? CaffeMessage(MessageType.layer.message(field))
  }

  private static let typesOfV1: [String: String] = [
    "NONE": "", "ABSVAL": "AbsVal", "ACCURACY": "Accuracy", "ARGMAX": "ArgMax", "BNLL": "BNLL",
    "CONCAT": "Concat", "CONTRASTIVE_LOSS": "ContrastiveLoss", "CONVOLUTION": "Convolution",
    "DECONVOLUTION": "Deconvolution", "DATA": "Data", "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData", "EUCLIDEAN_LOSS": "EuclideanLoss", "ELTWISE": "Eltwise",
    "EXP": "Exp", "FLATTEN": "Flatten", "HDF5_DATA": "HDF5Data", "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss", "IM2COL": "Im2col", "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss", "INNER_PRODUCT": "InnerProduct", "LRN": "LRN",
    "MEMORY_DATA": "MemoryData", "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN", "POOLING": "Pooling", "POWER": "Power", "RELU": "ReLU", "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss", "SILENCE": "Silence",
    "SOFTMAX": "Softmax", "SOFTMAX_LOSS": "SoftmaxWithLoss", "SPLIT": "Split", "SLICE": "Slice",
    "TANH": "TanH", "WINDOW_DATA": "WindowData", "THRESHOLD": "Threshold",
  ]

  // MARK: V0

  private static func upgradedV0(_ connections: [CaffeMessage]) throws -> [CaffeMessage] {
    // The padding of a padding layer moves to the convolution or pooling layer that follows it.
    var padding: [String: (source: String, pad: [CaffeValue])] = [:]
    var layers: [CaffeMessage] = []
    for connection in connections {
      let old = connection.message("layer") ?? CaffeMessage(nil)
      if old.string("type") == "padding" {
        if let bottom = connection.strings("bottom").first,
          let top = connection.strings("top").first
        {
          padding[top] = (bottom, old.values("pad"))
        }
        continue
      }
      var layer = upgradedV0(connection, old)
      if let bottom = connection.strings("bottom").first, let pad = padding[bottom] {
        let field = old.string("type") == "pool" ? "pooling_param" : "convolution_param"
        try require(
          ["conv", "pool"].contains(old.string("type")), "a padding layer comes before it",
          layer: old.string("name"), layerClass: old.string("type"),
          hint: "only convolution and pooling layers support that")
        var parameters = settings(field, of: layer)
        parameters.set("pad", pad.pad)
        layer.set(field, [.message(parameters)])
        layer.set("bottom", [.string(pad.source)])
      }
      layers.append(layer)
    }
    return layers
  }

  private static func upgradedV0(_ connection: CaffeMessage, _ old: CaffeMessage) -> CaffeMessage {
    let type = old.string("type") ?? ""
    var layer = CaffeMessage(MessageType.layer)
    layer.set("name", old["name"]?.values ?? [])
    layer.set("type", [.string(typesOfV0[type] ?? type)])
    layer.set("bottom", connection.values("bottom"))
    layer.set("top", connection.values("top"))
    layer.set("blobs", old.values("blobs"))
    func move(_ names: KeyValuePairs<String, String>, to field: String) {
      var parameters = settings(field, of: layer)
      for (from, to) in names { if let values = old[from]?.values { parameters.set(to, values) } }
      if !parameters.fields.isEmpty { layer.set(field, [.message(parameters)]) }
    }
    if let (field, names) = settingsOfV0[type] { move(names, to: field) }
    move(
      [
        "scale": "scale", "meanfile": "mean_file", "cropsize": "crop_size", "mirror": "mirror",
      ], to: "transform_param")
    return layer
  }

  /// The current fields and names of V0's settings.
  private static let settingsOfV0: [String: (field: String, names: KeyValuePairs<String, String>)] =
    [
      "conv": (
        "convolution_param",
        [
          "num_output": "num_output", "biasterm": "bias_term", "pad": "pad",
          "kernelsize": "kernel_size", "group": "group", "stride": "stride",
        ]
      ),
      "innerproduct": (
        "inner_product_param", ["num_output": "num_output", "biasterm": "bias_term"]
      ),
      "pool": (
        "pooling_param",
        ["pool": "pool", "pad": "pad", "kernelsize": "kernel_size", "stride": "stride"]
      ),
      "lrn": (
        "lrn_param", ["local_size": "local_size", "alpha": "alpha", "beta": "beta", "k": "k"]
      ),
      "concat": ("concat_param", ["concat_dim": "concat_dim"]),
      "dropout": ("dropout_param", ["dropout_ratio": "dropout_ratio"]),
    ]

  private static let typesOfV0: [String: String] = [
    "accuracy": "Accuracy", "bnll": "BNLL", "concat": "Concat", "conv": "Convolution",
    "data": "Data", "dropout": "Dropout", "euclidean_loss": "EuclideanLoss", "flatten": "Flatten",
    "hdf5_data": "HDF5Data", "hdf5_output": "HDF5Output", "im2col": "Im2col",
    "images": "ImageData", "infogain_loss": "InfogainLoss", "innerproduct": "InnerProduct",
    "lrn": "LRN", "multinomial_logistic_loss": "MultinomialLogisticLoss", "pool": "Pooling",
    "relu": "ReLU", "sigmoid": "Sigmoid", "softmax": "Softmax",
    "softmax_loss": "SoftmaxWithLoss", "split": "Split", "tanh": "TanH",
    "window_data": "WindowData",
  ]
}
