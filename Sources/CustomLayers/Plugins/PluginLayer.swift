import CAssayPlugin
import LibC
import TensorCore

/// A layer computed by a plug-in.
final class PluginLayer: CustomLayerImplementation {
  private let plugin: UnsafePointer<assay_plugin>
  private let handle: UnsafeMutableRawPointer

  init(
    _ plugin: UnsafePointer<assay_plugin>, classIndex: Int,
    parameters: [String: CustomLayerParameter]
  ) throws {
    let strings = CStrings()
    let list = parameters.sorted { $0.key < $1.key }
      .map { assay_parameter($0.value, name: $0.key, in: strings) }
    var handle: UnsafeMutableRawPointer?
    try Self.call("init(parameters:)") { error in
      handle = plugin.pointee.create?(UInt32(classIndex), list, list.count, error)
      return handle == nil ? 1 : 0
    }
    guard let handle else { throw ModelError(.unsupported, "the plug-in did not create the layer") }
    self.plugin = plugin
    self.handle = handle
  }

  deinit { plugin.pointee.destroy?(handle) }

  func setWeightData(_ weights: [Bytes]) throws {
    guard let set = plugin.pointee.set_weights else {
      try require(
        weights.isEmpty, .unsupported,
        "the plug-in's class takes no weights, but the layer has \(weights.count)")
      return
    }
    func open(_ index: Int, _ opened: [assay_weight]) throws {
      guard index < weights.count else {
        return try Self.call("setWeightData") { set(handle, opened, opened.count, $0) }
      }
      try weights[index].withUnsafeBytes { bytes in
        try open(
          index + 1, opened + [assay_weight(bytes: bytes.baseAddress, byte_count: bytes.count)])
      }
    }
    try open(0, [])
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let inputs = inputShapes.map { assay_shape($0) }
    var capacity = 16
    while true {
      var shapes = [assay_shape](repeating: assay_shape([]), count: capacity)
      var count = capacity
      try Self.call("outputShapes(forInputShapes:)") { error in
        plugin.pointee.output_shapes?(handle, inputs, inputs.count, &shapes, &count, error) ?? 1
      }
      try require(count <= Limits.layers, "the plug-in returned \(count) output shapes")
      guard count > capacity else { return try shapes.prefix(count).map { try $0.dimensions() } }
      capacity = count
    }
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let arrays = inputs.map {
      assay_array(shape: $0.shape, UnsafeMutableRawPointer(mutating: $0.elements.baseAddress))
    }
    let results = outputs.map {
      assay_array(shape: $0.shape, UnsafeMutableRawPointer($0.elements.baseAddress))
    }
    try Self.call("evaluate") { error in
      plugin.pointee.evaluate?(handle, arrays, arrays.count, results, results.count, error) ?? 1
    }
  }

  /// Calls a function of the plug-in and throws the error that it reports.
  private static func call(
    _ method: String, _ body: (UnsafeMutablePointer<CChar>?) -> Int32
  ) throws {
    var text = [CChar](repeating: 0, count: Int(ASSAY_ERROR_SIZE))
    let status = text.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    guard status != 0 else { return }
    let reason = String(
      decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    throw ModelError(
      .unsupported,
      "\(method) failed: " + (reason.isEmpty ? "the plug-in gave no reason" : reason))
  }
}

/// C strings that live as long as this object.
private final class CStrings {
  private var owned: [UnsafeMutablePointer<CChar>] = []

  func copy(_ string: String) -> UnsafePointer<CChar>? {
    guard let copy = strdup(string) else { return nil }
    owned.append(copy)
    return UnsafePointer(copy)
  }

  deinit { for string in owned { free(string) } }
}

extension assay_parameter {
  fileprivate init(_ value: CustomLayerParameter, name: String, in strings: CStrings) {
    self.init()
    self.name = strings.copy(name)
    switch value {
    case .double(let value):
      type = Int32(ASSAY_DOUBLE)
      number = value
    case .string(let value):
      type = Int32(ASSAY_STRING)
      string = strings.copy(value)
      byte_count = value.utf8.count
    case .int(let value):
      type = Int32(ASSAY_INT)
      integer = Int64(value)
    case .long(let value):
      type = Int32(ASSAY_LONG)
      integer = value
    case .bool(let value):
      type = Int32(ASSAY_BOOL)
      integer = value ? 1 : 0
    }
  }
}

extension assay_shape {
  /// Omits sizes beyond `ASSAY_MAX_RANK`, which do not occur.
  fileprivate init(_ dimensions: [Int]) {
    self.init()
    rank = min(dimensions.count, Int(ASSAY_MAX_RANK))
    withUnsafeMutableBytes(of: &sizes) { bytes in
      let sizes = bytes.bindMemory(to: Int64.self)
      for axis in 0..<rank { sizes[axis] = Int64(dimensions[axis]) }
    }
  }

  fileprivate func dimensions() throws -> [Int] {
    try require(
      (1...Int(ASSAY_MAX_RANK)).contains(rank),
      "the plug-in returned a shape of rank \(rank); valid ranks are 1 to \(ASSAY_MAX_RANK)")
    return withUnsafeBytes(of: sizes) { bytes in
      bytes.bindMemory(to: Int64.self).prefix(rank).map { Int($0) }
    }
  }
}

extension assay_array {
  /// A dense array.
  fileprivate init(shape dimensions: [Int], _ elements: UnsafeMutableRawPointer?) {
    self.init()
    element_type = Int32(ASSAY_FLOAT32)
    shape = assay_shape(dimensions)
    self.elements = elements
    withUnsafeMutableBytes(of: &strides) { bytes in
      let strides = bytes.bindMemory(to: Int64.self)
      var stride: Int64 = 1
      for axis in (0..<shape.rank).reversed() {
        strides[axis] = stride
        stride &*= Int64(dimensions[axis])
      }
    }
  }
}
