// Stands in for Apple's Metal, so that the generated classes compile elsewhere. What a class encodes is
// recorded as C++ that calls its kernel.
import Foundation

public enum MTLTextureType { case type2D, type2DArray }
public enum MTLPixelFormat { case rgba16Float }

public struct MTLSize {
  public var width, height, depth: Int

  public init(width: Int, height: Int, depth: Int) {
    (self.width, self.height, self.depth) = (width, height, depth)
  }
}

public protocol MTLTexture: AnyObject {
  var width: Int { get }
  var height: Int { get }
  var arrayLength: Int { get }
  var textureType: MTLTextureType { get }
  var pixelFormat: MTLPixelFormat { get }
  func makeTextureView(
    pixelFormat: MTLPixelFormat, textureType: MTLTextureType, levels: Range<Int>, slices: Range<Int>
  ) -> (any MTLTexture)?
}

public protocol MTLBuffer: AnyObject {
  var words: [UInt32] { get }
}

public protocol MTLFunction: AnyObject {
  var name: String { get }
}

public protocol MTLLibrary: AnyObject {
  func makeFunction(name: String) -> (any MTLFunction)?
}

public protocol MTLComputePipelineState: AnyObject {
  var name: String { get }
  var threadExecutionWidth: Int { get }
  var maxTotalThreadsPerThreadgroup: Int { get }
}

public protocol MTLDevice: AnyObject {
  func makeBuffer(bytes: UnsafeRawPointer, length: Int) -> (any MTLBuffer)?
  func makeDefaultLibrary(bundle: Bundle) throws -> any MTLLibrary
  func makeComputePipelineState(function: any MTLFunction) throws -> any MTLComputePipelineState
}

public protocol MTLComputeCommandEncoder: AnyObject {
  func setComputePipelineState(_ state: any MTLComputePipelineState)
  func setTexture(_ texture: (any MTLTexture)?, index: Int)
  func setBuffer(_ buffer: (any MTLBuffer)?, offset: Int, index: Int)
  func setBytes(_ bytes: UnsafeRawPointer, length: Int, index: Int)
  func dispatchThreadgroups(_ groups: MTLSize, threadsPerThreadgroup: MTLSize)
  func endEncoding()
}

public protocol MTLCommandBuffer: AnyObject {
  var device: any MTLDevice { get }
  func makeComputeCommandEncoder() -> (any MTLComputeCommandEncoder)?
}

/// A texture of an array's size: one of a single slice is no array, as Core ML has it.
public final class Picture: MTLTexture {
  public let width, height, arrayLength: Int
  public let textureType: MTLTextureType
  public let pixelFormat = MTLPixelFormat.rgba16Float

  public init(_ shape: [Int], isArray: Bool = false) {
    let sizes = shape.count < 3 ? shape + [1, 1] : shape
    let rank = sizes.count
    let images = sizes.dropLast(3).reduce(1, *)
    (width, height) = (sizes[rank - 1], sizes[rank - 2])
    arrayLength = images * ((sizes[rank - 3] + 3) / 4)
    textureType = isArray || arrayLength > 1 ? .type2DArray : .type2D
  }

  public func makeTextureView(
    pixelFormat: MTLPixelFormat, textureType: MTLTextureType, levels: Range<Int>, slices: Range<Int>
  ) -> (any MTLTexture)? {
    Picture([4 * arrayLength, height, width], isArray: textureType == .type2DArray)
  }
}

public final class Recorder: MTLCommandBuffer, MTLDevice, MTLLibrary, MTLFunction,
  MTLComputePipelineState, MTLComputeCommandEncoder, MTLBuffer
{
  public var name = ""
  public var words: [UInt32] = []
  public let threadExecutionWidth = 32
  public let maxTotalThreadsPerThreadgroup = 1024
  private var textures: [Int: Bool] = [:]
  private var buffers: [Int: [UInt32]] = [:]

  public init() {}

  public var device: any MTLDevice { self }
  public func makeComputeCommandEncoder() -> (any MTLComputeCommandEncoder)? { self }
  public func makeDefaultLibrary(bundle: Bundle) -> any MTLLibrary { self }
  public func makeComputePipelineState(
    function: any MTLFunction
  ) -> any MTLComputePipelineState { self }
  public func setComputePipelineState(_ state: any MTLComputePipelineState) {}
  public func endEncoding() {}

  public func makeFunction(name: String) -> (any MTLFunction)? {
    self.name = name
    return self
  }

  public func makeBuffer(bytes: UnsafeRawPointer, length: Int) -> (any MTLBuffer)? {
    let buffer = Recorder()
    buffer.words = (0..<length / 4).map { bytes.load(fromByteOffset: 4 * $0, as: UInt32.self) }
    return buffer
  }

  public func setTexture(_ texture: (any MTLTexture)?, index: Int) {
    textures[index] = texture?.textureType == .type2DArray
  }

  public func setBuffer(_ buffer: (any MTLBuffer)?, offset: Int, index: Int) {
    buffers[index] = buffer?.words
  }

  public func setBytes(_ bytes: UnsafeRawPointer, length: Int, index: Int) {
    buffers[index] = makeBuffer(bytes: bytes, length: length)?.words
  }

  /// Prints the call: of inputs `in0`… and the output `out`, for each thread that is started.
  public func dispatchThreadgroups(_ groups: MTLSize, threadsPerThreadgroup: MTLSize) {
    precondition(textures.values.allSatisfy { $0 }, "a kernel takes arrays of slices")
    precondition(Set(buffers.keys) == Set(0..<buffers.count), "the buffers have gaps")
    for index in 0..<buffers.count {
      let words = (buffers[index] ?? []).map { "\($0)u" }.joined(separator: ", ")
      print("static const uint b\(index)[] = {\(words)};")
    }
    let arguments =
      (0..<textures.count).map { $0 == textures.count - 1 ? "out.written()" : "in\($0).read()" }
      + (0..<buffers.count).map { "Buffer{b\($0)}" }
    let (t, g) = (threadsPerThreadgroup, groups)
    let call = "\(name)(\(arguments.joined(separator: ", ")), "
    if g.width == 1, g.height == 1, t.height == 1 {
      print(
        "forGroups(\(g.depth), \(t.width), [&](uint3 g, uint i, uint3 n) { \(call)g, i, n); });")
    } else {
      print(
        "forThreads(\(g.width * t.width), \(g.height * t.height), \(g.depth), "
          + "[&](uint3 gid) { \(call)gid); });")
    }
  }
}
