import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

/// The declarations of features.
struct InterfaceTests {
  private func kind(_ model: Model, input: Bool = true) -> FeatureType.Kind? {
    (input ? model.description?.input : model.description?.output)?.first?.type?.kind
  }

  @Test func dataTypesOfOneArrayAndOfAll() throws {
    let one = try Sample.dense.settingArrayType(.float32, of: "output")
    #expect(kind(one) == Sample.array([2]))
    #expect(
      kind(one, input: false)
        == .multiArray(ArrayFeatureType(shape: [2], dataType: .float32)))
    let all = try Sample.pipeline.settingArrayType(.int32)
    for model in [all] + all.pipelineModels {
      #expect(kind(model) == .multiArray(ArrayFeatureType(shape: [2], dataType: .int32)))
    }
    #expect(throws: ModelError.self) { try Sample.dense.settingArrayType(.double, of: "x") }
    #expect(throws: ModelError.self) { try Sample.picture.settingArrayType(.double, of: "input") }
  }

  /// A training input with the name of an input stays the same input.
  @Test func trainingInputs() throws {
    var model = Sample.dense
    let inputs = try #require(model.description?.input)
    model.description?.trainingInput = inputs
    let changed = try model.settingArrayType(.float32)
    #expect(changed.description?.input != inputs)
    #expect(changed.description?.trainingInput == changed.description?.input)
  }

  @Test func optionalInputs() throws {
    let model = try Sample.pipeline.settingOptional(true, "input")
    #expect(model.description?.input[0].type?.isOptional == true)
    #expect(model.pipelineModels[0].description?.input[0].type?.isOptional == true)
    #expect(try model.settingOptional(false, "input") == Sample.pipeline)
    #expect(throws: ModelError.self) { try Sample.dense.settingOptional(true, "output") }
  }

  @Test func colors() throws {
    let bgr = try Sample.picture.settingImage("input", colorSpace: .bgr)
    #expect(kind(bgr) == .image(ImageFeatureType(width: 5, height: 4, colorSpace: .bgr)))
    #expect(bgr.neuralNetwork == Sample.picture.neuralNetwork)
    #expect(throws: ModelError.self) {
      try Sample.picture.settingImage("input", colorSpace: .grayscale)
    }
  }

  @Test func imagesBecomeArraysAndBack() throws {
    let array = try Sample.picture.settingArray("input")
    #expect(kind(array) == Sample.array([3, 4, 5]))
    #expect(array.neuralNetwork?.preprocessing == [])
    let image = try array.settingImage("input")
    #expect(kind(image) == kind(Sample.picture))
    let output = try Sample.picture.settingImage("output", colorSpace: .bgr)
    #expect(
      kind(output, input: false) == .image(ImageFeatureType(width: 5, height: 4, colorSpace: .bgr)))
    // Two values are not an image.
    let error = #expect(throws: ModelError.self) { try Sample.dense.settingImage("input") }
    #expect(error?.field == "input" && error?.hint != nil)
  }

  @Test func flexibleImages() throws {
    let ranged = try Sample.picture.settingShapes(
      .ranges([.init(5, 50), .init(2, -1)]), of: "input")
    var image = ImageFeatureType(width: 5, height: 4, colorSpace: .rgb)
    image.flexibility = .range(width: SizeRange(5, 50), height: SizeRange(2, -1))
    #expect(kind(ranged) == .image(image))
    #expect(ranged.withSufficientVersion(since: Sample.picture).specificationVersion == 3)
    var older = ranged
    older.specificationVersion = 2
    // A version that was too low before the edit is not corrected.
    #expect(older.withSufficientVersion(since: ranged).specificationVersion == 2)
    let listed = try Sample.picture.settingShapes(.enumerated([[10, 8]]), of: "input")
    // The declared size is one of the enumerated sizes.
    image.flexibility = .enumerated([ImageSize(5, 4), ImageSize(10, 8)])
    #expect(kind(listed) == .image(image))
    #expect(try listed.settingShapes(.fixed, of: "input") == Sample.picture)
    let array = try ranged.settingArray("input")
    guard case .multiArray(let type)? = kind(array) else {
      Issue.record("no array")
      return
    }
    #expect(type.flexibility == .range([SizeRange(3, 3), SizeRange(2, -1), SizeRange(5, 50)]))
  }

  @Test func refusesShapesThatLeaveOutItsOwn() {
    for choice: ShapeChoice in [
      .ranges([.init(6, 50), .init(2, -1)]), .ranges([.init(1, 50)]),
      .ranges([.init(0, 50), .init(1, 50)]), .enumerated([[1, 2, 3]]), .enumerated([[0, 4]]),
    ] {
      let error = #expect(throws: ModelError.self) {
        try Sample.picture.settingShapes(choice, of: "input")
      }
      #expect(error?.code == .mismatch)
    }
  }

  @Test func metadata() throws {
    var edit = MetadataEdit()
    edit.author = "A"
    edit.userDefined = ["k": "v", "l": "w"]
    edit.descriptions = ["input": "text"]
    var model = try Sample.dense.editingMetadata(edit)
    #expect(model.description?.metadata?.author == "A")
    #expect(model.description?.input[0].shortDescription == "text")
    edit = MetadataEdit()
    edit.removedKeys = ["k"]
    edit.license = "L"
    model = try model.editingMetadata(edit)
    #expect(model.description?.metadata?.userDefined == ["l": "w"])
    #expect(model.description?.metadata?.author == "A")
    #expect(model.description?.metadata?.license == "L")
    #expect(throws: ModelError.self) { try model.editingMetadata(edit) }
    edit = MetadataEdit()
    edit.descriptions = ["nothing": "text"]
    #expect(throws: ModelError.self) { try model.editingMetadata(edit) }
  }

  @Test func classLabels() throws {
    let model = try Sample.dense.settingClassLabels(.string(["a", "b"]))
    #expect(model.classLabels == .string(["a", "b"]))
    #expect(model.description?.predictedFeatureName == "classLabel")
    #expect(model.description?.output.map(\.name) == ["output", "classLabel"])
    #expect(kind(model, input: false) == .dictionary(.string))
    #expect(model.validate().isEmpty)
    let numbered = try model.settingClassLabels(.int64([7, 8]))
    #expect(kind(numbered, input: false) == .dictionary(.int64))
    #expect(numbered.description?.output[1].type?.kind == .int64)
    var updatable = model
    updatable.description?.trainingInput = model.description?.output ?? []
    let trained = try updatable.settingClassLabels(.int64([7, 8])).description?.trainingInput
    #expect(trained?.first { $0.name == "classLabel" }?.type?.kind == .int64)
    #expect(throws: ModelError.self) { try model.settingClassLabels(.int64([7])) }
    #expect(throws: ModelError.self) { try Sample.dense.settingClassLabels(.int64([1, 2, 3])) }
  }
}
