import ByteFormats
import Formulas
import TensorCore

extension PythonTensors {
  /// The result of a Keras layer in a source.
  func call(
    _ object: PythonObject, _ positional: [PythonSymbol], _ keywords: PythonMachine.Keywords,
    _ machine: PythonMachine
  ) throws -> PythonSymbol {
    let className = object.layerClass ?? ""
    guard let type = KerasLayerRegistry.type(named: className) else {
      throw PythonMachine.unsupported("it calls a layer \(className)")
    }
    if className == "Embedding", let indices = positional.first?.array,
      let count = object.fields["input_dim"]?.int, let size = object.fields["output_dim"]?.int
    {
      let stored = try machine.layers?.stored?.layers[object.number]?.first?.values().array()
      let elements =
        try stored?.map { Double($0) }
        ?? [Double](repeating: 1, count: checkedProduct([count, size], limit: 1 << 24))
      return try machine.rows(of: FormulaArray([count, size], elements), at: indices)
    }
    guard !(positional + keywords.map(\.value)).contains(where: \.holdsArray) else {
      throw PythonMachine.unsupported(
        "its layer \(className) gets an array that does not depend on the input")
    }
    var (arguments, inputs, _) = try arguments(
      positional, keywords.filter { $0.name != "mask" }, machine)
    if case .expression(let given)? = keywords.first(where: { $0.name == "mask" })?.value {
      inputs[0].mask = try mask(given, machine)
    }
    var layer = call.with(
      name: try name(ObjectWeights.groupName(className)), inputs: inputs,
      weights: machine.layers?.stored?.layers[object.number] ?? [])
    layer.arguments = arguments
    let settings = LayerConfiguration(
      name: layer.name, className: className, fields: object.fields, version: call.version)
    let outputs = try layer.outputs(of: settings.layer(type), settings, into: &network)
    guard !outputs.isEmpty, outputs.allSatisfy({ $0.sizes == nil }) else {
      throw PythonMachine.unsupported("its layer \(className) has \(outputs.count) outputs")
    }
    for case .expression(let argument) in positional + keywords.map(\.value)
    where call.version.removesMasks(className) {
      if case .name(let name) = argument.node { tensors[name]?.mask = nil }
    }
    let text = PythonText.call(className, positional, keywords)
    let symbols = outputs.enumerated().map { index, output -> PythonSymbol in
      let text = outputs.count == 1 ? text : "\(text)[\(index)]"
      return .expression(add(output, text, machine, mask: output.mask))
    }
    return symbols.count == 1 ? symbols[0] : .tuple(symbols)
  }

