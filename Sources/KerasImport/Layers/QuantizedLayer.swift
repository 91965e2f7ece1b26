import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// A layer of Keras 3 whose weights are whole numbers with scales, or that has LoRA's pair of matrices
/// beside its own. The inputs of an int8 layer are rounded as well, to 127 steps of each vector.
struct QuantizedLayer: KerasLayer {
  static let classes: [SourceLayer] = []
  static let maskPolicy = MaskPolicy.decides
  /// The file has more arrays than the layer without quantization.
  static let hasKnownWeights = false

  private static let supported: Set<String> = ["Dense", "EinsumDense", "Embedding"]

  private let inner: any KerasLayer
  private let configuration: LayerConfiguration
  /// `int8`, `int4`, or nil with LoRA alone.
  private let mode: String?
  private let roundsInput: Bool
  private let epsilon: Double
  private let factor: Float

  static func applies(to fields: JSONObject) -> Bool {
    !(fields["lora_rank"] ?? .null).isNull || mode(fields) != nil
  }

  /// `int8`, `int4/128`, or another text that contains it.
  private static func mode(_ fields: JSONObject) -> String? {
    guard let dtype = fields["dtype"] else { return nil }
    if let mode = dtype["config"]?["mode"]?.string { return mode }
    let isQuantized = ["Quantized", "Int4DTypePolicy", "_from_"].contains(
      where: dtype.text.contains)
    return isQuantized ? dtype.string ?? "several modes" : nil
  }

  init(_ configuration: LayerConfiguration) throws {
    self.configuration = configuration
    let stored = Self.mode(configuration.fields)
    mode = stored.map { String($0.prefix { $0 != "/" && $0 != "_" }) }
    let quantization = configuration["quantization_config"] ?? .null
    guard Self.supported.contains(configuration.kind), mode.map(["int8", "int4"].contains) ?? true,
      mode != "int4"
        || configuration.fields["quantization_config"] != nil
          && configuration.kind != "EinsumDense",
      let type = KerasLayerRegistry.type(named: configuration.kind)
    else {
      throw configuration.unsupported(
        "dtype", "weights quantized as \(stored ?? "LoRA") are not supported in this layer",
        hint: "save the model before quantize(); Dense, EinsumDense and Embedding may be int8, "
          + "Dense and Embedding int4")
    }
    inner = try type.init(configuration)
    let rounding = quantization["config"]?["activation_quantizer"]
    roundsInput =
      configuration.kind != "Embedding"
      && (quantization.isNull ? mode == "int8" : rounding?.isNull == false)
    epsilon = rounding?["config"]?["epsilon"]?.double ?? 1e-7
    if let rounding, !rounding.isNull {
      let range = rounding["config"]?["value_range"]
      try configuration.require(
        mode == "int8" && rounding["class_name"]?.string == "AbsMaxQuantizer"
          && (range?.array ?? range?["items"]?.array)?.map(\.int) == [-127, 127],
        "quantization_config", unsupported: "this rounding of the inputs is not supported")
    }
    let rank = try configuration.int("lora_rank", default: 1)
    factor = Float(try configuration.double("lora_alpha", default: Double(rank)) / Double(rank))
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    if call.missingWeights != nil { return try inner.convert(call, into: &network) }
    let values = try named(call)
    let main = configuration.kind == "Embedding" ? "embeddings" : "kernel"
    var weights: [String: FloatValues] = values
    weights[main] = try dequantized(main, values, call)
    let change = try change(main, values, weights[main], call)
    try call.require(
      mode == nil || change != nil || (configuration.fields["lora_rank"] ?? .null).isNull,
      unsupported:
        "Keras has rounded LoRA's matrices into its \(mode ?? "") weights, so that the file "
        + "does not predict what the saved model did", hint: "save the model as .h5")
    if let change, !roundsInput { weights[main] = try weights[main]?.adding(change) }
    func part(_ layer: any KerasLayer, _ input: KerasTensor, _ name: String) throws -> [KerasTensor]
    {
      let stored = layer.weights.compactMap { slot in
        weights[slot.name].map { values in
          StoredWeight(name: slot.name, storedName: slot.name, shape: values.shape) { values }
        }
      }
      return try layer.convert(
        call.with(name: name, inputs: [input], weights: stored), into: &network)
    }
    let policy = type(of: inner).maskPolicy
    guard roundsInput else {
      return try policy.applied(
        to: part(inner, call.input, call.name), of: call.inputs, call.version)
    }
    let rounded = try rounded(call, &network)
    guard let change else {
      return try policy.applied(
        to: part(inner, rounded, call.name), of: call.inputs, call.version)
    }
    // LoRA's product takes the inputs as they are.
    var linear = configuration
    linear.fields["activation"] = .null
    let sums = try part(type(of: inner).init(linear), rounded, call.name + "__rounded__")
    (linear.fields["use_bias"], linear.fields["bias_axes"]) = (.bool(false), .null)
    weights[main] = change
    let changes = try part(type(of: inner).init(linear), call.input, call.name + "__lora__")
    let sum = try call.part("Add", [sums[0], changes[0]], "sum", &network)
    let result = try network.activate(ActivationFunction(configuration), sum, call)
    return policy.applied(to: [result], of: call.inputs, call.version)
  }

