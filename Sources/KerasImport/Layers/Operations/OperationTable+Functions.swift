import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension OperationTable {
  /// Elementwise functions, and softmax.
  static let functions: [Operation] =
    named.map { name, function in
      Operation(name) { call, network in
        for (argument, value) in standard {
          let given = try call.double(nil, argument, default: value)
          try call.layer.require(
            given == value, unsupported: "\(argument) = \(given) is not supported")
        }
        return [
          try network.apply(
            .named(function), call.input, name: call.name, call.call([try call.input]))
        ]
      }
    }
    + unaries.map { name, type in
      Operation.elements(name) { call, blob, network in
        network.unary(type, blob, call.name, epsilon: .leastNormalMagnitude)
      }
    }
    + layers.map { names, layer in
      Operation.elements(names: names) { call, blob, network in
        network.add(call.name, layer, [blob])
      }
    }
    + scaled.map { names, function, scale in
      Operation.elements(names: names) { call, blob, network in
        let value =
          function.map {
            network.unary($0, blob, "\(call.name)__\($0)__", epsilon: .leastNormalMagnitude)
          } ?? blob
        return network.affine(value, Float(scale), 0, call.name)
      }
    } + others

  /// Keras's activation functions, by name without underscores.
  private static let named: [(String, String)] = {
    let others = Set(Self.others.flatMap(\.names) + ["linear", "exponential", "geluapproximate"])
    var known: [String: String] = [:]
    for names in KerasActivation.names {
      for name in names { known[name.filter { $0 != "_" }] = names[0] }
    }
    return known.filter { !others.contains($0.key) }.sorted { $0.key < $1.key }
  }()

  /// Arguments that must have the values that the activations of the same names use.
  private static let standard: [(String, Double)] = [
    ("alpha", 1), ("threshold", 0.5), ("axis", -1), ("b", 4),
  ]

  private static let unaries: [(String, Unary.Operation)] = [
    ("abs", .abs), ("absolute", .abs), ("sqrt", .sqrt), ("exp", .exp), ("log", .log),
  ]

  /// Layers of specification 4.
  private static let layers: [(names: [String], layer: any LayerParameters)] =
    ElementFunction.allCases.compactMap { function in
      guard function.operandCount == 1 else { return nil }
      return ElementFunction.layers[function].map { (function.row.names, $0.1) }
    } + [
      (["asinh", "arcsinh"], Asinh()), (["acosh", "arccosh"], Acosh()),
      (["atanh", "arctanh"], Atanh()), (["exp2"], Exp2()),
    ]

  /// Multiples of other functions, and linear functions.
  private static let scaled: [(names: [String], of: Unary.Operation?, scale: Double)] = [
    (["log2"], .log, 1.4426950408889634), (["log10"], .log, 0.4342944819032518),
    (["deg2rad"], nil, 0.017453292519943295), (["rad2deg"], nil, 57.29577951308232),
  ]

  private static let others: [Operation] = [
    // Operations without effect at inference.
    Operation(
      "identity", "stopgradient", "cast", "converttotensor", "ensureshape", "checknumerics",
      "copy", "positive"
    ) { call, network in
      if case .tensor(let tensor) = try call.operand(0, "x", "input", "value") {
        guard let type = try call.constant(1, "dtype")?.string, tensor.sizes == nil else {
          return [tensor]
        }
        if type.contains("int") || type.contains("bool") {
          return [tensor.with(network.converted(tensor.blob, to: type, call.name))]
        }
        if type.contains("float16") {
          network.notes.append(
            "layer '\(call.layer.name)' (\(call.layer.className)): Keras rounds its values to \(type), "
              + "but Core ML's networks compute in single precision")
        }
        return [tensor]
      }
      return [try call.input]
    },
    .elements("trunc", "fix") { call, blob, network in
      network.converted(blob, to: "int", call.name)
    },
    .elements("reciprocal") { call, blob, network in network.quotient(1, blob, call.name) },
    .elements("rsqrt") { call, blob, network in
      network.quotient(1, network.unary(.sqrt, blob, call.name + "__root__"), call.name)
    },
    .elements("erfc") { call, blob, network in
      let erf = network.add(call.name + "__erf__", Erf(), [blob])
      return network.affine(erf, -1, 1, call.name)
    },
    .elements("zeroslike") { call, blob, network in
      network.affine(blob, 0, 0, call.name)
    },
    .elements("oneslike") { call, blob, network in
      network.affine(blob, 0, 1, call.name)
    },
    .elements("fulllike") { call, blob, network in
      let value = Float(try call.double(1, "fill_value", default: 0))
      return network.affine(blob, 0, value, call.name)
    },
    .elements("negative", "neg") { call, blob, network in
      network.affine(blob, -1, 0, call.name)
    },
    .elements("square") { call, blob, network in
      network.product(blob, blob, call.name)
    },
    .elements("log1p") { call, blob, network in
      var logarithm = Unary()
      logarithm.type = .log
      logarithm.scale = 1
      logarithm.shift = 1
      return network.add(call.name, logarithm, [blob])
    },
    .elements("expm1") { call, blob, network in
      let exponential = network.unary(.exp, blob, call.name + "__exp__")
      return network.affine(exponential, 1, -1, call.name)
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
    Operation("logsoftmax") { call, input, network in
      let axis = try call.axis(call.int(1, "axis", default: -1), of: input)
      try call.layer.require(
        axis == input.rank - 1,
        unsupported: "axis \(axis) of its input \(input.shapeText) is not supported")
      return [KerasActivation.logSoftmax.add(to: &network, input, name: call.name)]
    },
    Operation("clip", "clipbyvalue") { call, input, network in
      let infinite = Double.infinity
      let least = try call.double(
        1, "clip_value_min", "x_min", "min_value", "min", default: -infinite)
      let most = try call.double(
        2, "clip_value_max", "x_max", "max_value", "max", default: infinite)
      let isBounded = most < infinite
      let raised =
        least > -infinite
        ? network.unary(
          .threshold, input.blob, isBounded ? call.name + "__min__" : call.name,
          alpha: Float(least)) : input.blob
      guard isBounded else { return [input.with(raised)] }
      return [input.with(network.smaller(raised, Float(most), call.name))]
    },
    Operation("l2normalize", "normalize") { call, input, network in
      try call.layer.require(
        call.int(nil, "order", default: 2) == 2, unsupported: "only norms of order 2 are supported")
      let axis = try call.axis(call.ints(1, "axis", "dim")?.first ?? -1, of: input)
      // Keras 3 bounds the norm from below; TensorFlow bounds the sum of squares.
      let isOfKeras = call.layer.className.lowercased() == "normalize"
      var epsilon = try call.double(isOfKeras ? 3 : 2, "epsilon", default: isOfKeras ? 1e-7 : 1e-12)
      if isOfKeras { epsilon *= epsilon }
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

extension KerasWriter {
  /// Truncates numbers toward 0, or converts nonzero numbers to 1.
  fileprivate mutating func converted(_ blob: String, to type: String, _ name: String) -> String {
    if type.contains("bool") { return add(name, NotEqual(), [blob]) }
    let size = add(
      name + "__floor__", Floor(), [unary(.abs, blob, name + "__abs__")])
    return product(add(name + "__sign__", Sign(), [blob]), size, name)
  }
}
