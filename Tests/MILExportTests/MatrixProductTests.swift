import CoreMLModel
import TensorCore
import Testing

@testable import MILExport

/// Matrix products, which networks before version 4 have to compose of other layers.
@Suite struct MatrixProductTests {
  private typealias Net = Networks

  /// yᵢⱼ = Σₖ xₖᵢ xₖⱼ for x = ((1, 2, 3), (4, 5, 6)): 1 + 16, 2 + 20, 3 + 24, 4 + 25, …
  @Test(arguments: [Upsample.InterpolationMode.nearest, .bilinear])
  func repeatedFactorsAreAProduct(mode: Upsample.InterpolationMode) throws {
    var layers: [NeuralNetworkLayer] = []
    func add(_ name: String, _ parameters: any LayerParameters, _ inputs: String...) {
      layers.append(NeuralNetworkLayer(name, parameters, input: inputs, output: [name]))
    }
    func repeated(_ factors: [Int]) -> Upsample {
      var layer = Upsample()
      (layer.scalingFactor, layer.mode) = (factors, mode)
      return layer
    }
    var transpose = Transpose()
    transpose.axes = [0, 1, 3, 2]
    var sum = ReduceSum()
    (sum.axes, sum.keepDims) = ([1], true)
    add("t", transpose, "x")
    add("columns", repeated([1, 3]), "x")
    add("rows", repeated([3, 1]), "t")
    add("products", MultiplyBroadcastable(), "columns", "rows")
    add("y", sum, "products")
    let program = try Net.model(
      layers, inputs: [Net.array("x", [1, 2, 3, 1])], outputs: [Net.array("y", [1, 1, 3, 3])]
    ).mlProgram()
    #expect(Net.operations(program).contains("matmul") == (mode == .nearest))
    #expect(
      try Net.predict(program, [1, 2, 3, 1], [1, 2, 3, 4, 5, 6])
        == [17, 22, 27, 22, 29, 36, 27, 36, 45])
  }

  /// x · xᵀ of x = ((1, 2, 3), (4, 5, 6)), and xᵀ · x.
  @Test(arguments: [(false, [14, 32, 32, 77]), (true, [17, 22, 27, 22, 29, 36, 27, 36, 45])])
  func productsTransposeTheirFactors(isFirst: Bool, expected: [Float]) throws {
    var transpose = Transpose()
    transpose.axes = [0, 2, 1]
    let size = isFirst ? 3 : 2
    let program = try Net.model(
      [
        NeuralNetworkLayer("t", transpose, input: ["x"], output: ["t"]),
        NeuralNetworkLayer(
          "y", BatchedMatMul(), input: isFirst ? ["t", "x"] : ["x", "t"], output: ["y"]),
      ], inputs: [Net.array("x", [1, 2, 3])], outputs: [Net.array("y", [1, size, size])]
    ).mlProgram()
    #expect(Net.operations(program).filter { $0 != "const" } == ["matmul"])
    #expect(try Net.predict(program, [1, 2, 3], [1, 2, 3, 4, 5, 6]) == expected)
  }
}
