import TensorCore

extension FunctionCatalog {
  private static let x = Parameter(
    "x", "input", "inputs", "features", "input_tensor", "logits", "tensor", "t", "a", "value")
  private static let first = Parameter("x", "x1", "a")
  private static let second = Parameter("y", "x2", "b", "a")
  private static let reductionParameters = [
    x, Parameter.optional("axis", "reduction_indices"), .optional("keepdims", "keep_dims"),
  ]

  static let entries: [String: Entry] = {
    var entries: [String: Entry] = [:]
    for function in ElementFunction.allCases {
      let entry =
        function.operandCount == 1
        ? Entry(parameters: [x]) { try .apply(function, $0["x"]) }
        : Entry(parameters: [first, second]) { try .apply(function, $0["x"], $0["y"]) }
      for name in function.row.names { entries[name] = entry }
    }
    for (names, reduction) in reductions {
      for name in names { entries[name] = reduced(reduction) }
    }
    entries.merge(activations) { $1 }
    entries.merge(others) { $1 }
    return entries
  }()

  private static let reductions: [([String], Expression.Reduction)] = [
    (["sum", "reduce_sum"], .sum), (["mean", "reduce_mean"], .mean),
    (["prod", "reduce_prod"], .product), (["reduce_max", "amax"], .max),
    (["reduce_min", "amin"], .min),
  ]

  private static func reduced(_ reduction: Expression.Reduction) -> Entry {
    Entry(parameters: reductionParameters) { arguments in
      try reduce(reduction, arguments["x"], arguments.axes(), keepsAxes: arguments.flag("keepdims"))
    }
  }

  private static func reduce(
    _ reduction: Expression.Reduction, _ x: Expression, _ axes: [Int]?, keepsAxes: Bool = true
  ) throws -> Expression {
    try Expression(.reduce(reduction, x, axes: axes, keepsAxes: keepsAxes))
  }

  private static let activations: [String: Entry] = {
    var entries: [String: Entry] = [:]
    func add(
      _ name: String, _ others: [Parameter] = [],
      _ build: @escaping @Sendable (Expression, Arguments) throws -> Expression
    ) {
      entries[name] = Entry(parameters: [x] + others) { try build($0["x"], $0) }
    }
    add(
      "relu",
      [.optional("negative_slope", "alpha"), .optional("max_value"), .optional("threshold")]
    ) { x, arguments in
      let slope = try arguments.number("negative_slope", default: 0)
      let threshold = try arguments.number("threshold", default: 0)
      var result: Expression
      if threshold == 0 {
        result = try slope == 0 ? .apply(.relu, x) : leaky(x, slope)
      } else {
        let below: Expression =
          slope == 0
          ? .number(0)
          : try .apply(.multiply, .number(slope), .apply(.subtract, x, .number(threshold)))
        result = try .apply(.choose, .apply(.greaterEqual, x, .number(threshold)), x, below)
      }
      if arguments.isGiven("max_value") {
        let most = try arguments.number("max_value", default: 0)
        result = try .apply(.minimum, result, .number(most))
      }
      return result
    }
    add("leaky_relu", [.optional("negative_slope", "alpha")]) { x, arguments in
      try leaky(x, arguments.number("negative_slope", default: 0.2))
    }
    add("elu", [.optional("alpha")]) { x, arguments in
      try .apply(.elu, x, .number(arguments.number("alpha", default: 1)))
    }
    for (name, formula) in ElementFunction.formulas {
      add(name) { x, _ in try Expression(parsing: formula).replacing(["x": x]) }
    }
    add("gelu", [.optional("approximate")]) { x, arguments in
      try .apply(arguments.flag("approximate") ? .tanhGelu : .gelu, x)
    }
    return entries
  }()

  /// The leaky rectifier, written as max(x, αx) if that is equal.
  private static func leaky(_ x: Expression, _ slope: Double) throws -> Expression {
    let scaled = try Expression.apply(.multiply, .number(slope), x)
    return try (0...1).contains(slope)
      ? .apply(.maximum, x, scaled) : .apply(.choose, .apply(.greater, x, .number(0)), x, scaled)
  }

