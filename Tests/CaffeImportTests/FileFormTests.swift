import CaffeFormat
import CoreMLModel
import HDF5Library
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// One network in every file format; `Fixtures/caffe/make.py` writes them.
@Suite struct FileFormTests {
  private func model(_ network: String, _ weights: String?) throws -> Converted {
    let source = try CaffeSource.load(
      fixtures.path(network), weights: weights.map(fixtures.path), access: .inProcess)
    return Converted(result: try CaffeImporter.convert(source))
  }

  @Test(arguments: [
    ("v2.prototxt", "double.caffemodel"), ("v2.prototxt", "half.caffemodel"),
    ("v2.prototxt", "loose.caffemodel"), ("v2.prototxt", "hdf5.caffemodel.h5"),
    ("v2.prototxt", "v1.caffemodel"), ("v2.prototxt", "v0.caffemodel"),
    ("v1.prototxt", "v1.caffemodel"), ("v1.prototxt", "single.caffemodel"),
    ("v0.prototxt", "v0.caffemodel"), ("v0.prototxt", "hdf5.caffemodel.h5"),
    ("single.caffemodel", "v2.prototxt"), ("whole.caffemodel", nil),
  ])
  func everyFormIsTheSameNetwork(_ network: String, _ weights: String?) throws {
    let expected = try model("v2.prototxt", "single.caffemodel")
    let found = try model(network, weights)
    #expect(found.layers == expected.layers)
    #expect(found.result.model.description?.input == expected.result.model.description?.input)
    #expect(found.result.model.description?.output == expected.result.model.description?.output)
  }

  @Test func weightsStayInTheMappedFile() throws {
    let source = try CaffeSource.load(
      fixtures.path("v2.prototxt"), weights: fixtures.path("single.caffemodel"))
    let blob = try #require(source.weights?["fc"]?.first)
    guard case .single(let values) = blob.storage else {
      Issue.record("\(blob.storage)")
      return
    }
    #expect(values.contiguousBytes != nil)
    #expect(try blob.values().contiguousBytes == values.contiguousBytes)
  }

  @Test func readsMeanImages() throws {
    let binary = try MeanImage(contentsOf: fixtures.path("mean.binaryproto"))
    var array = try MeanImage(contentsOf: fixtures.path("mean.npy"))
    array.name = binary.name
    #expect(binary == array)
    #expect((binary.channels, binary.height, binary.width) == (3, 8, 8))
    #expect(binary.values == (0..<192).map { Float($0) / 4 })
  }

  @Test func aMeanImageIsCroppedToItsMiddle() throws {
    var options = ConversionOptions()
    options.imageInputs = ["data"]
    options.preprocessing.meanImage.all = try MeanImage(
      contentsOf: fixtures.path("mean.binaryproto"))
    let source = try CaffeSource.load(
      fixtures.path("v2.prototxt"), weights: fixtures.path("single.caffemodel"))
    let model = try CaffeImporter.convert(source, options: options).model
    guard case .meanImage(let mean)? = model.neuralNetwork?.preprocessing.first?.preprocessor
    else {
      Issue.record("no mean image")
      return
    }
    // Rows and columns 1 to 6 of 8 × 8.
    var expected: [Float] = []
    for channel in 0..<3 {
      for row in 1..<7 {
        for column in 1..<7 { expected.append(Float(channel * 64 + row * 8 + column) / 4) }
      }
    }
    #expect(mean.meanImage == expected)
  }

  @Test func aSmallerMeanImageIsRefused() throws {
    let mean = try MeanImage(
      name: "m", channels: 1, height: 2, width: 9, values: .init(repeating: 0, count: 18))
    var options = ConversionOptions()
    options.imageInputs = ["data"]
    options.preprocessing.meanImage.named["data"] = mean
    let text = input("data", 1, 1, 3, 3) + layer("r", "ReLU", "data", "r")
    #expect(modelError { try convert(text, options: options) }?.code == .mismatch)
  }

  @Test func namesTheFileThatIsNotWhatItShouldBe() throws {
    func error(_ network: String, _ weights: String?) -> ModelError? {
      modelError {
        try CaffeSource.load(
          network, weights: weights, access: .inProcess)
      }
    }
    let text = fixtures.path("v2.prototxt")
    #expect(error(text, text)?.file == text)
    #expect(error(text, text)?.code == .mismatch)
    #expect(error(fixtures.path("hdf5.caffemodel.h5"), nil)?.message.contains("no network") == true)
    #expect(
      error(fixtures.path("v2.prototxt"), fixtures.path("input.npy"))?.file?.hasSuffix("input.npy")
        == true)
    #expect(error(text, "/nowhere.caffemodel")?.code == .missingFile)
  }
}
