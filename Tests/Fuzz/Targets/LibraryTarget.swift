import Assay
import AssayLibrary
import CAssay
import Foundation
import FuzzSupport
import TensorCore

extension FuzzTarget {
  /// Calls of the C library: the first bytes determine the calls, and the rest is a model.
  static let library = FuzzTarget(
    "library", suffix: ".calls", from: [".mlmodel"],
    seeds: { _, model in
      var random = SplitMix64(seed: UInt64(model.count))
      return [(0..<LibraryCalls.byteCount).map { _ in UInt8(random.below(256)) } + model]
    },
    mutator: { _ in
      { bytes, random in
        let (calls, model) = (
          bytes.prefix(LibraryCalls.byteCount), bytes.dropFirst(LibraryCalls.byteCount)
        )
        return random.below(4) > 0
          ? Array(calls).withBytesReplaced(&random) + model : calls + Array(model).damaged(&random)
      }
    },
    attempt: { path, bytes in
      let model = path + ".mlmodel"
      try Data(bytes.dropFirst(LibraryCalls.byteCount)).write(to: URL(filePath: model))
      defer { try? FileManager.default.removeItem(atPath: model) }
      guard try ModelPaths(model: Model(contentsOf: model)).isQuick else { return }
      var calls = LibraryCalls(bytes: bytes.prefix(LibraryCalls.byteCount))
      try calls.run(on: model)
    })
}

/// Correct and incorrect uses of handles by a C program. Its pointers inside values are valid,
/// since the library cannot check them.
private struct LibraryCalls {
  static let byteCount = 96

  enum Kind { case model, state, prediction }

  /// The bytes that determine the next steps; zeros follow the end.
  var bytes: ArraySlice<UInt8>
  /// The first handles are invalid.
  private var handles = ([0, 0x1000, (0xA55A << 48) + 1] as [UInt]).map {
    OpaquePointer(bitPattern: $0)
  }
  private var living: [OpaquePointer: Kind] = [:]
  private var error: UnsafeMutablePointer<CChar>?

  init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  mutating func choice(_ count: Int) -> Int { Int(bytes.popFirst() ?? 0) % count }

  private mutating func handle() -> OpaquePointer? { handles[choice(handles.count)] }

  mutating func run(on path: String) throws {
    defer {
      for handle in living.keys { _ = close(handle) + destroyState(handle) + release(handle) }
    }
    try openWithOptions(path)
    while !bytes.isEmpty {
      switch choice(11) {
      case 0: try openWithOptions(path)
      case 1: try end(.model) { close($0) }
      case 2: try end(.state) { destroyState($0) }
      case 3: try end(.prediction) { release($0) }
      case 4: try keep(createState(handle(), &error), .state)
      case 5:
        let model = handle()
        let (inputs, state) = (Values(&self, model), choice(2) == 0 ? nil : handle())
        try keep(inputs.withValues { predict(model, $0, $1, state, &error) }, .prediction)
      case 6:
        let (state, values) = (handle(), Values(&self, handle()))
        let done = values.withValues { values, count in
          writeState(state, count > 0 ? values : nil, &error)
        }
        try require((done == 1) == (error == nil))
      case 7: try look(at: describe(handle()))
      case 8: _ = warnings(handle()).map { strlen($0) }
      case 9:
        var count = 0
        let values = outputs(handle(), &count)
        for index in 0..<count { try values.map { try look(at: $0[index]) } }
      default:
        let (state, model) = (handle(), handle())
        let name = describe(model)?.pointee.states?.pointee.name
        let value = readState(state, name, &error)
        try require((value == nil) == (error != nil))
        try value.map { try look(at: $0.pointee) }
      }
      freeText(error)
      error = nil
    }
  }

  private mutating func openWithOptions(_ path: String) throws {
    var options = assay_options()
    options.size = [MemoryLayout<assay_options>.size, 0, 8, 56, .max][max(0, choice(16) - 11)]
    options.threads = Int32([1, 2, 1, -1][choice(4)])
    options.layout = Int32(max(0, choice(8) - 5))
    options.max_memory = UInt64([64 << 20, 1][max(0, choice(8) - 6)])
    let text = strdup(["squash", "fit", "main", ""][choice(4)])
    defer { free(text) }
    if choice(4) == 0 { options.resize = UnsafePointer(text) }
    if choice(4) == 0 { options.function = UnsafePointer(text) }
    try keep(open(choice(8) == 0 ? "" : path, &options, &error), .model)
  }

  /// Keeps a new handle, or expects an error.
  private mutating func keep(_ handle: OpaquePointer?, _ kind: Kind) throws {
    try require((handle == nil) == (error != nil))
    guard let handle else { return }
    try require(living[handle] == nil)
    handles.append(handle)
    living[handle] = kind
  }

