import TensorCore

/// A network in kraken's Variable-size Graph Specification Language, such as
/// `[1,48,0,1 Cr{C_0}3,3,32 Mp{Mp_1}2,2 S{S_2}1(1x0)1,3 Lbx{L_3}200 Do{Do_4} O{O_5}1c59]`.
///
/// Source: kraken's `vgsl.py`. Sizes are height before width; axis 0 is the batch, 1 the height, 2
/// the width and 3 the depth.
struct VGSLSpecification {
  /// What a block does to its input blob `[1, C, H, W]`.
  enum Operation {
    case convolution(VGSLConvolution)
    case maxPooling(kernel: [Int], stride: [Int])
    case groupNormalization
    case lstm(VGSLRecurrence)
    /// Axes in the order N, C, H, W.
    case reshape(axis: Int, parts: [Int], high: Int, low: Int)
    case addition(axis: Int, chunk: Int)
    /// Dropout and the identity.
    case nothing
    /// A product with a matrix at every position, and softmax over the channels.
    case labels(Int)
  }

  struct Block {
    /// The text of the block in the specification.
    var text: String
    /// The layer that stores its weights; empty if the block has no name.
    var name: String
    var operation: Operation
  }

  /// The sizes of the input; 0 means any.
  var height: Int
  var width: Int
  var depth: Int
  var blocks: [Block]

  /// - Throws: `ModelError` with the block, if it is malformed or not supported.
  init(_ text: String) throws {
    let trimmed = text.split(separator: " ").joined(separator: " ")
    try require(
      trimmed.utf8.count <= 1 << 16 && trimmed.hasPrefix("[") && trimmed.hasSuffix("]"),
      "'\(text.prefix(80))' is not a list of blocks in brackets")
    var words = trimmed.dropFirst().dropLast().split(separator: " ").map(String.init)[...]
    var head = BlockText(words.popFirst() ?? "")
    let sizes = try head.numbers(4)
    try head.end()
    (height, width, depth) = (sizes[1], sizes[2], sizes[3])
    try require(depth > 0, "the input '\(head.text)' has no depth")
    blocks = try words.map { try Block($0) }
    try require(!blocks.isEmpty, "it has no blocks")
  }
}

struct VGSLConvolution {
  var kernel: [Int]
  var channels: Int
  var stride = [1, 1]
  var dilation = [1, 1]
  var activation: Activation?
  var hasSoftmax = false

  /// - Parameter nonlinearity: `s`, `t`, `r`, `lr`, `m` or `l`.
  init(_ nonlinearity: String, kernel: [Int], channels: Int) {
    self.kernel = kernel
    self.channels = channels
    switch nonlinearity {
    case "s": activation = Activation(.sigmoid)
    case "t": activation = Activation(.tanh)
    case "r": activation = Activation(.relu)
    case "lr": activation = Activation(.leakyReLU(alpha: 0.01))
    case "m": hasSoftmax = true
    default: break
    }
  }
}

struct VGSLRecurrence {
  var isBidirectional: Bool
  /// Whether it runs along the height instead of the width.
  var isVertical: Bool
  /// Whether only the last position along the axis is kept.
  var isSummarizing: Bool
  var units: Int
}

extension VGSLSpecification.Block {
  init(_ text: String) throws {
    var rest = BlockText(text)
    self.text = text
    name = ""
    operation = .nothing
    operation = try read(&rest)
    try rest.end()
  }

  private mutating func read(_ rest: inout BlockText) throws -> VGSLSpecification.Operation {
    if rest.skip("Gn") {
      name = try rest.name()
      _ = try rest.numbers(1)
      return .groupNormalization
    }
    if rest.skip("Mp") {
      name = try rest.name()
      let kernel = try rest.sizes(2)
      return .maxPooling(kernel: kernel, stride: rest.skip(",") ? try rest.sizes(2) : kernel)
    }
    if rest.skip("Do") || rest.skip("I") {
      name = try rest.name()
      // Probability and axis only matter in training.
      rest.skipAll { $0.isNumber || $0 == "." || $0 == "," }
      return .nothing
    }
    if rest.skip("C") { return try readConvolution(&rest) }
    if rest.skip("L") { return try readLSTM(&rest) }
    if rest.skip("S") {
      name = try rest.name()
      let axis = try rest.axis()
      try rest.expect("(")
      let first = try rest.number()
      try rest.expect("x")
      let parts = [first, try rest.number()].map { $0 == 0 ? -1 : $0 }
      try rest.expect(")")
      let high = try rest.axis()
      try rest.expect(",")
      return .reshape(axis: axis, parts: parts, high: high, low: try rest.axis())
    }
    if rest.skip("A") {
      name = try rest.name()
      let axis = try rest.axis()
      try rest.expect(",")
      return .addition(axis: axis, chunk: try rest.sizes(1)[0])
    }
    if rest.skip("O") { return try readOutput(&rest) }
    throw rest.unsupported("a block of this kind")
  }