  private static let others: [String: Entry] = {
    var entries: [String: Entry] = [:]
    func add(
      _ names: [String], _ parameters: [Parameter],
      _ build: @escaping @Sendable (Arguments) throws -> Expression
    ) { for name in names { entries[name] = Entry(parameters: parameters, build: build) } }
    add(
      ["clip", "clip_by_value"],
      [
        x, Parameter("low", "min_value", "clip_value_min", "x_min", "a_min", "min"),
        Parameter("high", "max_value", "clip_value_max", "x_max", "a_max", "max"),
      ]
    ) { arguments in
      guard arguments.isGiven("high") else {
        return try .apply(.maximum, arguments["x"], arguments["low"])
      }
      guard arguments.isGiven("low") else {
        return try .apply(.minimum, arguments["x"], arguments["high"])
      }
      return try .apply(.clip, arguments["x"], arguments["low"], arguments["high"])
    }
    add(
      ["where", "switch"],
      [
        Parameter("condition"), Parameter("x", "x1", "then_expression"),
        Parameter("y", "x2", "else_expression"),
      ]
    ) { try .apply(.choose, $0["condition"], $0["x"], $0["y"]) }
    // The maximum of two arrays, or of one array's elements.
    let pairs: [(String, ElementFunction, Expression.Reduction)] = [
      ("max", .maximum, .max), ("min", .minimum, .min),
    ]
    for (name, function, reduction) in pairs {
      add(
        [name], [x, .optional("y", "x2", "b"), .optional("axis"), .optional("keepdims")]
      ) { arguments in
        if arguments.isGiven("y") { return try .apply(function, arguments["x"], arguments["y"]) }
        return try reduce(
          reduction, arguments["x"], arguments.axes(), keepsAxes: arguments.flag("keepdims"))
      }
    }
    add(["squared_difference"], [first, second]) {
      try .apply(.square, .apply(.subtract, $0["x"], $0["y"]))
    }
    for (names, takesRoot) in [
      (["variance", "var", "reduce_variance"], false), (["std", "reduce_std"], true),
    ] {
      add(names, reductionParameters) { arguments in
        let (x, axes) = (try arguments["x"], try arguments.axes())
        let difference = try Expression.apply(.subtract, x, reduce(.mean, x, axes))
        let variance = try reduce(
          .mean, .apply(.square, difference), axes, keepsAxes: arguments.flag("keepdims"))
        return takesRoot ? try .apply(.sqrt, variance) : variance
      }
    }
    add(["l2_normalize"], [x, .optional("axis", "dim"), .optional("epsilon")]) { arguments in
      let x = try arguments["x"]
      let sum = try reduce(.sum, .apply(.square, x), arguments.axes())
      let epsilon = Expression.number(try arguments.number("epsilon", default: 1e-12))
      return try .apply(.multiply, x, .apply(.rsqrt, .apply(.maximum, sum, epsilon)))
    }
    add(["softmax"], [x, .optional("axis", "dim")]) { arguments in
      let x = try arguments["x"]
      let axes = try arguments.axes() ?? [-1]
      let shifted = try Expression.apply(.subtract, x, reduce(.max, x, axes))
      let exponential = try Expression.apply(.exp, shifted)
      return try .apply(.divide, exponential, reduce(.sum, exponential, axes))
    }
    add(["identity", "stop_gradient"], [x, .optional("name")]) { try $0["x"] }
    add(["cast", "convert_to_tensor"], [x, .optional("dtype")]) { arguments in
      let type = arguments.text("dtype")
      try require(
        type?.contains("float16") != true, .unsupported,
        "it rounds to \(type ?? ""), but formulas compute in single precision")
      guard type.map({ $0.contains("float") }) ?? !arguments.isGiven("dtype")
      else { throw ModelError(.unsupported, "only floating-point numbers are supported") }
      return try arguments["x"]
    }
    add(["expand_dims"], [x, .optional("axis")]) { arguments in
      let axis = try arguments.axes()?.first ?? -1
      return try Expression(.slice(arguments["x"], items(around: .newAxis, axis, isNew: true)))
    }
    add(["squeeze"], [x, Parameter("axis")]) { arguments in
      guard let axes = try arguments.axes(), axes.count == 1 else {
        throw ModelError(.unsupported, "squeeze takes one axis")
      }
      return try Expression(.slice(arguments["x"], items(around: .index(0), axes[0])))
    }
    return entries
  }()

  /// Indexing with `item` at `axis`; a negative axis counts from the end.
  private static func items(
    around item: Expression.SliceItem, _ axis: Int, isNew: Bool = false
  ) throws -> [Expression.SliceItem] {
    try require(axis.magnitude <= UInt(Limits.rank), "axis \(axis)")
    if axis >= 0 { return [Expression.SliceItem](repeating: .all, count: axis) + [item] }
    return [.ellipsis, item] + [Expression.SliceItem](repeating: .all, count: -axis - 1)
  }
}