  private mutating func end(_ kind: Kind, _ call: (OpaquePointer?) -> Int32) throws {
    let given = handle()
    let isOne = given.map { living[$0] == kind } ?? false
    try require((call(given) == 1) == isOne)
    if let given, isOne { living[given] = nil }
  }

  /// Reads everything in the library's results.
  private func look(at description: UnsafePointer<assay_description>?) throws {
    guard let given = description?.pointee else { return }
    for (features, count) in [
      (given.inputs, given.input_count), (given.outputs, given.output_count),
      (given.states, given.state_count),
    ] {
      for index in 0..<count {
        guard let feature = features?[index] else { throw Finding("a feature is missing") }
        try require(
          feature.size == MemoryLayout<assay_feature>.size && strlen(feature.name) < 1 << 20)
        try require((0..<feature.rank).allSatisfy { feature.shape[$0] >= -1 })
      }
    }
  }

  private func look(at value: assay_value) throws {
    try require(value.size == MemoryLayout<assay_value>.size && strlen(value.name) < 1 << 20)
    if Int(value.kind) == ASSAY_KIND_TEXT {
      _ = value.data.map { strlen($0.assumingMemoryBound(to: CChar.self)) }
      return
    }
    let count = (0..<value.rank).reduce(1) { $0 * Int(value.shape[$1]) } * Int(value.type & 0xFF)
    var sum: UInt8 = 0
    for index in 0..<count { sum &+= value.data.load(fromByteOffset: index, as: UInt8.self) }
    try require(sum >= 0)
  }

  private func require(_ condition: Bool) throws {
    if !condition {
      throw Finding(
        "the library does not do what assay.h says: \(error.map { String(cString: $0) } ?? "no error")"
      )
    }
  }
}

/// Inputs, or a state, for a model or for none.
private final class Values {
  /// Arrays with any strides stay inside, since they start near the middle.
  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
  private var values: [assay_value] = []
  private var blocks: [UnsafeMutableRawPointer] = []

  init(_ calls: inout LibraryCalls, _ model: OpaquePointer?) {
    memory.initializeMemory(as: UInt8.self, repeating: UInt8(calls.choice(256)))
    memory[memory.count - 1] = 0
    let description = describe(model)?.pointee
    for index in 0..<(description?.input_count ?? 1) {
      let feature = description?.inputs[index]
      var value = assay_value()
      value.size = [MemoryLayout<assay_value>.size, 0, 8, -1][max(0, calls.choice(16) - 12)]
      value.name = feature?.name ?? UnsafePointer(kept(Array("x".utf8CString)))
      (value.kind, value.type) = (feature?.kind ?? 1, feature?.type ?? 26116)
      var shape = feature.map { feature in (0..<feature.rank).map { feature.shape[$0] } } ?? [2, 3]
      // Other kinds and types than declared, with few or impossible elements.
      if calls.choice(3) == 0 { value.kind = Int32(calls.choice(8)) }
      if calls.choice(3) == 0 {
        value.type = Int32(calls.choice(3) << 8 | calls.choice(10)) + 0x6200
      }
      let isLarge = shape.reduce(1) { min(1 << 30, $0 * max(1, $1)) } > 1 << 15
      if isLarge || value.kind == 5 || calls.choice(3) == 0 {
        shape = (0..<(value.kind == 5 ? 1 : calls.choice(10))).map { _ in
          [0, 1, 2, 3, 1, 2, 3, -1, .min, .max][calls.choice(10)]
        }
        if calls.choice(2) == 0 {
          value.strides = kept(shape.map { _ in Int64(calls.choice(129)) - 64 })
        }
      }
      value.rank = shape.count
      if calls.choice(8) > 0 { value.shape = kept(shape) }
      if calls.choice(8) > 0 {
        value.data = UnsafeRawPointer(memory.baseAddress! + memory.count / 2)
      }
      if calls.choice(2) == 0 { value.number_keys = kept([Int64](repeating: 7, count: 4)) }
      values.append(value)
    }
  }

  deinit {
    memory.deallocate()
    for block in blocks { block.deallocate() }
  }

  func withValues<Result>(_ body: (UnsafePointer<assay_value>, Int) -> Result) -> Result {
    withExtendedLifetime(self) {
      values.withUnsafeBufferPointer { body($0.baseAddress!, $0.count) }
    }
  }

  private func kept<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
    copy.initialize(from: elements, count: elements.count)
    blocks.append(UnsafeMutableRawPointer(copy))
    return UnsafePointer(copy)
  }
}
