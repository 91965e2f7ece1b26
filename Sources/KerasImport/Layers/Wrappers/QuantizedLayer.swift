import ByteFormats
import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

/// A layer of Keras 3 with quantized weights (int8, int4 or float8) or with LoRA's pair of
/// matrices. The inputs of an int8 layer are rounded to 127 steps per vector, those of a float8
/// layer to float8.
struct QuantizedLayer: KerasLayerSettings {
  static let classes: [SourceLayer] = []
  static let maskPolicy = MaskPolicy.decides
  /// Quantized layers store more arrays.
  static let hasKnownWeights = false

  private static let products: Set<String> = ["Dense", "EinsumDense"]
  private static let tables: Set<String> = ["Embedding", "ReversibleEmbedding"]
  private static let convolutions: Set<String> = ["Conv1D", "Conv2D", "Conv3D"]

  private let inner: ConfiguredLayer
  private let configuration: LayerConfiguration
  /// `int8`, `int4` or `float8`; nil if the layer only has LoRA.
  private let mode: String?
  private let isTable: Bool
  /// Whether it is inside TimeDistributed, where Keras multiplies by the codes without scales.
  private let isStep: Bool
  private let roundsInput: Bool
  private let epsilon: Double
  private let factor: Float

  static func applies(to fields: JSONObject) -> Bool {
    let fields = dense(in: fields) ?? fields
    return !(fields["lora_rank"] ?? .null).isNull || mode(fields) != nil
  }

  /// The configuration of a Dense layer inside TimeDistributed.
  private static func dense(in fields: JSONObject) -> JSONObject? {
    guard let layer = fields["layer"], layer["class_name"]?.string == "Dense" else { return nil }
    return layer["config"]?.object
  }

  /// `int8`, `int4/128`, or a string that contains one of them.
  private static func mode(_ fields: JSONObject) -> String? {
    guard let dtype = fields["dtype"] else { return nil }
    if let mode = dtype["config"]?["mode"]?.string { return mode }
    let isQuantized = ["Quantized", "Int4DTypePolicy", "_from_"].contains(
      where: dtype.text.contains)
    return isQuantized ? dtype.string ?? "several modes" : nil
  }

