import CoreMLModel
import TensorCore
import Testing

@testable import Assay

@Suite struct SourceLayoutTests {
  @Test func imagesGoToPlanesAndBack() throws {
    let layout = try #require(SourceLayout("NHWC"))
    let image = Tensor(shape: [1, 1, 2, 3], [1, 2, 3, 4, 5, 6])
    let blob = try layout.canonical(image, feature: "image")
    #expect(blob == Tensor(shape: [1, 1, 3, 1, 2], [1, 4, 2, 5, 3, 6]))
    #expect(layout.source(blob) == image)
  }

  @Test func sequencesComeFirst() throws {
    let layout = try #require(SourceLayout("NTC"))
    let array = Tensor(shape: [2, 3, 1], [1, 2, 3, 4, 5, 6])
    let blob = try layout.canonical(array, feature: "x")
    #expect(blob == Tensor(shape: [3, 2, 1, 1, 1], [1, 4, 2, 5, 3, 6]))
    #expect(layout.source(blob) == array)
  }

  @Test func theBatchMayBeLeftOut() throws {
    let layout = try #require(SourceLayout("NC"))
    #expect(try layout.canonical(Tensor(shape: [4]), feature: "x").shape == [1, 1, 4, 1, 1])
    #expect(throws: ModelError.self) { try layout.canonical(Tensor(shape: []), feature: "x") }
  }

  @Test func stepsAreThoseOfTheRecordedShape() throws {
    let layout = try #require(SourceLayout("NTC"))
    func steps(_ text: String?) -> Int? {
      var model = Model()
      model.description = ModelDescription()
      model.description?.metadata = Metadata()
      model.description?.metadata?.userDefined["assay.shape.x"] = text
      return layout.steps(of: "x", in: model)
    }
    #expect(steps("?,10,3") == 10)
    for text in [nil, "?,?,3", "?,10", "?,0,3", "?,-4,3", "?,99999999999999999999,3", ""] {
      #expect(steps(text) == nil, "\(text ?? "nil")")
    }
  }

  @Test func unknownOrDoubleLettersAreNoLayout() {
    #expect(SourceLayout("NXC") == nil && SourceLayout("NCC") == nil && SourceLayout("") == nil)
  }
}
