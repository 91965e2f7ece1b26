import Formulas

/// The Metal kernel of an elementwise class, and the method that runs it.
///
/// The kernel computes in floats; the textures hold half floats, four channels per pixel.
struct MetalText {
  let name: String
  let formula: MetalFormula

  /// The .metal file.
  var kernel: String {
    let (statements, value) = self.statements
    let body = statements.joined() + value
    let helpers = Self.helpers.filter { body.contains($0.key) }.sorted { $0.key < $1.key }
    return """
      #include <metal_stdlib>
      using namespace metal;

      \(formula.weights.isEmpty ? "" : Self.broadcast)\(helpers.map(\.value).joined())\
      \(function(statements, value))
      """
  }

  private func function(_ statements: [String], _ value: String) -> String {
    var arguments = formula.inputs.indices.map {
      "texture2d_array<half, access::read> \(Self.input($0)) [[texture(\($0))]]"
    }
    arguments.append(
      "texture2d_array<half, access::write> output [[texture(\(formula.inputs.count))]]")
    for index in formula.weights.indices {
      arguments.append("constant float4 *weight\(index) [[buffer(\(2 * index))]]")
      arguments.append("constant uint3 &size\(index) [[buffer(\(2 * index + 1))]]")
    }
    arguments.append("uint3 gid [[thread_position_in_grid]]")
    var lines = ["if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;"]
    for index in formula.inputs.indices {
      let input = Self.input(index)
      // Of several inputs, one of a single row or column stretches.
      let variable =
        formula.inputs.count == 1
        ? "gid.xy" : "gid.x % \(input).get_width(), gid.y % \(input).get_height()"
      lines.append(
        "const float4 \(Self.element(index)) = float4(\(input).read(uint2(\(variable)), gid.z));")
    }
    for index in formula.weights.indices {
      lines.append("const float4 w\(index) = stretched(weight\(index), size\(index), gid);")
    }
    lines += statements
    lines.append("output.write(half4(\(value)), uint2(gid.xy), gid.z);")
    return "kernel void \(name)(\n    " + arguments.joined(separator: ",\n    ") + ") {\n  "
      + lines.joined(separator: "\n  ") + "\n}\n"
  }

  private static func input(_ index: Int) -> String { index == 0 ? "input" : "input\(index)" }
  private static func element(_ index: Int) -> String { index == 0 ? "x" : "x\(index)" }

  /// `encode(commandBuffer:inputs:outputs:)`.
  var encoding: [String] {
    let weights = formula.weights.map(\.value).joined(separator: ", ")
    return [
      "", "  #if canImport(Metal)",
      "    private let kernel = LayerKernel(\(SwiftNames.literal(name)))",
      "", "    func encode(",
      "      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]",
      "    ) throws {", "      try kernel.encode(",
      "        commandBuffer, inputs, outputs"
        + (weights.isEmpty ? ")" : ", weights: [\(weights)])"),
      "    }", "  #endif",
    ]
  }

  private static let broadcast = """
    static float4 stretched(constant float4 *values, constant uint3 &size, uint3 gid) {
      return values[((gid.z % size.z) * size.y + gid.y % size.y) * size.x + gid.x % size.x];
    }


    """

  private static let helpers = [
    // Metal has no error function. This is Abramowitz and Stegun 7.1.26, accurate to 1.5e-7.
    "formula_erf": """
    static float4 formula_erf(float4 x) {
      const float4 t = 1.0f / (1.0f + 0.3275911f * abs(x));
      const float4 p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f
          + t * (-1.453152027f + t * 1.061405429f))));
      return sign(x) * (1.0f - p * exp(-x * x));
    }


    """,
    // Metal's pow returns NaN for a negative base.
    "formula_power": """
    static float4 formula_power(float4 x, float4 y) {
      const float4 p = pow(abs(x), y);
      const float4 odd = abs(y - 2.0f * floor(y / 2.0f));
      const float4 below = select(select(p, -p, odd == 1.0f), float4(NAN), floor(y) != y);
      return select(p, below, x < 0.0f);
    }


    """,
  ]
}

// MARK: - The expression

extension MetalText {
  /// One constant per operation, and the result.
  private var statements: (lines: [String], value: String) {
    var lines: [String] = []
    var variables: [Expression: String] = [:]
    func emit(_ expression: Expression) -> String {
      if let variable = variables[expression] { return variable }
      let value: String
      switch expression.node {
      case .number(let number): return Self.text(Float(number))
      case .name(let name):
        if let index = formula.inputs.firstIndex(of: name) { return Self.element(index) }
        return "w\(formula.weights.firstIndex { $0.name == name } ?? 0)"
      case .apply(let function, let operands):
        if let composed = try? function.composed(operands) { return emit(composed) }
        value = Self.text(function, operands.map(emit))
      case .reduce, .slice: return "x"
      }
      let variable = "v\(lines.count)"
      lines.append("const float4 \(variable) = \(value);")
      variables[expression] = variable
      return variable
    }
    let value = emit(formula.expression)
    return (lines, value)
  }

  private static func text(_ number: Float) -> String {
    if number.isNaN { return "float4(NAN)" }
    return "float4(\(number.isInfinite ? number < 0 ? "-INFINITY" : "INFINITY" : "\(number)f"))"
  }

  private static func text(_ function: ElementFunction, _ values: [String]) -> String {
    guard let text = function.row.metal else { return "\(function.rawValue)(\(values[0]))" }
    let operands = Dictionary(uniqueKeysWithValues: zip("XYZ", values))
    return text.map { operands[$0] ?? String($0) }.joined()
  }
}
