import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Files with some changed bytes run or produce an error; nothing ends the process.
@Suite struct MutatedModelTests {
  @Test func mutatedModelsRunOrGiveAnError() throws {
    let rounds = Int(ProcessInfo.processInfo.environment["ASSAY_MUTATIONS"] ?? "") ?? 3
    var random = SplitMix64(seed: UInt64(rounds))
    var (ran, refused) = (0, 0)
    try withTemporaryFolder { folder in
      for (name, bytes) in try originals(in: folder) {
        // Enough of the generated models, so that some still run.
        for _ in 0..<(name == "own" ? 20 * rounds : rounds) {
          let path = "\(folder)/model.mlmodel"
          try writeFile(bytes.withBytesReplaced(&random), to: path)
          do {
            try predict(path)
            ran += 1
          } catch let error as ModelError {
            #expect(error.code != .internal, "\(name): \(error)")
            refused += 1
          }
        }
      }
    }
    print("\(ran) mutated models ran, \(refused) were refused")
    #expect(ran > 0 && refused > 0)
  }

  private func predict(_ path: String) throws {
    let model = try Model(contentsOf: path)
    var options = CompileOptions()
    options.threads = 1
    options.maxMemory = 64 << 20
    options.keep = .all
    let network = try CompiledNetwork(model: model, options: options)
    guard network.steps.reduce(0, { $0 + $1.multiplyAdds }) < 50_000_000 else { return }
    var inputs: [String: Tensor] = [:]
    for feature in network.inputs { inputs[feature.name] = Tensor(shape: feature.shape) }
    _ = try network.predict(inputs)
  }

  /// Generated networks, and the small models of the corpus if it exists.
  private func originals(in folder: String) throws -> [(String, [UInt8])] {
    let own = try ownModels().map { model in
      var model = model
      model.specificationVersion = 4
      try model.write(to: folder + "/own.mlmodel")
      return ("own", try fileBytes(folder + "/own.mlmodel"))
    }
    let corpus = try Shared.files(below: "corpus", endingIn: "coremltools.mlmodel").map {
      ($0, try fileBytes($0))
    }
    return own + corpus.filter { $0.1.count < 6000 }
  }

  private func ownModels() -> [Model] {
    var pooling = Pooling()
    pooling.kernelSize = [2, 2]
    pooling.stride = [2, 2]
    var padding = Padding()
    padding.kind = .reflection
    padding.paddingAmounts = BorderAmounts(top: 1, bottom: 1, left: 1, right: 1)
    var upsample = Upsample()
    upsample.scalingFactor = [2, 2]
    upsample.mode = .bilinear
    var resize = ResizeBilinear()
    resize.targetSize = [4, 5]
    var slice = Slice()
    slice.startIndex = 1
    slice.endIndex = 4
    slice.stride = 1
    var reorganize = ReorganizeData()
    reorganize.mode = .spaceToDepth
    reorganize.blockSize = 2
    var reduce = Reduce()
    reduce.mode = .max
    reduce.axis = .hw
    return [
      TestNetwork.model(
        [2, 4, 4],
        [
          TestNetwork.layer("c", TestNetwork.convolution(2, 4), "in", "a"),
          TestNetwork.layer("p", pooling, "a", "b"),
          TestNetwork.layer("q", padding, "b", "c"),
          TestNetwork.layer("u", upsample, "c", "d"),
          TestNetwork.layer("r", resize, "d", "out"),
        ]),
      TestNetwork.model(
        [4, 4, 4],
        [
          TestNetwork.layer("s", slice, "in", "a"), TestNetwork.layer("o", reorganize, "a", "b"),
          TestNetwork.layer("n", TestNetwork.batchnorm(12), "b", "c"),
          TestNetwork.layer("r", reduce, "c", "d"), TestNetwork.layer("x", Softmax(), "d", "out"),
        ]),
    ]
  }
}
