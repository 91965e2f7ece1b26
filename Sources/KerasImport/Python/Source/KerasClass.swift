import ByteFormats
import TensorCore

/// Keras's classes by the names that source files use.
enum KerasClass {
  private static let others: [String: String] = [
    "Module": "Layer", "MaxPool1D": "MaxPooling1D", "MaxPool2D": "MaxPooling2D",
    "AvgPool1D": "AveragePooling1D", "AvgPool2D": "AveragePooling2D",
    "GlobalAvgPool1D": "GlobalAveragePooling1D", "GlobalAvgPool2D": "GlobalAveragePooling2D",
    "GlobalMaxPool1D": "GlobalMaxPooling1D", "GlobalMaxPool2D": "GlobalMaxPooling2D",
    "Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "Conv2DTransposed": "Conv2DTranspose",
  ]

  /// The layer class at a path such as `keras.layers.Dense`; `Layer` and `Model` are the base
  /// classes.
  static func name(_ path: String) -> String? {
    let parts = path.split(separator: ".").map(String.init)
    guard let first = parts.first, let last = parts.last,
      first == "keras" || path == "tf.Module"
    else { return nil }
    let name = others[last] ?? last
    if ["Layer", "Model", "Sequential"].contains(name) { return name }
    guard parts.contains("layers"),
      positional[name] != nil || KerasLayerRegistry.kerasNames.contains(name)
    else { return nil }
    return name
  }

  /// The fields of a class from its arguments, with Keras's defaults.
  static func fields(
    _ className: String, _ values: [JSONValue], _ named: [(name: String, value: JSONValue)]
  ) throws -> JSONObject {
    let parameters = positional[className] ?? []
    guard values.count <= parameters.count else {
      throw PythonMachine.unsupported("\(className) gets \(values.count) arguments without names")
    }
    var fields = JSONObject()
    for (parameter, value) in zip(parameters, values) { fields[parameter.name] = value }
    for (name, value) in named { fields[name] = value }
    for parameter in parameters where fields[parameter.name] == nil {
      if let standard = parameter.standard { fields[parameter.name] = standard }
    }
    return fields
  }

  private static let positional: [String: [(name: String, standard: JSONValue?)]] = {
    var table: [String: [(name: String, standard: JSONValue?)]] = [:]
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: "|").map { $0.split(separator: " ") }
      guard let names = parts.first else { continue }
      let parameters = (parts.count > 1 ? parts[1] : []).map { text in
        let halves = text.split(separator: "=", maxSplits: 1)
        let standard = halves.count > 1 ? String(halves[1]) : nil
        return (
          name: String(halves[0]),
          standard: standard.map { (try? JSONValue(parsing: Array($0.utf8))) ?? .string($0) }
        )
      }
      for name in names { table[String(name)] = parameters }
    }
    return table
  }()

  /// Classes | arguments in order, as far as all versions of Keras agree.
  private static let lines = """
    Dense | units activation use_bias=true
    Conv1D Conv2D Conv3D | filters kernel_size strides=1 padding=valid
    Conv2DTranspose Conv1DTranspose | filters kernel_size strides=1 padding=valid
    DepthwiseConv2D DepthwiseConv1D | kernel_size strides=1 padding=valid depth_multiplier=1
    SeparableConv1D SeparableConv2D | filters kernel_size strides=1 padding=valid
    BatchNormalization | axis=-1 momentum=0.99 epsilon=0.001 center=true scale=true
    LayerNormalization | axis=-1 epsilon=0.001 center=true scale=true
    GroupNormalization | groups=32 axis=-1 epsilon=0.001 center=true scale=true
    UnitNormalization | axis=-1
    Activation | activation
    ReLU | max_value negative_slope=0 threshold=0
    PReLU |
    ELU | alpha=1
    LeakyReLU | alpha
    Softmax | axis=-1
    Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianDropout GaussianNoise | rate
    MaxPooling1D AveragePooling1D | pool_size=2 strides padding=valid
    MaxPooling2D AveragePooling2D | pool_size=[2,2] strides padding=valid
    GlobalAveragePooling1D GlobalMaxPooling1D GlobalAveragePooling2D GlobalMaxPooling2D |
    ZeroPadding1D | padding=1
    ZeroPadding2D | padding=[1,1]
    Cropping1D | cropping=[1,1]
    Cropping2D | cropping=[[0,0],[0,0]]
    UpSampling1D | size=2
    UpSampling2D | size=[2,2]
    Flatten |
    Reshape | target_shape
    Permute | dims
    RepeatVector | n
    Concatenate | axis=-1
    Add Subtract Multiply Average Maximum Minimum |
    Dot | axes normalize=false
    Embedding | input_dim output_dim
    LSTM | units activation=tanh recurrent_activation=sigmoid use_bias=true
    GRU | units activation=tanh recurrent_activation=sigmoid use_bias=true reset_after=true
    SimpleRNN | units activation=tanh use_bias=true
    Bidirectional TimeDistributed | layer
    Conv3DTranspose | filters kernel_size strides=1 padding=valid
    MaxPooling3D AveragePooling3D | pool_size=[2,2,2] strides padding=valid
    GlobalAveragePooling3D GlobalMaxPooling3D |
    MultiHeadAttention | num_heads key_dim value_dim dropout=0 use_bias=true
    Rescaling | scale offset=0
    Masking | mask_value=0
    Lambda InputLayer |
    ThresholdedReLU | theta=1
    ActivityRegularization |
    ZeroPadding3D | padding=[1,1,1]
    Cropping3D | cropping=[[0,0],[0,0],[0,0]]
    UpSampling3D | size=[2,2,2]
    ConvLSTM2D | filters kernel_size strides=1 padding=valid
    Attention AdditiveAttention |
    Resizing | height width interpolation=bilinear
    """
}
