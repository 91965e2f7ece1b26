import TensorCore
import TestSupport
import Testing

@testable import CaffeFormat
@testable import CaffeImport

@Suite struct BinaryReaderTests {
  private func read(_ wire: Wire) throws -> CaffeMessage {
    var reader = BinaryReader(Bytes(wire.bytes))
    return try reader.parse(.network)
  }

  private func blob(_ wire: Wire) throws -> CaffeBlob {
    let layer = Wire().string(1, "a").string(2, "InnerProduct").message(7, wire)
    let message = try read(Wire().message(100, layer)).messages("layer")[0].messages("blobs")[0]
    return try CaffeBlob(message)
  }

  @Test func readsPackedAndLooseFields() throws {
    let parameters = Wire().integer(1, 20).integer(4, 3).integer(4, 5).delimited(6, [2, 1])
    let layer = Wire().string(1, "conv").string(2, "Convolution").string(3, "data")
      .message(106, parameters)
    let network = try read(Wire().string(1, "net").message(100, layer))
    #expect(network.string("name") == "net")
    let convolution = network.messages("layer")[0].message("convolution_param")
    #expect(convolution?.integer("num_output") == 20)
    #expect(convolution?.values("kernel_size").compactMap(\.integer) == [3, 5])
    #expect(convolution?.values("stride").compactMap(\.integer) == [2, 1])
    #expect(convolution?.bool("bias_term") == true)
  }

  @Test func readsNegativeNumbersAndEnumerations() throws {
    let layer = Wire().message(121, Wire().integer(1, 1)).message(125, Wire().integer(2, -1))
    let message = try read(Wire().message(100, layer)).messages("layer")[0]
    #expect(message.message("pooling_param")?.symbol("pool") == "AVE")
    #expect(message.message("softmax_param")?.integer("axis") == -1)
  }

  @Test func readsBlobsOfEveryKind() throws {
    let shape = Wire().delimited(1, [2, 3])
    let values: [Float] = [1, 2, 3, 4, 5, 6]
    let single = try blob(Wire().message(7, shape).packed(5, values))
    #expect(single.shape == [2, 3])
    #expect(try single.values().array() == values)
    let double = try blob(Wire().message(7, shape).packed(8, values.map(Double.init)))
    #expect(try double.values().array() == values)
    // Half floats of 1 to 6.
    let bits: [UInt16] = [0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600]
    let half = try blob(Wire().message(7, shape).integer(10, 2).packed(12, bits))
    #expect(try half.values().array() == values)
    let legacy = try blob(
      Wire().integer(1, 1).integer(2, 1).integer(3, 2).integer(4, 3).packed(5, values))
    #expect(legacy.shape == [1, 1, 2, 3])
    #expect(legacy.fits([2, 3]))
    #expect(!legacy.fits([3, 2]))
    #expect(!single.fits([1, 2, 3]))
  }

  @Test func readsLooseNumbersInPieces() throws {
    let wire = Wire().message(7, Wire().delimited(1, [3])).float(5, 1).float(5, 2).float(5, 3)
    #expect(try blob(wire).values().array() == [1, 2, 3])
    let pieces = Wire().message(7, Wire().delimited(1, [3])).packed(5, [Float(1)])
      .packed(5, [Float(2), 3])
    #expect(try blob(pieces).values().array() == [1, 2, 3])
  }

  @Test func keepsWhatItDoesNotKnow() throws {
    let layer = Wire().string(1, "a").string(9999, "x").message(106, Wire().string(1, "no number"))
    let message = try read(Wire().message(100, layer)).messages("layer")[0]
    #expect(message.unknownFields.map(\.name) == ["#9999", "#106"])
    #expect(message.string("name") == "a")
  }

  @Test func refusesSizesThatDoNotFit() throws {
    let error = modelError {
      try blob(Wire().message(7, Wire().delimited(1, [2, 3])).packed(5, [Float(1)]))
    }
    #expect(error?.code == .malformed)
    let huge = Wire().delimited(1, [0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0xFF, 0xFF, 0xFF, 0xFF, 0x07])
    #expect(modelError { try blob(Wire().message(7, huge)) }?.code == .limitExceeded)
  }

  @Test func limitsDepthAndMemory() throws {
    // Two million empty layers of three bytes each.
    var layers: [UInt8] = [0xA2, 0x06, 0x00]
    while layers.count < 6_000_000 { layers += layers }
    #expect(modelError { try read(Wire(bytes: layers)) }?.code == .limitExceeded)
  }

  @Test func everyPrefixIsAnError() throws {
    let layer = Wire().string(1, "conv").string(2, "ReLU").message(123, Wire().float(1, 0.5))
    let whole = Wire().message(100, layer).bytes
    for count in 1..<whole.count {
      #expect(modelError { try read(Wire(bytes: Array(whole[..<count]))) }?.code == .malformed)
    }
  }
}
