import ByteFormats
import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension OperationTable {
  /// Functions that are layers with constant weights, and compositions of other functions.
  static let composed: [Operation] =
    formulas.map { names, parameters, text in
      Operation(names: names) { call, network in
        try call.formula(text, parameters, into: &network)
      }
    } + [
      convolution("Conv", "kernel", "conv", "convolution", "conv1d", "conv2d", "conv3d"),
      convolution(
        "DepthwiseConv", "depthwise_kernel", "depthwiseconv", "depthwiseconv2d",
        "depthwiseconv2dnative"),
      convolution("SeparableConv", "depthwise_kernel", "separableconv", "separableconv2d"),
      Operation("batchnorm", "batchnormalization") { call, input, network in
        var weights: [(String, FloatValues)] = []
        let mean = try call.stored(1, "mean")
        let variance = try call.stored(2, "variance")
        guard let mean, let variance else { throw call.layer.error("it has no mean or variance") }
        let gamma = try call.stored(4, "scale")
        let beta = try call.stored(3, "offset")
        if let gamma { weights.append(("gamma", gamma)) }
        if let beta { weights.append(("beta", beta)) }
        weights += [("moving_mean", mean), ("moving_variance", variance)]
        return try call.convert(
          [input], as: "BatchNormalization",
          [
            "axis": .int(call.int(nil, "axis", default: -1)),
            "epsilon": .double(
              call.double(
                call.layer.version.isAtLeast(3, 0) ? nil : 5, "epsilon", "variance_epsilon",
                default: 1e-3)), "scale": .bool(gamma != nil), "center": .bool(beta != nil),
          ], weights: weights.map { ($0.0, $0.1.shaped([$0.1.count])) }, into: &network)
      },
      Operation("dotproductattention") { call, network in
        // Each input is [steps, heads, size].
        let inputs = try (0..<3).map { index -> KerasTensor in
          guard
            case .tensor(let tensor) = try call.operand(index, ["query", "key", "value"][index]),
            tensor.rank == 4
          else { throw call.layer.unsupported("its inputs are not (batch, steps, heads, size)") }
          return tensor
        }
        for name in ["bias", "mask", "attn_logits_soft_cap"] {
          try call.layer.require(
            call.argument(nil, name) == nil, unsupported: "\(name) is not supported")
        }
        let sizes = try call.layer.known(inputs[0].shape.dropFirst(), of: inputs[0])
        try call.layer.require(
          inputs.allSatisfy { $0.shape[2] == sizes[1] },
          unsupported: "fewer heads for key and value than for the query are not supported")
        let merged = try inputs.enumerated().map { index, tensor in
          let known = try call.layer.known(tensor.shape.dropFirst(), of: tensor)
          return try network.reshaped(
            tensor, to: [known[0], checkedProduct([known[1], known[2]])],
            name: "\(call.name)__merged_\(index)__", call.layer)
        }
        var attention = HeadedAttention(heads: sizes[1])
        attention.scale = try call.argument(nil, "scale").map { _ in
          Float(try call.double(nil, "scale", default: 1))
        }
        attention.mask = AttentionMask(
          isCausal: try call.bool(nil, "is_causal", default: false), keys: [])
        let inner = call.call(merged, "__attention__")
        let result = network.settled(
          try attention.attended(merged[0], merged[1], merged[2], inner, &network), for: call.name)
        let size = try call.layer.known([inputs[2].channels], of: inputs[2])[0]
        return [
          try network.reshaped(result, to: [sizes[0], sizes[1], size], name: call.name, call.layer)
        ]
      },
      Operation("cumprod") { call, input, network in
        let axis = try call.axis(call.int(1, "axis", default: 0), of: input)
        guard let length = input.shape[axis], (1...256).contains(length) else {
          throw call.layer.unsupported("products along axis \(axis) of \(input.shapeText)")
        }
        var parts: [KerasTensor] = []
        for index in 0..<length {
          let part = try call.slice(
            input, axis, index..<index + 1, "__\(index)__", into: &network)
          parts.append(
            parts.last.map { last in
              part.with(network.product(last.blob, part.blob, "\(call.name)__product_\(index)__"))
            } ?? part)
        }
        return try network.concatenated(axis: axis, call.call(parts))
      },
      Operation("nantonum") { call, network in
        let limit = Double(Float.greatestFiniteMagnitude)
        let numbers = try [("nan", 0), ("posinf", limit), ("neginf", -limit)].enumerated().map {
          try call.double($0.offset + 1, $0.element.0, default: $0.element.1)
        }
        return try call.formula(
          "where(x == x, where(x > \(limit), \(numbers[1]), where(x < -\(limit), \(numbers[2]), x)), "
            + "\(numbers[0]))", ["x"], into: &network)
      },
      Operation("trace", "diagonal") { call, input, network in
        let offset = try call.int(1, "offset", default: 0)
        let axes = [
          try call.axis(call.int(2, "axis1", default: 0), of: input),
          try call.axis(call.int(3, "axis2", default: 1), of: input),
        ]
        let order = (0..<input.rank).filter { !axes.contains($0) } + axes
        let rank = input.rank
        let sizes = try call.layer.known(axes.map { input.shape[$0] }, of: input)
        let count = min(sizes[0] + min(offset, 0), sizes[1] - max(offset, 0))
        try call.layer.require(
          axes[0] != axes[1] && count > 0 && sizes[0] * sizes[1] <= 1 << 22,
          unsupported: "this diagonal of \(input.shapeText) is not supported")
        let transposed = try call.transposed(input, order, into: &network)
        let places = try ReducibleAxes([rank - 2, rank - 1], of: transposed, call.layer)
        let moved = network.relaid(transposed, to: places.layout, for: call.name)
        let constant = LoadConstant(
          Weights(
            (0..<sizes[0]).flatMap { row in
              (0..<sizes[1]).map { $0 - row == offset ? Float(1) : 0 }
            }), [1, sizes[0], sizes[1]])
        let kept = moved.with(
          network.product(
            moved.blob, network.add(call.name + "__ones__", constant, []), call.name + "__kept__"))
        let isTrace = call.layer.className.lowercased() == "trace"
        let summed: Set<Int> = isTrace ? [rank - 2, rank - 1] : [offset < 0 ? rank - 2 : rank - 1]
        let name = isTrace ? call.name : call.name + "__sum__"
        let sum = try network.reduced(.sum, kept, summed, name, call.layer).without(summed)
        if isTrace { return [network.settled(sum, for: call.name)] }
        let part = try call.slice(sum, rank - 2, 0..<count, "", into: &network)
        return [network.settled(part, for: call.name)]
      },
      Operation("hstack", "dstack") { call, network in
        let axis = call.layer.className.lowercased() == "hstack" ? 1 : 2
        let tensors = try call.inputs(&network)
        try call.layer.require(
          tensors.allSatisfy { $0.rank > axis }, unsupported: "vectors are not supported")
        return try network.concatenated(axis: axis, call.call(tensors))
      },
      Operation("diff") { call, input, network in
        let axis = try call.axis(call.int(2, "axis", default: -1), of: input)
        guard try call.int(1, "n", default: 1) == 1, let length = input.shape[axis], length > 1
        else { throw call.layer.unsupported("differences of \(input.shapeText)") }
        let parts = try [0..<length - 1, 1..<length].map {
          try call.slice(input, axis, $0, "__\($0.lowerBound)__", into: &network)
        }
        return [parts[1].with(network.difference(parts[1].blob, parts[0].blob, call.name))]
      },
      Operation("rmsnorm", "layernorm", "rmsnormalization", "layernormalization") {
        call, input, network in
        let isRoot = call.layer.className.lowercased().hasPrefix("rms")
        let axis = try call.ints(nil, "axis") ?? [-1]
        let gamma = try call.stored(1, "gamma", "scale")
        let beta = try isRoot ? nil : call.stored(2, "beta")
        try call.layer.require(axis.count == 1, unsupported: "several axes are not supported")
        var weights: [(String, FloatValues)] = []
        if let gamma { weights.append(("gamma", gamma)) }
        if let beta { weights.append(("beta", beta)) }
        return try call.convert(
          [input], as: isRoot ? "RMSNormalization" : "LayerNormalization",
          [
            "axis": .int(axis[0]),
            "epsilon": .double(call.double(nil, "epsilon", default: 1e-7)),
            "rms_scaling": .bool(try call.bool(nil, "rms_scaling", default: false)),
            "scale": .bool(gamma != nil), "center": .bool(beta != nil),
          ], weights: weights, into: &network)
      },
      Operation("padimages") { try $0.paddedImages(&$1) },
      Operation("resizewithpad") { call, input, network in
        // TensorFlow computes these sizes in double precision.
        let sizes = try call.layer.known(input.shape.dropFirst(), of: input)
        let target = [
          try call.int(1, "target_height", default: 0), try call.int(2, "target_width", default: 0),
        ]
        let method = try call.string(3, "method", default: "bilinear").lowercased()
        guard input.rank == 4, target.allSatisfy({ (1...Limits.imageSide).contains($0) }) else {
          throw call.layer.unsupported("padding \(input.shapeText) is not supported")
        }
        let ratio = max(
          Double(sizes[0]) / Double(target[0]), Double(sizes[1]) / Double(target[1]))
        let exact = sizes.prefix(2).map { Double($0) / ratio }
        let resized = exact.map { Int($0.rounded(.down)) }
        let borders = zip(target, zip(exact, resized)).map { target, size -> JSONValue in
          let before = max(0, Int(((Double(target) - size.0) / 2).rounded(.down)))
          return .array([.int(before), .int(target - before - size.1)])
        }
        try call.layer.require(
          resized.allSatisfy { $0 > 0 }, "its input \(input.shapeText) would vanish")
        let image = try call.layer.step(
          "resize", [input], "image",
          [
            "size": .array(resized.map { .int($0) }), "interpolation": .string(method),
            "antialias": .bool(try call.bool(4, "antialias", default: false)),
          ], &network)
        return try call.convert(
          [image], as: "ZeroPadding2D", ["padding": .array(borders)], into: &network)
      },
    ]

  /// Elementwise functions: names, parameters with default values, formula.
  private static let formulas: [([String], [String], String)] = [
    (
      ["arctan2", "atan2"], ["x1,y", "x2,x"],
      "where(x2 == 0, sign(x1) * 1.5707963267948966, atan(x1 / where(x2 == 0, 1, x2)) "
        + "+ where(x2 < 0, where(x1 < 0, -3.141592653589793, 3.141592653589793), 0))"
    ),
    (
      ["dividenonan", "divnonan"], ["x,x1", "y,x2"],
      "where(y == 0, 0, x / where(y == 0, 1, y))"
    ), (["hypot"], ["x1,x", "x2,y"], "sqrt(x1 * x1 + x2 * x2)"),
    (["squareddifference"], ["x,x1", "y,x2"], "square(x - y)"),
    (["logaddexp"], ["x1,x", "x2,y"], "max(x1, x2) + log1p(exp(-abs(x1 - x2)))"),
    (["cbrt"], ["x"], "sign(x) * pow(abs(x), 0.3333333333333333)"),
    (["fabs"], ["x"], "abs(x)"), (["signbit"], ["x"], "x < 0"),
    (["heaviside"], ["x1", "x2"], "where(x1 == 0, x2, x1 > 0)"),
    (
      ["sinc"], ["x"],
      "where(x == 0, 1, sin(3.141592653589793 * x) / where(x == 0, 1, 3.141592653589793 * x))"
    ),
    (["isinf"], ["x"], "abs(x) > 3.4028234e38"), (["isfinite"], ["x"], "abs(x) <= 3.4028235e38"),
    (["isposinf"], ["x"], "x > 3.4028234e38"), (["isneginf"], ["x"], "x < -3.4028234e38"),
    (["fmod"], ["x1", "x2"], "sign(x1) * mod(abs(x1), abs(x2))"),
  ]

  private static func convolution(
    _ layer: String, _ weight: String, _ names: String...
  ) -> Operation {
    Operation(names: names) { call, network in
      let input = try call.input
      let isSeparable = layer == "SeparableConv"
      let kernel = try call.stored(
        1, "kernel", "filter", "filters", "depthwise_kernel", "depthwise_filter")
      let point = try isSeparable ? call.stored(2, "pointwise_kernel", "pointwise_filter") : nil
      let axes = input.rank - 2
      guard let kernel, (1...3).contains(axes), kernel.shape.count == axes + 2,
        (point == nil) == !isSeparable
      else { throw call.layer.unsupported("a kernel that is not a constant is not supported") }
      let format = try call.string(nil, "data_format", default: "channels_last")
      let isFirst = format.hasPrefix("NC") || format == "channels_first"
      let first = isSeparable ? 3 : 2
      func sizes(_ position: Int?, _ names: [String]) throws -> JSONValue {
        for (index, name) in names.enumerated() {
          guard var found = try call.ints(index == 0 ? position : nil, name) else { continue }
          if found.count == axes + 2 { found = Array(isFirst ? found[2...] : found[1...axes]) }
          return .array(
            found.count == 1
              ? Array(repeating: .int(found[0]), count: axes) : found.map { .int($0) })
        }
        return .array(Array(repeating: .int(1), count: axes))
      }
      var fields = JSONObject()
      fields["kernel_size"] = .array(kernel.shape.prefix(axes).map { .int($0) })
      fields["strides"] = try sizes(first, ["strides", "stride"])
      fields["padding"] = .string(
        try call.string(first + 1, "padding", default: "valid").lowercased())
      fields["data_format"] = .string(isFirst ? "channels_first" : "channels_last")
      fields["dilation_rate"] = try sizes(nil, ["dilation_rate", "dilations", "rate"])
      fields["use_bias"] = .bool(false)
      var weights = [(weight, kernel)]
      if layer == "Conv" {
        fields["filters"] = .int(kernel.shape[axes + 1])
        let channels = try call.layer.known([input.shape[isFirst ? 1 : input.rank - 1]], of: input)
        fields["groups"] = .int(channels[0] / max(kernel.shape[axes], 1))
      } else {
        fields["depth_multiplier"] = .int(kernel.shape[axes + 1])
      }
      if let point {
        fields["filters"] = .int(point.shape.last ?? 0)
        weights.append(("pointwise_kernel", point))
      }
      return try call.convert(
        [input], as: "\(layer)\(axes)D", fields, weights: weights, into: &network)
    }
  }
}

