import CoreMLModel
import ImportSupport
import TensorCore

extension OperationTable {
  /// Functions of each element, and softmax.
  static let functions: [Operation] =
    named.map { name, function in
      Operation(name) { call, network in
        [
          try network.apply(
            .named(function), call.input, name: call.name, call.call([try call.input]))
        ]
      }
    }
    + unaries.map { name, type in
      Operation(name) { call, network in
        let input = try call.input
        return call.like(
          input,
          network.unary(type, input.blob, call.name, epsilon: .leastNormalMagnitude))
      }
    } + others

  /// Those that Keras' layers know as activations.
  private static let named: [(String, String)] = [
    ("relu6", "relu6"), ("sigmoid", "sigmoid"), ("tanh", "tanh"), ("softplus", "softplus"),
    ("softsign", "softsign"), ("selu", "selu"), ("silu", "silu"), ("swish", "silu"),
    ("hardsigmoid", "hard_sigmoid"), ("hardsilu", "hard_silu"), ("hardswish", "hard_silu"),
    ("logsigmoid", "log_sigmoid"), ("mish", "mish"),
  ]

  private static let unaries: [(String, Unary.Operation)] = [
    ("abs", .abs), ("absolute", .abs), ("sqrt", .sqrt), ("rsqrt", .rsqrt), ("exp", .exp),
    ("log", .log), ("reciprocal", .inverse),
  ]

  private static let others: [Operation] = [
    // What changes nothing when a network is run.
    Operation(
      "identity", "stopgradient", "cast", "converttotensor", "ensureshape", "checknumerics",
      "copy", "positive"
    ) { call, _ in
      if case .tensor(let tensor) = try call.operand(0, "x", "input", "value") {
        if let type = try call.constant(1, "dtype")?.string,
          type.contains("int") || type.contains("bool"), tensor.sizes == nil
        {
          throw call.layer.unsupported("a conversion to \(type)")
        }
        return [tensor]
      }
      return [try call.input]
    },
    Operation("negative", "neg") { call, network in
      let input = try call.input
      return call.like(input, network.affine(input.blob, -1, 0, call.name))
    },
    Operation("square") { call, network in
      let input = try call.input
      return call.like(input, network.product(input.blob, input.blob, call.name))
    },
    Operation("log1p") { call, network in
      let input = try call.input
      var logarithm = Unary()
      logarithm.type = .log
      logarithm.scale = 1
      logarithm.shift = 1
      return call.like(input, network.add(call.name, logarithm, [input.blob]))
    },
    Operation("expm1") { call, network in
      let input = try call.input
      let exponential = network.unary(.exp, input.blob, call.name + "__exp__")
      return call.like(input, network.affine(exponential, 1, -1, call.name))
    },
    Operation("relu") { call, network in
      try call.convert(
        [call.input], as: "ReLU",
        [
          "max_value": call.constant(nil, "max_value") ?? .null,
          "negative_slope": call.constant(nil, "negative_slope", "alpha") ?? .double(0),
          "threshold": call.constant(nil, "threshold") ?? .double(0),
        ], into: &network)
    },
    Operation("leakyrelu") { call, network in
      try call.convert(
        [call.input], as: "LeakyReLU",
        ["alpha": .double(call.double(1, "alpha", "negative_slope", default: 0.2))], into: &network)
    },
    Operation("elu") { call, network in
      try call.convert(
        [call.input], as: "ELU", ["alpha": .double(call.double(1, "alpha", default: 1))],
        into: &network)
    },
    Operation("gelu") { call, network in
      let isApproximate = try call.bool(
        1, "approximate", default: call.layer.version.isAtLeast(3, 0))
      let input = try call.input
      return [
        try network.apply(
          .named(isApproximate ? "gelu_approximate" : "gelu"), input, name: call.name,
          call.call([input]))
      ]
    },
    Operation("softmax") { call, network in
      let axis = try call.int(1, "axis", "dim", default: -1)
      return try call.convert([call.input], as: "Softmax", ["axis": .int(axis)], into: &network)
    },
    Operation("logsoftmax") { call, network in
      let input = try call.input
      let axis = try call.axis(call.int(1, "axis", default: -1), of: input)
      guard axis == input.rank - 1 else {
        throw call.layer.unsupported("axis \(axis) of an input \(input.shapeText)")
      }
      return [
        try network.apply(.named("log_softmax"), input, name: call.name, call.call([input]))
      ]
    },
    Operation("clip", "clipbyvalue") { call, network in
      let input = try call.input
      let least = try call.double(1, "clip_value_min", "x_min", "min_value", "min", default: 0)
      let most = try call.double(2, "clip_value_max", "x_max", "max_value", "max", default: 0)
      let raised = network.unary(
        .threshold, input.blob, call.name + "__min__", alpha: Float(least))
      return call.like(input, network.smaller(raised, Float(most), call.name))
    },
    Operation("l2normalize", "normalize") { call, network in
      let input = try call.input
      guard try call.int(nil, "order", default: 2) == 2 else {
        throw call.layer.unsupported("a norm of another order than 2")
      }
      let axis = try call.axis(call.ints(1, "axis", "dim")?.first ?? -1, of: input)
      let epsilon = try call.double(2, "epsilon", default: 1e-12)
      return [
        network.withChannelAxis(axis, of: [input], for: call.name) { network, tensors in
          var result = tensors[0]
          let sum = network.reduced(.sumsquare, .c, result.blob, call.name + "__sum__")
          let bounded = network.unary(
            .threshold, sum, call.name + "__bound__", alpha: Float(epsilon))
          let factor = network.unary(
            .rsqrt, bounded, call.name + "__rsqrt__", epsilon: .leastNormalMagnitude)
          result.blob = network.product(result.blob, factor, call.name)
          return result
        }
      ]
    },
  ]
}
