#if canImport(Metal)
  import Foundation
  import Metal

  /// A function of each element in Metal, which Core ML calls where the layer runs on the GPU.
  ///
  /// Core ML passes textures of half floats, four channels per pixel; if there are more channels or
  /// several images, arrays of slices.
  final class LayerKernel {
    private let name: String
    /// Made when first needed, so that a layer on the CPU needs no GPU.
    private var pipelines: [String: any MTLComputePipelineState] = [:]

    /// - Parameter name: of the function in the app's Metal library; with `_array`, the one for arrays
    ///   of slices.
    init(_ name: String) { self.name = name }

    func encode(
      _ commandBuffer: any MTLCommandBuffer, _ inputs: [any MTLTexture],
      _ outputs: [any MTLTexture], weights: [StretchedWeight] = []
    ) throws {
      let output = outputs[0]
      let isArray = output.textureType == .type2DArray
      let state = try pipeline(isArray ? name + "_array" : name, commandBuffer.device)
      guard let encoder = commandBuffer.makeComputeCommandEncoder() else { return }
      encoder.setComputePipelineState(state)
      for (index, texture) in (inputs + [output]).enumerated() {
        encoder.setTexture(texture, index: index)
      }
      for (index, weight) in weights.enumerated() {
        let buffer = commandBuffer.device.makeBuffer(
          bytes: weight.values, length: weight.values.count * MemoryLayout<SIMD4<Float>>.stride)
        var size = weight.size
        encoder.setBuffer(buffer, offset: 0, index: 2 * index)
        encoder.setBytes(&size, length: MemoryLayout.size(ofValue: size), index: 2 * index + 1)
      }
      let width = state.threadExecutionWidth
      let height = state.maxTotalThreadsPerThreadgroup / width
      encoder.dispatchThreadgroups(
        MTLSize(
          width: (output.width + width - 1) / width, height: (output.height + height - 1) / height,
          depth: output.arrayLength),
        threadsPerThreadgroup: MTLSize(width: width, height: height, depth: 1))
      encoder.endEncoding()
    }

    private func pipeline(
      _ name: String, _ device: any MTLDevice
    ) throws -> any MTLComputePipelineState {
      if let made = pipelines[name] { return made }
      let library = try device.makeDefaultLibrary(bundle: Bundle(for: LayerKernel.self))
      guard let function = library.makeFunction(name: name) else { throw LayerFault.kernel(name) }
      let made = try device.makeComputePipelineState(function: function)
      pipelines[name] = made
      return made
    }
  }
#endif
