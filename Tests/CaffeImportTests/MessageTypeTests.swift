import Testing

@testable import CaffeFormat
@testable import CaffeImport

/// Names, numbers and defaults from `caffe.proto`.
@Suite struct MessageTypeTests {
  @Test func readsNumbersAndDefaults() throws {
    let layer = MessageType.layer
    #expect(layer[106]?.name == "convolution_param")
    #expect(layer["blobs"]?.isRepeated == true)
    let convolution = layer.message("convolution_param")
    #expect(convolution["bias_term"]?.standard?.bool == true)
    #expect(convolution["group"]?.standard?.integer == 1)
    let pooling = layer.message("pooling_param")
    #expect(pooling["pool"]?.standard?.symbol == "MAX")
    let filler = convolution.message("weight_filler")
    #expect(filler["type"]?.standard?.string == "constant")
    #expect(filler["sparse"]?.standard?.integer == -1)
    #expect(layer.message("lrn_param")["beta"]?.standard?.number == 0.75)
  }
}