extension OperationCall {
  /// The value of a constant argument; nil if it is missing.
  fileprivate func stored(_ position: Int?, _ names: String...) throws -> FloatValues? {
    for (index, name) in names.enumerated() {
      guard let json = try constant(index == 0 ? position : nil, name) else { continue }
      let (values, shape) = try numbers(json)
      return FloatValues(values).shaped(shape)
    }
    return nil
  }

  fileprivate func paddedImages(_ network: inout KerasWriter) throws -> [KerasTensor] {
    let input = try self.input
    let sizes = try layer.known(input.shape.dropFirst(), of: input)
    let format = try string(nil, "data_format", default: "channels_last")
    guard input.rank == 4, format == "channels_last" else {
      throw layer.unsupported("padding \(input.shapeText) is not supported")
    }
    var borders: [JSONValue] = []
    for (axis, (start, end, side)) in [
      ("top", "bottom", "height"), ("left", "right", "width"),
    ].enumerated() {
      let total = try constant(nil, "target_\(side)")?.int.map { $0 - sizes[axis] }
      let first = try constant(nil, "\(start)_padding")?.int
      let last = try constant(nil, "\(end)_padding")?.int
      let before = first ?? (total ?? -1) - (last ?? 0)
      let after = last ?? (total ?? -1) - before
      try layer.require(
        before >= 0 && after >= 0 && total ?? before + after == before + after,
        "its borders are missing or negative")
      borders.append(.array([.int(before), .int(after)]))
    }
    return try convert([input], as: "ZeroPadding2D", ["padding": .array(borders)], into: &network)
  }

  /// Applies an elementwise formula to the arguments.
  fileprivate func formula(
    _ text: String, _ parameters: [String], into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    let names = parameters.map { $0.split(separator: ",").map(String.init) }
    let operands = try names.enumerated().map { index, names in
      try operand(index, names[0], names.count > 1 ? names[1] : names[0])
    }
    var (inputs, result) = try broadcast(operands, &network)
    for index in inputs.indices {
      while inputs[index].rank < result.rank, let raised = inputs[index].inserting(at: 1) {
        inputs[index] = raised
      }
      inputs[index] = network.relaid(inputs[index], to: result.layout, for: name)
    }
    let formula = LayerFormula(
      try Expression(parsing: text), inputs: names.map { $0[0] })
    let outputs = try FormulaConversion(formula: formula).convert(
      layer.with(name: name, inputs: inputs), into: &network)
    return outputs
  }
}
