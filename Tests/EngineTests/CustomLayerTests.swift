import CoreMLModel
import CustomLayers
import Synchronization
import TensorCore
import Testing

@testable import Engine

@Suite struct CustomLayerTests {
  private typealias Net = TestNetwork

  private func custom(
    _ className: String, _ change: (inout Custom) -> Void = { _ in }
  ) -> Custom {
    var layer = Custom()
    layer.className = className
    change(&layer)
    return layer
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func trace(_ layer: Custom, _ shape: [Int]) throws -> [String] {
    let lines = Lines()
    let model = Net.model(Array(shape[2...]), [Net.layer("swish", layer, "in", "out")])
    _ = try Net.predict(model, Net.tensor(shape)) {
      $0.hooks.onCustomLayerCall = { lines.append("\($0)") }
    }
    return lines.all
  }

  @Test func callsPrintAsCoreMLsOwnLayersDo() throws {
    #expect(
      try trace(custom("Swish"), [1, 1, 6, 256, 256]) == [
        "[\"engineName\": Swish]", "[]", "[[1, 1, 6, 256, 256]]", "1 1",
      ])
    let learned = custom("Swish") { $0.blobs = [Weights([1, 2, 3, 4, 5, 6])] }
    #expect(try trace(learned, [1, 1, 6, 2, 2])[1] == "[24 bytes]")
    let parameter = custom("Swish") { $0.parameters = ["beta": .double(0.5)] }
    #expect(try trace(parameter, [1, 1, 6, 2, 2])[0] == "[\"beta\": 0.5, \"engineName\": Swish]")
  }

  @Test func oneMessageNamesEveryClassThatNobodyProvides() throws {
    let model = Net.model(
      [4, 8, 8],
      [
        Net.layer("a", custom("Wobble"), "in", "1"), Net.layer("b", custom("Swish"), "1", "2"),
        Net.layer("c", custom("Snake"), "2", "3"), Net.layer("d", custom("Wobble"), "3", "out"),
      ])
    let error = #expect(throws: ModelError.self) { try CompiledNetwork(model: model) }
    let message = try #require(error?.message)
    #expect(error?.code == .unsupported)
    #expect(message.contains("implementation named 'Wobble'"))
    #expect(message.contains("implementation named 'Snake'"))
    #expect(message.contains("was not found"))
    #expect(!message.contains("'Swish'"))
    #expect(error?.hint != nil)
  }

  @Test func anEmptyClassNameIsRefused() {
    let model = Net.model([4, 8, 8], [Net.layer("x", custom(""), "in", "out")])
    let error = #expect(throws: ModelError.self) { try CompiledNetwork(model: model) }
    #expect(error?.code == .malformed)
    #expect(error?.layer == "x")
    #expect(error?.field == "className")
  }

  @Test func mistakesOfAnImplementationNameLayerAndClass() throws {
    for (mistake, atCompilation) in [("shapes", true), ("count", true), ("evaluate", false)] {
      let model = Net.model(
        [4, 8, 8],
        [
          Net.layer(
            "x", custom("Faulty") { $0.parameters = ["mistake": .string(mistake)] }, "in", "out")
        ])
      var options = CompileOptions()
      options.customLayers.register(Faulty.self)
      let network = try? CompiledNetwork(model: model, options: options)
      #expect((network == nil) == atCompilation)
      let error = #expect(throws: ModelError.self) {
        try CompiledNetwork(model: model, options: options)
          .predict(["in": Net.tensor([1, 1, 4, 8, 8])])
      }
      #expect(error?.layer == "x")
      #expect(error?.layerClass?.contains("Faulty") == true)
    }
  }

  private final class Faulty: CustomLayer {
    static let className = "Faulty"
    private let mistake: CustomLayerParameter?

    init(parameters: [String: CustomLayerParameter]) throws { mistake = parameters["mistake"] }
    func setWeightData(_ weights: [Bytes]) throws {}

    func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
      switch mistake {
      case .string("shapes"): [[1, 0, -4, 8]]
      case .string("count"): inputShapes + inputShapes
      default: inputShapes
      }
    }

    func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
      struct Refusal: Error {}
      throw Refusal()
    }
  }
}
