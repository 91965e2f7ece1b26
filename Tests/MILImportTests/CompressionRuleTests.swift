import CoreMLModel
import TensorCore
import Testing

@testable import MILImport

/// Compressed constants as weights of layers. Expected values are those of the definitions in single
/// precision, (data − offset) · scale and lut[index], each computed here.
struct CompressionRuleTests {
  /// What an operation with these constants as attributes computes.
  private static func result(
    _ type: String, _ arguments: [(String, MILValue)], _ element: MILDataType = .float32
  ) throws -> MILElements {
    var operation = MILOperation()
    operation.type = type
    operation.attributes = arguments.map { MILAttribute($0.0, $0.1) }
    operation.outputs = [MILNamedType("w", MILValueType(element, [2, 3]))]
    let lowering = ProgramLowering(MILProgram(), values: nil, keepsStates: false)
    try lowering.lower(operation)
    return try #require(lowering.value("w").constant)
  }

  private static func scaled(
    _ codes: [Int8], scale: [Float], offset: [Float]? = nil, _ type: MILDataType = .float32
  ) throws -> MILElements {
    var arguments = [
      ("data", MILValue(.int8, [2, 3], .bytes(Bytes(codes)))),
      ("scale", MILValue(numbers: scale, [scale.count, 1], type)),
    ]
    if let offset {
      arguments.append(("offset", MILValue(numbers: offset, [offset.count, 1], type)))
    }
    return try result("constexpr_blockwise_shift_scale", arguments, type)
  }

  private static let codes: [Int8] = [-128, -1, 0, 1, 77, 127]

  /// The bits of w as a weight of a layer are those of `value` for each code and row.
  private static func expect(
    _ weights: Weights, _ value: (Float, Int) -> Float,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let found = try weights.values(shape: [2, 3]).array()
    let expected = codes.enumerated().map { value(Float($1), $0 / 3) }
    #expect(found.map(\.bitPattern) == expected.map(\.bitPattern), sourceLocation: location)
  }

  /// 128 · scale is exact, so a layer's code + 128 with the bias −128 · scale has the same value.
  @Test func symmetricCodesRemainCodes() throws {
    let scale: [Float] = [0.1, 3.7e-3]
    let elements = try Self.scaled(Self.codes, scale: scale)
    let rows = try elements.weights(scalesRows: true)
    #expect(rows.rawValue.array(of: UInt8.self) == [0, 127, 128, 129, 205, 255])
    try Self.expect(rows) { $0 * scale[$1] }
    // A transposed convolution has its channels along another axis.
    let other = try elements.weights()
    #expect(other.rawValue.count == 0)
    try Self.expect(other) { $0 * scale[$1] }
    #expect(try elements.floats() == other.values(shape: [2, 3]).array())
  }

  /// 0.1 · (128 + 5) is not a number in single precision: the layer's sum could be rounded otherwise.
  @Test func inexactBiasesAreExpanded() throws {
    let (scale, offset) = ([0.1, 0.3] as [Float], [5, 6] as [Float])
    let weights = try Self.scaled(Self.codes, scale: scale, offset: offset)
      .weights(scalesRows: true)
    #expect(weights.rawValue.count == 0)
    try Self.expect(weights) { ($0 - offset[$1]) * scale[$1] }
  }

  /// Products of scales and codes are exact in single precision; the layer rounds them to half.
  @Test(arguments: [nil, [5, -6], [127.9375, -0.25]] as [[Float]?])
  func halvesRemainCodes(_ offset: [Float]?) throws {
    let scale = [Half.rounded(Float(0.1)), Half.rounded(Float(3e-6))]
    let weights = try Self.scaled(Self.codes, scale: scale, offset: offset, .float16)
      .weights(scalesRows: true)
    #expect(weights.rawValue.count == 6)
    let found = try weights.values(shape: [2, 3]).array()
    let expected = Self.codes.enumerated().map {
      Float(Float16((Float($1) - (offset?[$0 / 3] ?? 0)) * scale[$0 / 3]))
    }
    #expect(found == expected)
  }

  /// 600 · 127 is infinite in half precision.
  @Test func halvesThatOverflowAreInfinite() throws {
    let weights = try Self.scaled(Self.codes, scale: [0.1, 600], .float16).weights(scalesRows: true)
    #expect(weights.rawValue.count == 6)
    #expect(try weights.values(shape: [2, 3]).array().suffix(2) == [46_208, .infinity])
  }

  /// With one scale, each code has one value, even rounded to half precision.
  @Test func oneScaleBecomesATable() throws {
    let scale = Half.rounded(Float(0.1))
    let weights = try Self.scaled(Self.codes, scale: [0.1], offset: [5], .float16).weights()
    #expect(weights.rawValue.count == 6)
    try Self.expect(weights) { code, _ in Half.rounded((code - 5) * scale) }
  }

  /// Indices of three bits: a program's start with the lowest bits of a byte, a layer's with the
  /// highest. 1, 2, 3, 4, 5 and 7 are 0b11_010_001 and 0b1_101_100 plus 0b11, or 0b001_010_01,
  /// 0b1_100_101_1 and 0b11.
  @Test func tablesRemainTables() throws {
    let table: [Float] = [0, 0.5, -1, 2, 3, 5, 8, 13]
    let indices = Bytes([0b1101_0001, 0b1101_1000, 0b11] as [UInt8])
    let expected: [Float] = [0.5, -1, 2, 3, 5, 13]
    let old = try Self.result(
      "constexpr_lut_to_dense",
      [
        ("indices", MILValue(.uint8, [3], .bytes(indices))),
        ("lut", MILValue(numbers: table, [8], .float32)), ("shape", MILValue(ints: [2, 3], [2])),
      ])
    let new = try Self.result(
      "constexpr_lut_to_dense",
      [
        ("indices", MILValue(.uint3, [2, 3], .bytes(indices))),
        ("lut", MILValue(numbers: table, [1, 1, 8, 1], .float32)),
      ])
    for elements in [old, new] {
      let weights = try elements.weights()
      #expect(
        weights.rawValue.array(of: UInt8.self) == [0b0010_1001, 0b1100_1011, 0b1100_0000])
      #expect(try weights.values(shape: [2, 3]).array() == expected)
      #expect(try elements.floats() == expected && elements.shape == [2, 3])
    }
  }
}