  private mutating func readConvolution(
    _ rest: inout BlockText
  ) throws -> VGSLSpecification.Operation {
    if rest.skip("T") { throw rest.unsupported("a transposed convolution") }
    guard let nonlinearity = ["lr", "s", "t", "r", "l", "m"].first(where: { rest.skip($0) })
    else { throw rest.unsupported("this nonlinearity") }
    name = try rest.name()
    let kernel = try rest.sizes(2)
    try rest.expect(",")
    var convolution = VGSLConvolution(nonlinearity, kernel: kernel, channels: try rest.sizes(1)[0])
    if rest.skip(",") { convolution.stride = try rest.sizes(2) }
    if rest.skip(",") { convolution.dilation = try rest.sizes(2) }
    return .convolution(convolution)
  }

  private mutating func readLSTM(_ rest: inout BlockText) throws -> VGSLSpecification.Operation {
    let isBidirectional = rest.skip("b")
    // kraken runs 'r' forward, contrary to its documentation.
    guard isBidirectional || rest.skip("f") else { throw rest.unsupported("this direction") }
    let isVertical = rest.skip("y")
    if !isVertical { try rest.expect("x") }
    let isSummarizing = rest.skip("s")
    if rest.skip("c") || rest.skip("o") {
      throw rest.unsupported("an LSTM of CLSTM or OCRopus, with a column of ones")
    }
    name = try rest.name()
    return .lstm(
      VGSLRecurrence(
        isBidirectional: isBidirectional, isVertical: isVertical, isSummarizing: isSummarizing,
        units: try rest.sizes(1)[0]))
  }

  private mutating func readOutput(_ rest: inout BlockText) throws -> VGSLSpecification.Operation {
    name = try rest.name()
    if rest.skip("2") {
      let isSoftmax = !rest.skip("l")
      if isSoftmax { try rest.expect("s") }
      return .convolution(
        VGSLConvolution(isSoftmax ? "m" : "s", kernel: [1, 1], channels: try rest.sizes(1)[0]))
    }
    guard rest.skip("1") else { throw rest.unsupported("an output of this dimension") }
    guard ["c", "s", "l"].contains(where: { rest.skip($0) }) else {
      throw rest.unsupported("an output of this type")
    }
    if rest.skip("a") { throw rest.unsupported("an output with a column of ones") }
    return .labels(try rest.sizes(1)[0])
  }
}

/// The unread rest of a block.
private struct BlockText {
  let text: String
  private var rest: Substring

  init(_ text: String) {
    self.text = text
    rest = text[...]
  }

  mutating func skip(_ prefix: String) -> Bool {
    guard rest.hasPrefix(prefix) else { return false }
    rest = rest.dropFirst(prefix.count)
    return true
  }

  mutating func skipAll(where isSkipped: (Character) -> Bool) { rest = rest.drop(while: isSkipped) }

  mutating func expect(_ prefix: String) throws {
    if !skip(prefix) { throw malformed("'\(prefix)' is missing before '\(rest.prefix(20))'") }
  }

  func end() throws { if !rest.isEmpty { throw malformed("'\(rest.prefix(20))' is left") } }

  mutating func name() throws -> String {
    guard skip("{") else { return "" }
    let name = rest.prefix { $0 != "}" }
    rest = rest.dropFirst(name.count)
    try expect("}")
    return String(name)
  }

  /// Reads a number of at most `Limits.dimension`.
  mutating func number() throws -> Int {
    let digits = rest.prefix { ("0"..."9").contains($0) }
    guard digits.utf8.count <= 18, let number = Int(digits), number <= Limits.dimension else {
      throw malformed("'\(rest.prefix(20))' does not start with a size")
    }
    rest = rest.dropFirst(digits.count)
    return number
  }

  mutating func numbers(_ count: Int) throws -> [Int] {
    try (0..<count).map { index in
      if index > 0 { try expect(",") }
      return try number()
    }
  }

  /// Reads positive numbers.
  mutating func sizes(_ count: Int) throws -> [Int] {
    let sizes = try numbers(count)
    if sizes.contains(0) { throw malformed("a size is 0") }
    return sizes
  }

  /// Reads an axis of N, H, W, C and converts it to N, C, H, W.
  mutating func axis() throws -> Int {
    let axis = try number()
    guard axis < 4 else { throw malformed("there is no axis \(axis)") }
    return [0, 2, 3, 1][axis]
  }

  func malformed(_ message: String) -> ModelError {
    ModelError(.malformed, "block '\(text.prefix(80))': \(message)")
  }

  func unsupported(_ what: String) -> ModelError {
    ModelError(
      .unsupported, "block '\(text.prefix(80))': \(what) is not supported",
      hint: "blocks C, Mp, Gn, Lf, Lb, S, A, Do, I, O1 and O2 in series are supported")
  }
}