  /// The arrays by Keras's names: a `.keras` file numbers them.
  private func named(_ call: LayerCall) throws -> [String: FloatValues] {
    var names = inner.weights.map(\.name)
    let main = names.first ?? ""
    if mode != nil { names += [main + "_scale", main + "_zero", "g_idx"] }
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
    guard let stored = values[name] else {
      throw call.error("weight '\(name)' is missing from the file")
    }
    guard mode != nil else { return stored }
    guard let scales = try values[name + "_scale"]?.array(), stored.shape.count >= 2 else {
      throw call.error("weight '\(name)_scale' is missing from the file")
    }
    var codes = try stored.array()
    var shape = stored.shape
    if mode == "int4", shape.count == 2 {
      shape[1] = try configuration.int("units", "output_dim")
      try call.require(
        stored.shape[1] == (shape[1] + 1) / 2, "weight '\(name)' is not packed along its last axis")
      codes = (0..<shape[0]).flatMap { row in
        (0..<shape[1]).map { column in
          // Two codes in a byte, the lower half first.
          let byte = Int8(max(-128, min(127, codes[row * stored.shape[1] + column / 2])))
          return Float(column % 2 == 0 ? (byte << 4) >> 4 : byte >> 4)
        }
      }
    }
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
        let place =
          isTable ? row * count + Int(groups[column]) : Int(groups[row]) * columns + column
        codes[index] = (codes[index] - zeros[place]) * scales[place]
      }
      return FloatValues(codes).shaped(shape)
    }
    let places = try isTable ? codes.indices.map { $0 / columns } : outputs(shape, call)
    try call.require(
      places.allSatisfy(scales.indices.contains), "the shape of its scales does not match")
    for index in codes.indices { codes[index] /= scales[places[index]] }
    return FloatValues(codes).shaped(shape)
  }

  /// For each element of a kernel, the index of its output, which has a scale of its own.
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
      var (rest, place) = (index, 0)
      for axis in shape.indices.reversed() {
        place += rest % shape[axis] * strides[axis]
        rest /= shape[axis]
      }
      return place
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

  /// LoRA's product of two matrices.
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
    let product = (0..<left.count / rank).flatMap { row in
      (0..<width).map { column in
        factor
          * (0..<rank).reduce(Float(0)) {
            $0 + left[row * rank + $1] * right[$1 * width + column]
          }
      }
    }
    return FloatValues(product).shaped(kernel.shape)
  }

  /// round(s · x) / s with s = 127 / (max |x| + ε), over the axes that the product sums.
  private func rounded(_ call: LayerCall, _ network: inout NetworkWriter) throws -> KerasTensor {
    let input = network.standard(try call.input, for: call.name)
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

extension ModelDefinition.Layer {
  /// What reads its configuration; nil for an unknown class.
  var type: (any KerasLayer.Type)? {
    if isOperation { return KerasOperationLayer.self }
    if className == "PositionalEmbedding", fields["vocab_size"] != nil {
      return TokenAndPositionEmbedding.self
    }
    let type = KerasLayerRegistry.type(named: className)
    return type != nil && QuantizedLayer.applies(to: fields) ? QuantizedLayer.self : type
  }
}
