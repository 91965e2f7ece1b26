#if canImport(Metal)
  import Foundation
  import Metal

  /// A Metal kernel, which Core ML calls if the layer runs on the GPU.
  ///
  /// Core ML passes textures of half floats with four channels per pixel, and texture arrays of
  /// slices for more channels or several images. The kernel always receives arrays.
  final class LayerKernel {
    private let name: String
    /// Created when first needed, so that a layer on the CPU needs no GPU.
    private var pipeline: (any MTLComputePipelineState)?

    /// - Parameter name: the name of the function in the app's Metal library.
    init(_ name: String) { self.name = name }

    /// - Parameters:
    ///   - weights: buffers of two arguments each, the values and the size.
    ///   - tables: buffers after these.
    ///   - numbers: the last buffer, of unsigned integers.
    ///   - groupsOfThreads: whether a group of threads computes a whole slice, instead of a thread one
    ///     pixel.
    func encode(
      _ commandBuffer: any MTLCommandBuffer, _ inputs: [any MTLTexture],
      _ outputs: [any MTLTexture], weights: [BroadcastWeight] = [],
      tables: [[SIMD4<Float>]] = [], numbers: [Int] = [], groupsOfThreads: Bool = false
    ) throws {
      let (output, device) = (outputs[0], commandBuffer.device)
      let state = try pipeline(device)
      guard let encoder = commandBuffer.makeComputeCommandEncoder() else { return }
      encoder.setComputePipelineState(state)
      for (index, texture) in (inputs + [output]).enumerated() {
        encoder.setTexture(try slices(texture), index: index)
      }
      var index = 0
      func set(_ values: [SIMD4<Float>]) {
        let buffer = device.makeBuffer(
          bytes: values, length: values.count * MemoryLayout<SIMD4<Float>>.stride)
        encoder.setBuffer(buffer, offset: 0, index: index)
        index += 1
      }
      for weight in weights {
        set(weight.values)
        var size = weight.size
        encoder.setBytes(&size, length: MemoryLayout.size(ofValue: size), index: index)
        index += 1
      }
      for table in tables { set(table) }
      if !numbers.isEmpty {
        let values = numbers.map { UInt32($0) }
        encoder.setBytes(values, length: 4 * values.count, index: index)
      }
      let most = state.maxTotalThreadsPerThreadgroup
      if groupsOfThreads {
        encoder.dispatchThreadgroups(
          MTLSize(width: 1, height: 1, depth: output.arrayLength),
          threadsPerThreadgroup: MTLSize(width: min(256, most), height: 1, depth: 1))
      } else {
        let width = state.threadExecutionWidth
        let height = most / width
        encoder.dispatchThreadgroups(
          MTLSize(
            width: (output.width + width - 1) / width,
            height: (output.height + height - 1) / height, depth: output.arrayLength),
          threadsPerThreadgroup: MTLSize(width: width, height: height, depth: 1))
      }
      encoder.endEncoding()
    }

    private func slices(_ texture: any MTLTexture) throws -> any MTLTexture {
      if texture.textureType == .type2DArray { return texture }
      guard
        let view = texture.makeTextureView(
          pixelFormat: texture.pixelFormat, textureType: .type2DArray, levels: 0..<1, slices: 0..<1)
      else { throw LayerFault.kernel(name) }
      return view
    }

    private func pipeline(_ device: any MTLDevice) throws -> any MTLComputePipelineState {
      if let pipeline { return pipeline }
      let library = try device.makeDefaultLibrary(bundle: Bundle(for: LayerKernel.self))
      guard let function = library.makeFunction(name: name) else { throw LayerFault.kernel(name) }
      let made = try device.makeComputePipelineState(function: function)
      pipeline = made
      return made
    }
  }
#endif