  /// Functions of a tensor and constants that become layers with weights; nil for other functions.
  func weighted(
    _ path: String, _ positional: [PythonSymbol], _ keywords: PythonMachine.Keywords,
    _ machine: PythonMachine
  ) throws -> PythonSymbol? {
    func value(_ index: Int, _ names: String...) -> PythonSymbol? {
      keywords.first { names.contains($0.name) }?.value
        ?? (index < positional.count ? positional[index] : nil)
    }
    func array(_ symbol: PythonSymbol?) -> FormulaArray? {
      switch symbol {
      case .array(let array): array
      case .sizes: symbol?.array
      default: nil
      }
    }
    func layer(
      _ className: String, _ x: PythonSymbol, _ fields: KeyValuePairs<String, JSONValue>,
      _ weight: String, _ array: FormulaArray
    ) throws -> PythonSymbol {
      var inputs: [KerasTensor] = []
      _ = try argument(x, &inputs, machine)
      let layer = call.with(
        name: try self.name(className.lowercased()), inputs: inputs, weights: [])
      let values = FloatValues(array.elements.map { Float($0) }).shaped(array.shape)
      let outputs = try OperationCall(layer, fields: JSONObject()).convert(
        inputs, as: className, fields, weights: [(weight, values)], into: &network)
      return .expression(add(outputs[0], PythonText.call(path, positional, keywords), machine))
    }
    func dense(_ x: PythonSymbol, _ matrix: FormulaArray) throws -> PythonSymbol {
      try layer(
        "Dense", x,
        ["units": .int(matrix.shape[1]), "use_bias": .bool(false), "activation": .null],
        "kernel", matrix)
    }
    let name = path.split(separator: ".").last.map(String.init) ?? path
    switch name {
    case "matmul", "dot", "tensordot", "einsum":
      let known = ["a", "b", "x", "y", "x1", "x2", "axes", "transpose_b", "name"]
      let isNamed = name == "einsum"
      guard keywords.allSatisfy({ known.contains($0.name) }),
        let a = value(isNamed ? 1 : 0, "a", "x", "x1"),
        let b = value(isNamed ? 2 : 1, "b", "y", "x2"),
        positional.count <= (isNamed || name == "tensordot" ? 3 : 2)
      else { return nil }
      let ranks = try [a, b].map { operand -> Int? in
        guard case .expression(let expression) = operand else { return array(operand)?.shape.count }
        return try tensor(machine.settled(expression), machine).rank
      }
      guard let first = ranks[0], let second = ranks[1],
        let (matrix, isFirst) = array(a).map({ ($0, true) }) ?? array(b).map({ ($0, false) }),
        let letters = try ProductLetters(
          isNamed ? positional.first?.string : nil, name, first, second,
          axes: value(2, "axes"), isRotated: value(9, "transpose_b").map(machine.truth) ?? false)
      else { return nil }
      return try product(
        isFirst ? b : a, matrix, isFirst ? letters.transposed : letters, machine, dense)
    case "conv1d", "conv2d", "conv", "depthwise_conv2d":
      guard let x = value(0, "x", "input", "inputs"), case .expression = x,
        let kernel = array(value(1, "kernel", "filter", "filters", "depthwise_kernel")),
        kernel.shape.count == 3 || kernel.shape.count == 4, !isChannelsFirst
      else { return nil }
      let isDepthwise = name.hasPrefix("depthwise")
      guard
        value(4, "data_format").map({
          $0.isNone || ["NHWC", "NWC", "channels_last"].contains($0.string)
        }) ?? true, !isDepthwise || positional.count <= 4,
        let padding = (value(3, "padding") ?? .string("valid")).string?.lowercased(),
        ["valid", "same"].contains(padding)
      else { throw PythonMachine.unsupported("it calls \(path) with unknown arguments") }
      let places = kernel.shape.count - 2
      func steps(_ symbol: PythonSymbol?) throws -> JSONValue {
        guard let symbol, !symbol.isNone else { return .int(1) }
        if let step = symbol.int { return .int(step) }
        var steps = (symbol.elements ?? []).compactMap(\.int)
        if steps.count == places + 2, steps[0] == 1, steps.last == 1 {
          steps = Array(steps[1...places])
        }
        guard steps.count == places else {
          throw PythonMachine.unsupported("it calls \(path) with unknown arguments")
        }
        return .array(steps.map { .int($0) })
      }
      let fields: KeyValuePairs<String, JSONValue> = [
        (isDepthwise ? "depth_multiplier" : "filters"): .int(kernel.shape[places + 1]),
        "kernel_size": .array(kernel.shape.prefix(places).map { .int($0) }),
        "strides": try steps(value(2, "strides", "stride")), "padding": .string(padding),
        "dilation_rate": try steps(value(5, "dilation_rate", "dilations")),
        "data_format": .string("channels_last"), "use_bias": .bool(false), "activation": .null,
        "groups": .int(1),
      ]
      return try layer(
        isDepthwise ? "DepthwiseConv2D" : "Conv\(places)D", x, fields,
        isDepthwise ? "depthwise_kernel" : "kernel", kernel)
    case "gather", "embedding_lookup", "take":
      guard let table = array(value(0, "params", "reference", "x")), table.shape.count == 2,
        let indices = value(1, "indices", "ids"), case .expression = indices
      else { return nil }
      let axis = value(2, "axis")
      guard axis?.int == 0 || axis == nil && name != "take" else { return nil }
      return try layer(
        "Embedding", indices,
        ["input_dim": .int(table.shape[0]), "output_dim": .int(table.shape[1])], "embeddings",
        table)
    default: return nil
    }
  }
}