  init(_ configuration: LayerConfiguration) throws {
    var configuration = configuration
    isStep = configuration.kind == "TimeDistributed"
    // The subscript records that the field `layer` has been read.
    if isStep, configuration["layer"] != nil, let fields = Self.dense(in: configuration.fields) {
      configuration = LayerConfiguration(
        name: configuration.name, className: "Dense", fields: fields,
        version: configuration.version)
    }
    self.configuration = configuration
    let stored = Self.mode(configuration.fields)
    mode = stored.map { String($0.prefix { $0 != "/" && $0 != "_" }) }
    let quantization = configuration["quantization_config"] ?? .null
    isTable = Self.tables.contains(configuration.kind)
    let classes: Set<String> =
      switch mode {
      case "int8"?, "int4"?: Self.products.union(Self.tables)
      case "float8"?: Self.products
      case nil: Self.products.union(Self.tables).union(Self.convolutions)
      default: []
      }
    guard classes.contains(configuration.kind), !isStep || mode == nil || mode == "int8",
      mode != "int4" || configuration.fields["quantization_config"] != nil,
      let type = configuration.version.layerType(configuration.kind)
    else {
      throw configuration.unsupported(
        "dtype", "weights quantized as \(stored ?? "LoRA") are not supported in this layer",
        hint: "save the model before quantize(); Dense and EinsumDense may be int8, int4 or "
          + "float8, embeddings int8 or int4")
    }
    inner = try type.configured(configuration)
    let rounding = quantization["config"]?["activation_quantizer"]
    roundsInput =
      !isStep
      && (mode == "float8"
        || (quantization.isNull
          ? mode == "int8" || mode == "int4" && isTable : rounding?.isNull == false))
    epsilon = rounding?["config"]?["epsilon"]?.double ?? 1e-7
    if let rounding, !rounding.isNull {
      let range = rounding["config"]?["value_range"]
      try configuration.require(
        rounding["class_name"]?.string == "AbsMaxQuantizer"
          && (range?.array ?? range?["items"]?.array)?.map(\.int) == [-127, 127],
        "quantization_config", unsupported: "this rounding of the inputs is not supported")
    }
    let rank = try configuration.int("lora_rank", default: 1)
    factor = Float(try configuration.double("lora_alpha", default: Double(rank)) / Double(rank))
  }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    if call.missingWeights != nil { return try inner.convert(call, &network) }
    let values = try named(call)
    let main = isTable ? "embeddings" : "kernel"
    var weights: [String: FloatValues] = values
    for name in [main, "reverse_embeddings"] where name == main || values[name] != nil {
      if !isStep { weights[name] = try dequantized(name, values, call) }
    }
    if mode == "float8", configuration["dtype"]?.text.contains("float32") == true {
      weights["bias"] = try values["bias"]?.map(\.roundedToBFloat16)
    }
    let change = try change(main, values, weights[main], call)
    try call.require(
      mode == nil || change != nil || (configuration.fields["lora_rank"] ?? .null).isNull,
      unsupported:
        "Keras has rounded LoRA's matrices into its \(mode ?? "") weights, so that the file "
        + "does not predict what the saved model did", hint: "save the model as .h5")
    if let change, !roundsInput { weights[main] = try weights[main]?.adding(change) }
    func part(_ layer: ConfiguredLayer, _ input: KerasTensor, _ name: String) throws
      -> [KerasTensor]
    {
      let stored = layer.weights.compactMap { slot in
        weights[slot.name].map { values in
          StoredWeight(name: slot.name, storedName: slot.name, shape: values.shape) { values }
        }
      }
      var inner = call.with(name: name, inputs: [input], weights: stored)
      inner.arguments = call.arguments
      let start = network.layers.count
      let outputs = try layer.convert(inner, &network)
      if let scales = values[main + "_scale"], change == nil, mode != "float8", !isTable, !isStep,
        network.maximumVersion >= 3
      {
        let zeros = values[main + "_zero"]
        try network.editLayers(from: start) {
          try $0.editWeights { _, weights in
            try weights.store(
              bits: mode == "int4" ? 4 : 8,
              scales: zeros == nil ? scales.map { 1 / $0 }.array() : scales.array(),
              zeros: zeros?.array())
          }
        }
      }
      return outputs
    }
    let policy = inner.type.maskPolicy
    let rounds = roundsInput && (!isTable || ReversibleEmbedding.isReversed(call))
    let input = rounds ? try rounded(call, values, &network) : try call.input
    guard rounds, let change else {
      return try policy.applied(to: part(inner, input, call.name), of: call.inputs, call.version)
    }
    // LoRA's product uses unrounded inputs.
    var linear = configuration
    linear.fields["activation"] = .null
    let sums = try part(inner.type.configured(linear), input, call.name + "__rounded__")
    (linear.fields["use_bias"], linear.fields["bias_axes"]) = (.bool(false), .null)
    weights[main] = change
    let changes = try part(inner.type.configured(linear), call.input, call.name + "__lora__")
    let sum = try call.part("Add", [sums[0], changes[0]], "sum", &network)
    let result = try network.activate(ActivationFunction(configuration), sum, call)
    return policy.applied(to: [result], of: call.inputs, call.version)
  }

  /// The arrays by Keras's names; a `.keras` file only numbers them.
  private func named(_ call: LayerCall) throws -> [String: FloatValues] {
    var names = inner.weights.map(\.name)
    let main = names.first ?? ""
    if mode == "float8" {
      names += ["inputs_scale", "inputs_amax_history", main + "_scale"]
    } else if mode != nil {
      let hasGroups = call.weights.count > 4
      let reversed = names.count > 1 && isTable ? names.removeLast() : nil
      names += [main + "_scale"]
      if hasGroups || reversed == nil { names += [main + "_zero", "g_idx"] }
      if let reversed { names += [reversed, reversed + "_scale", reversed + "_zero"] }
    }
    var values: [String: FloatValues] = [:]
    for weight in call.weights {
      let name = Int(weight.name).map { $0 < names.count ? names[$0] : weight.name } ?? weight.name
      values[name] = try weight.values()
    }
    return values
  }

  private func dequantized(
    _ name: String, _ values: [String: FloatValues], _ call: LayerCall
  ) throws -> FloatValues {
    let stored = try values[name].orThrow(call.error("weight '\(name)' is missing from the file"))
    guard mode != nil else { return stored }
    let scale = try values[name + "_scale"].orThrow(
      call.error("weight '\(name)_scale' is missing from the file"))
    let scales = try scale.array()
    if mode == "float8", let scale = scales.first {
      return try stored.map { scale * max(-448, min(448, $0 / scale)).roundedToFloat8 }
    }
    try call.require(stored.shape.count >= 2, "weight '\(name)' is not a matrix")
    var codes = try stored.array()
    var shape = stored.shape
    if mode == "int4" { (codes, shape) = try unpacked(codes, shape, name, scale.shape, call) }
    let isTable = name == "embeddings"
    let columns = shape[1...].reduce(1, *)
    if let zeros = try values[name + "_zero"]?.array(), let groups = try values["g_idx"]?.array() {
      let count = scales.count / (isTable ? shape[0] : columns)
      try call.require(
        groups.count == (isTable ? columns : shape[0]) && zeros.count == scales.count
          && scales.count == count * (isTable ? shape[0] : columns)
          && groups.allSatisfy { $0 >= 0 && $0 < Float(count) },
        "the shapes of its scales and groups do not match")
      for index in codes.indices {
        let (row, column) = (index / columns, index % columns)
        let position =
          isTable ? row * count + Int(groups[column]) : Int(groups[row]) * columns + column
        codes[index] = (codes[index] - zeros[position]) * scales[position]
      }
      return FloatValues(codes).shaped(try kernelShape(shape, call))
    }
    let positions =
      try isTable || mode == "int4"
      ? codes.indices.map { isTable ? $0 / columns : $0 % columns } : outputs(shape, call)
    try call.require(
      positions.allSatisfy(scales.indices.contains), "the shape of its scales does not match")
    for index in codes.indices { codes[index] /= scales[positions[index]] }
    return FloatValues(codes).shaped(try kernelShape(shape, call))
  }

  /// Unpacks pairs of codes that share a byte, the first one in the lower half: neighbors in a row,
  /// or in a column of a reversed table.
  private func unpacked(
    _ bytes: [Float], _ stored: [Int], _ name: String, _ scales: [Int], _ call: LayerCall
  ) throws -> (codes: [Float], shape: [Int]) {
    let axis = name == "reverse_embeddings" ? 0 : 1
    let size = isTable ? try configuration.int("output_dim") : scales.last ?? 0
    try call.require(
      stored.count == 2 && stored[axis] == (size + 1) / 2, "weight '\(name)' is not packed")
    var shape = stored
    shape[axis] = size
    let codes = (0..<shape[0] * shape[1]).map { index -> Float in
      let position = [index / shape[1], index % shape[1]]
      let (row, column) =
        axis == 0 ? (position[0] / 2, position[1]) : (position[0], position[1] / 2)
      let byte = Int8(exactly: bytes[row * stored[1] + column]) ?? 0
      return Float(position[axis] % 2 == 0 ? (byte << 4) >> 4 : byte >> 4)
    }
    return (codes, shape)
  }

  /// The kernel's shape, for a file that stores a matrix: the sizes of its letters' axes in the
  /// input and in `output_shape`.
  private func kernelShape(_ shape: [Int], _ call: LayerCall) throws -> [Int] {
    guard mode == "int4", configuration.kind == "EinsumDense" else { return shape }
    let (input, kernel, output) = try equation()
    let stated = configuration["output_shape"]
    let outputs = (stated?.array ?? stated?["items"]?.array ?? [stated ?? .null]).map(\.int)
    let inputs = try call.input.shape
    let known = Dictionary(
      Array(zip(input.reversed(), inputs.reversed())) + zip(output.reversed(), outputs.reversed()),
      uniquingKeysWith: { $0 ?? $1 })
    let sizes = kernel.compactMap { known[$0] ?? nil }
    try call.require(
      sizes.count == kernel.count && sizes.allSatisfy { $0 > 0 }
        && checkedProduct(sizes) == checkedProduct(shape),
      "the shape of its kernel does not follow from its equation and output_shape")
    return sizes
  }

  /// For each kernel element, the index of its output, which determines its scale.
  private func outputs(_ shape: [Int], _ call: LayerCall) throws -> [Int] {
    let count = shape.reduce(1, *)
    guard configuration.kind == "EinsumDense" else { return (0..<count).map { $0 % shape[1] } }
    let (_, kernel, output) = try equation()
    guard kernel.count == shape.count else { throw call.error("its kernel has another shape") }
    let kept = output.filter(kernel.contains)
    var strides = [Int](repeating: 0, count: shape.count)
    var stride = 1
    for letter in kept.reversed() {
      guard let axis = kernel.firstIndex(of: letter) else { continue }
      strides[axis] = stride
      stride *= shape[axis]
    }
    return (0..<count).map { index in
      var (rest, position) = (index, 0)
      for axis in shape.indices.reversed() {
        position += rest % shape[axis] * strides[axis]
        rest /= shape[axis]
      }
      return position
    }
  }

  private func equation() throws -> (input: [Character], kernel: [Character], output: [Character]) {
    let text = try configuration.string("equation")
    let parts = text.filter { $0 != " " }.split { ",->".contains($0) }.map(Array.init)
    try configuration.require(
      parts.count == 3 && !text.contains("."), "equation",
      unsupported: "'\(text)' of quantized weights is not supported")
    return (parts[0], parts[1], parts[2])
  }

  /// The product of LoRA's two matrices.
  private func change(
    _ main: String, _ values: [String: FloatValues], _ kernel: FloatValues?, _ call: LayerCall
  ) throws -> FloatValues? {
    guard let a = values["lora_\(main)_a"], let b = values["lora_\(main)_b"], let kernel else {
      return nil
    }
    let (left, right) = (try a.array(), try b.array())
    let (rank, width) = (b.shape.first ?? 0, b.shape.last ?? 0)
    try call.require(
      rank > 0 && b.shape.count == 2 && a.shape.last == rank
        && kernel.shape == a.shape.dropLast() + [width],
      "the shapes of LoRA's matrices do not match")
    let product = (0..<left.count / rank * width).map { index -> Float in
      let (row, column) = (index / width, index % width)
      var sum: Float = 0
      for step in 0..<rank { sum += left[row * rank + step] * right[step * width + column] }
      return factor * sum
    }
    return FloatValues(product).shaped(kernel.shape)
  }

  /// round(s · x) / s with s = 127 / (max |x| + ε), over the axes that the product sums; for
  /// float8, x / s rounded to float8, times the stored s.
  private func rounded(
    _ call: LayerCall, _ values: [String: FloatValues], _ network: inout KerasWriter
  ) throws -> KerasTensor {
    guard let given = call.inputs.first else { throw call.error("it has no inputs") }
    let input = network.standard(given, for: call.name)
    if mode == "float8" {
      guard let scale = try values["inputs_scale"]?.array().first, scale > 0 else {
        throw call.error("weight 'inputs_scale' is missing from the file")
      }
      let scaled = "maximum(-448, minimum(448, x / \(scale)))"
      // Four significant bits; below 2⁻⁶, the step is that of 2⁻⁶.
      let step =
        "pow(2, maximum(floor(log(maximum(abs(\(scaled)), 0.015625)) / 0.6931471805599453), -6) - 3)"
      let formula = LayerFormula(
        try Expression(parsing: "round(\(scaled) / \(step)) * \(step) * \(scale)"), inputs: ["x"])
      return try FormulaConversion(formula: formula).convert(
        call.with(name: call.name + "__input__", inputs: [input]), into: &network)[0]
    }
    var axes: Set<Int> = [input.rank - 1]
    if configuration.kind == "EinsumDense" {
      let (letters, _, output) = try equation()
      try call.require(letters.count == input.rank, "its equation is of another number of axes")
      axes = Set(letters.indices.filter { !output.contains(letters[$0]) })
      try call.require(
        !axes.isEmpty && !axes.contains(0), unsupported: "this equation is not supported")
    }
    let sizes = input.with(network.unary(.abs, input.blob, call.name + "__sizes__"))
    let largest = network.relaid(
      try network.reduced(.max, sizes, axes, call.name + "__largest__", call), to: input.layout,
      for: call.name)
    let step = network.affine(
      largest.blob, 1 / 127, Float(epsilon) / 127, call.name + "__step__")
    let scale = network.unary(
      .inverse, step, call.name + "__scale__", epsilon: .leastNormalMagnitude)
    let codes = network.add(
      call.name + "__codes__", Round(),
      [network.product(input.blob, scale, call.name + "__scaled__")])
    return input.with(network.product(codes, step, call.name + "__input__"))
  }
}

extension FloatValues {
  fileprivate func adding(_ other: FloatValues) throws -> FloatValues {
    FloatValues(zip(try array(), try other.array()).map(+)).shaped(shape)
  }
}
