/// The Metal kernel of an element-wise class, and the method that runs it.
///
/// Core ML hands over textures of half floats, four channels a pixel: with more than four channels,
/// or several images, an array of slices. The computation is in floats.
struct MetalText {
  let text: ClassText

  init(_ text: ClassText) { self.text = text }

  private var name: String { text.layerClass.typeName }

  /// The .metal file.
  var kernel: String {
    let (arguments, value): (String, String) =
      switch text.formula {
      case .swish:
        (
          "    constant float4 *betas [[buffer(0)]],\n    constant uint &slices [[buffer(1)]],\n",
          "x / (1.0f + exp(-betas[gid.z % slices] * x))"
        )
      case .rescale: ("", "(x + 1.0f) * 127.5f")
      case .expressions(let all): ("", all[0].metal ?? "x")
      case .crop, .none: ("", "x")
      }
    func function(_ suffix: String, _ type: String, _ place: String) -> String {
      """
      kernel void \(name)\(suffix)(
          \(type)<half, access::read> input [[texture(0)]],
          \(type)<half, access::write> output [[texture(1)]],
      \(arguments)    uint3 gid [[thread_position_in_grid]]) {
        if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
        const float4 x = float4(input.read(\(place)));
        output.write(half4(\(value)), \(place));
      }

      """
    }
    return """
      #include <metal_stdlib>
      using namespace metal;

      \(value.contains("formula_erf") ? ClassExpression.metalErrorFunction : "")\(function("", "texture2d", "uint2(gid.xy)"))
      \(function("_array", "texture2d_array", "uint2(gid.xy), gid.z"))
      """
  }

  /// `encode(commandBuffer:inputs:outputs:)`.
  var encoding: [String] {
    var lines = [
      "", "  #if canImport(Metal)",
      "    /// Made when first needed, so that a layer on the CPU needs no GPU.",
      "    private var pipelines: [String: any MTLComputePipelineState] = [:]", "",
      "    func encode(",
      "      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]",
      "    ) throws {", "      for (input, output) in zip(inputs, outputs) {",
      "        let isArray = input.textureType == .type2DArray",
      "        let name = isArray ? \(SwiftNames.literal(name + "_array")) : \(SwiftNames.literal(name))",
      "        let state = try pipeline(name, commandBuffer.device)",
      "        guard let encoder = commandBuffer.makeComputeCommandEncoder() else { return }",
      "        encoder.setComputePipelineState(state)",
      "        encoder.setTexture(input, index: 0)", "        encoder.setTexture(output, index: 1)",
    ]
    if case .swish = text.formula {
      lines += [
        "        let given: [Float] = \(text.betas)",
        "        // Four channels per slice.",
        "        var slices = UInt32(given.count == 1 ? 1 : (given.count + 3) / 4)",
        "        var betas = [Float](repeating: given.count == 1 ? given[0] : 0, count: Int(slices) * 4)",
        "        for (index, beta) in given.enumerated() { betas[index] = beta }",
        "        let buffer = commandBuffer.device.makeBuffer(bytes: betas, length: betas.count * 4)",
        "        encoder.setBuffer(buffer, offset: 0, index: 0)",
        "        encoder.setBytes(&slices, length: 4, index: 1)",
      ]
    }
    return lines + [
      "        let width = state.threadExecutionWidth",
      "        let height = state.maxTotalThreadsPerThreadgroup / width",
      "        encoder.dispatchThreadgroups(", "          MTLSize(",
      "            width: (output.width + width - 1) / width,",
      "            height: (output.height + height - 1) / height, depth: output.arrayLength),",
      "          threadsPerThreadgroup: MTLSize(width: width, height: height, depth: 1))",
      "        encoder.endEncoding()", "      }", "    }", "",
      "    private func pipeline(",
      "      _ name: String, _ device: any MTLDevice",
      "    ) throws -> any MTLComputePipelineState {",
      "      if let made = pipelines[name] { return made }",
      "      let library = try device.makeDefaultLibrary(bundle: Bundle(for: Self.self))",
      "      guard let function = library.makeFunction(name: name) else {",
      "        throw Fault.kernel(name)", "      }",
      "      let made = try device.makeComputePipelineState(function: function)",
      "      pipelines[name] = made", "      return made", "    }", "  #endif",
    ]
  }
}
