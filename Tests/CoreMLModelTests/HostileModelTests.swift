import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

/// Reading arbitrary bytes produces a model or an error.
struct HostileModelTests {
  /// A small network with a large weight, so that there are payloads outside the skeleton.
  static let sample: [UInt8] = {
    var convolution = Convolution()
    convolution.outputChannels = 20
    convolution.kernelChannels = 3
    convolution.kernelSize = [3, 3]
    convolution.padding = .valid(ValidPadding())
    convolution.kernel = Weights((0..<540).map { Float($0) })
    var custom = Custom()
    custom.className = "Swish"
    custom.parameters = ["beta": .double(1), "n": .long(3), "none": nil, "s": .string("x")]
    custom.blobs = [Weights([1, 2, 3])]
    let activation = Activation(.prelu(alpha: Weights([0.5])))
    var network = NeuralNetwork()
    network.layers = [
      NeuralNetworkLayer("c", convolution, input: ["image"], output: ["a"]),
      NeuralNetworkLayer("p", activation, input: ["a"], output: ["b"]),
      NeuralNetworkLayer("s", custom, input: ["b"], output: ["out"]),
    ]
    // An unknown field of the activation, which is field 130 of the layer.
    network.layers[1].unknownFields.fields = [
      .init(
        number: 77, wireType: 0, payload: Bytes([5 as UInt8]), path: [.init(field: 130, index: 0)])
    ]
    var classifier = NeuralNetworkClassifier()
    classifier.network = network
    classifier.classLabels = .string(["one", "two", "drei"])
    var model = Model()
    model.specificationVersion = 2
    model.description?.input = [
      FeatureDescription(
        name: "image", kind: .image(ImageFeatureType(width: 9, height: 9, colorSpace: .rgb)))
    ]
    model.description?.output = [
      FeatureDescription(
        name: "out", kind: .multiArray(ArrayFeatureType(shape: [20], dataType: .double)))
    ]
    model.description?.metadata = Metadata()
    model.description?.metadata?.userDefined = ["a": "1", "b": "2"]
    model.type = .neuralNetworkClassifier(classifier)
    return (try? model.encoded()) ?? []
  }()

  /// Reads the bytes, and uses the result like the program.
  static func exercise(_ bytes: [UInt8]) {
    guard let model = try? Model(bytes: Bytes(bytes)) else { return }
    _ = model.validate()
    _ = model.minimumSpecificationVersion
    _ = try? model.descriptionText
    _ = try? model.encoded()
    for layer in model.neuralNetwork?.layers ?? [] {
      for weights in layer.parameters?.weights ?? [] { _ = try? weights.decoded() }
    }
  }

  @Test func everyPrefix() throws {
    #expect(!Self.sample.isEmpty)
    _ = try Model(bytes: Bytes(Self.sample))
    var refused = 0
    for length in 0..<Self.sample.count {
      let prefix = Array(Self.sample[..<length])
      if (try? Model(bytes: Bytes(prefix))) == nil { refused += 1 }
      Self.exercise(prefix)
    }
    // Only truncation between two fields of the outermost message leaves a valid one.
    #expect(refused >= Self.sample.count - 3)
  }

  @Test(.shared("corpus")) func everyPrefixOfSmallFiles() throws {
    for path in sharedModels {
      let bytes = try fileBytes(path)
      if bytes.count > 1500 { continue }
      for length in 0..<bytes.count { Self.exercise(Array(bytes[..<length])) }
    }
  }

  @Test(arguments: 0..<4) func mutations(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<800 { Self.exercise(Self.sample.damaged(&random)) }
  }

  /// Field 202 of a model is a pipeline; its field 1 contains models.
  @Test func deepNesting() {
    func nested(_ depth: Int) -> [UInt8] {
      var bytes: [UInt8] = []
      for _ in 0..<depth {
        bytes = [0x0A] + varint(bytes.count) + bytes
        bytes = [0xD2, 0x0C] + varint(bytes.count) + bytes
      }
      return bytes
    }
    #expect(throws: Never.self) { try Model(bytes: Bytes(nested(20))) }
    for depth in [33, 100, 3000] {
      #expect {
        try Model(bytes: Bytes(nested(depth)))
      } throws: {
        ($0 as? ModelError)?.code == .limitExceeded
      }
    }
  }

  /// A model in memory that is nested too deeply is rejected, too.
  @Test func deepValues() {
    var model = Model()
    for _ in 0..<40 {
      var pipeline = Pipeline()
      pipeline.models = [model]
      var outer = Model()
      outer.type = .pipeline(pipeline)
      model = outer
    }
    let deep = model
    #expect(throws: ModelError.self) { try deep.encoded() }
  }

  /// 20 MB of empty layers would unpack to more than a gigabyte.
  @Test func amplification() throws {
    var empty: [UInt8] = [0x0A, 0]
    while empty.count < 20 << 20 { empty += empty }
    let bytes = [0xA2, 0x1F] + varint(empty.count) + empty
    let clock = ContinuousClock()
    let time = clock.measure {
      #expect {
        try Model(bytes: Bytes(bytes))
      } throws: {
        ($0 as? ModelError)?.code == .limitExceeded
      }
    }
    #expect(time < .seconds(10))
  }

  @Test func errorsNameThePlace() throws {
    // specificationVersion 1; neuralNetwork (500) with a layer with a truncated name.
    let broken: [UInt8] = [0x08, 1, 0xA2, 0x1F, 4, 0x0A, 2, 0x0A, 9]
    let error = #expect(throws: ModelError.self) { try Model(bytes: Bytes(broken)) }
    #expect(error?.field == "neuralNetwork.layers")
    #expect(error?.message.contains("byte 7") ?? false)
    // A pooling layer, "p", of type 7.
    let unknown: [UInt8] = [0xA2, 0x1F, 10, 0x0A, 8, 0x0A, 1, 0x70, 0xC2, 0x07, 2, 0x08, 7]
    let second = #expect(throws: ModelError.self) { try Model(bytes: Bytes(unknown)) }
    #expect(second?.layer == "p")
    #expect(second?.layerClass == "pooling")
    #expect(second?.field == "type")
    #expect(second?.code == .unsupported)
  }

  /// Whichever allocation fails, unpacking ends without a message.
  @Test func everyAllocationFailsOnce() throws {
    let skeleton = try ProtobufSkeleton(
      of: Bytes(Self.sample), schema: SpecificationSchema.model, budget: 1 << 20)
    var succeeded = 0
    for budget in 0..<6000 {
      let allocator = UnpackAllocator(budget: budget)
      let result = allocator.withUnpacked(skeleton.bytes, SpecificationSchema.descriptor) { _ in
        true
      }
      #expect((result == nil) == allocator.isExhausted)
      if result != nil { succeeded += 1 }
    }
    #expect(succeeded > 0)
    #expect(succeeded < 5000)
  }

  @Test func refusesTheReservedField() {
    var bytes: [UInt8] = []
    bytes += [0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0]
    #expect(throws: ModelError.self) { try Model(bytes: Bytes(bytes)) }
  }

  private func varint(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}

/// Every `.mlmodel` in the shared folder.
let sharedModels = Shared.files(endingIn: ".mlmodel")
