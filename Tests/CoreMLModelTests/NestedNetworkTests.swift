import TensorCore
import Testing

@testable import CoreMLModel

/// Blobs and shapes of networks inside branches and loops.
@Suite struct NestedNetworkTests {
  private static func network(_ layers: NeuralNetworkLayer...) -> NeuralNetwork {
    var network = NeuralNetwork()
    network.layers = layers
    network.arrayInputShapeMapping = .exact
    return network
  }

  private static func model(_ network: NeuralNetwork) -> Model {
    var model = Model()
    model.specificationVersion = 4
    model.type = .neuralNetwork(network)
    let array = FeatureType.Kind.multiArray(
      ArrayFeatureType(shape: [2, 3], dataType: .float32))
    let flag = FeatureType.Kind.multiArray(ArrayFeatureType(shape: [1], dataType: .float32))
    model.description?.input = [
      FeatureDescription(name: "x", kind: array), FeatureDescription(name: "flag", kind: flag),
    ]
    model.description?.output = [FeatureDescription(name: "y", kind: array)]
    return model
  }

  private static func layer(
    _ name: String, _ parameters: some LayerParameters, _ input: String, _ output: String
  ) -> NeuralNetworkLayer {
    NeuralNetworkLayer(name, parameters, input: [input], output: [output])
  }

  private static func branch(_ first: NeuralNetwork, _ second: NeuralNetwork?) -> Branch {
    var branch = Branch()
    branch.ifBranch = first
    branch.elseBranch = second
    return branch
  }

  private static func transpose(_ axes: [Int]) -> Transpose {
    var transpose = Transpose()
    transpose.axes = axes
    return transpose
  }

  @Test func whatBothBranchesWriteIsKnown() {
    let branch = Self.branch(
      Self.network(Self.layer("a", Sin(), "x", "y")), Self.network(Self.layer("b", Cos(), "x", "y"))
    )
    let network = Self.network(
      NeuralNetworkLayer("choice", branch, input: ["flag"], output: []))
    #expect(Self.model(network).validate().isEmpty)
    let inferred = network.inferredShapes(inputs: ["x": [2, 3], "flag": [1]])
    #expect(inferred.shapes["y"] == [2, 3])
    #expect(inferred.inside[0]?.map { $0.shapes["y"] } == [[2, 3], [2, 3]])
  }

  /// The second branch produces a different shape.
  @Test func whatTheBranchesMakeDifferentIsUnknown() {
    let branch = Self.branch(
      Self.network(Self.layer("a", Self.transpose([1, 0]), "x", "y")),
      Self.network(Self.layer("b", Cos(), "x", "y")))
    let network = Self.network(
      NeuralNetworkLayer("choice", branch, input: ["flag"], output: []))
    let inferred = network.inferredShapes(inputs: ["x": [2, 3], "flag": [1]])
    #expect(inferred.shapes["y"] == nil)
    #expect(inferred.inside[0]?.map { $0.shapes["y"] } == [[3, 2], [2, 3]])
  }

  /// The first iteration of the body transposes 2 × 3 to 3 × 2, the second transposes back.
  @Test func aBlobWhoseShapeALoopChangesIsUnknown() {
    var loop = Loop()
    loop.maxLoopIterations = 2
    loop.bodyNetwork = Self.network(
      Self.layer("turn", Self.transpose([1, 0]), "x", "turned"),
      Self.layer("sine", Sin(), "flag", "waved"), Self.layer("back", Copy(), "turned", "x"))
    let network = Self.network(NeuralNetworkLayer("loop", loop, input: [], output: []))
    let inferred = network.inferredShapes(inputs: ["x": [2, 3], "flag": [1]])
    #expect(inferred.shapes["x"] == nil)
    #expect(inferred.inside[0]?.first?.shapes["turned"] == nil)
    #expect(inferred.inside[0]?.first?.shapes["waved"] == [1])
  }

  @Test func aBlobThatNothingProducesIsNamedWithItsLayers() throws {
    let branch = Self.branch(Self.network(Self.layer("a", Sin(), "absent", "y")), nil)
    let network = Self.network(
      NeuralNetworkLayer("choice", branch, input: ["flag"], output: []))
    let error = try #require(Self.model(network).validate().first)
    #expect(error.layer == "choice")
    #expect(error.message.contains("'a'") && error.message.contains("'absent'"))
  }

  /// Only one of two branches runs, so neither can read what the other writes.
  @Test func branchesDoNotSeeEachOther() {
    let branch = Self.branch(
      Self.network(Self.layer("a", Sin(), "x", "y")),
      Self.network(Self.layer("b", Cos(), "y", "z"), Self.layer("c", Cos(), "z", "y")))
    let network = Self.network(
      NeuralNetworkLayer("choice", branch, input: ["flag"], output: []))
    #expect(Self.model(network).validate().count == 1)
  }

  @Test func anOutputThatNoNetworkWritesIsRefused() {
    let branch = Self.branch(Self.network(Self.layer("a", Sin(), "x", "other")), nil)
    let network = Self.network(
      NeuralNetworkLayer("choice", branch, input: ["flag"], output: []))
    #expect(Self.model(network).validate().contains { $0.field == "description.output.y" })
  }

  /// Leading axes of length 1, beyond those of a transpose, stay, as for an image.
  @Test func aTransposeLeavesLeadingAxesOfLengthOne() throws {
    let transpose = Self.transpose([1, 2, 0])
    #expect(try transpose.outputShapes([[1, 3, 4, 5]]) == [[1, 4, 5, 3]])
    #expect(throws: ModelError.self) { try transpose.outputShapes([[2, 3, 4, 5]]) }
  }

  @Test func sizesFromInputsNeedVersionFive() {
    let tile = NeuralNetworkLayer("t", Tile(), input: ["x", "flag"], output: ["y"])
    #expect(tile.minimumSpecificationVersion == 5)
    let topK = NeuralNetworkLayer("k", TopK(), input: ["x", "flag"], output: ["y", "z"])
    #expect(topK.minimumSpecificationVersion == 5)
    #expect(
      NeuralNetworkLayer("t", Tile(), input: ["x"], output: ["y"])
        .minimumSpecificationVersion == 4)
  }
}
