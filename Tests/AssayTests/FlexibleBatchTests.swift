import ByteFormats
import CoreMLModel
import TensorCore
import TestSupport
import Testing

/// A first axis that is part of the network's input is not a batch of predictions.
@Suite struct FlexibleBatchTests {
  /// A sum over the rows of an array with three columns.
  private static func model(_ flexibility: ArrayFeatureType.Flexibility?) -> Model {
    var sum = ReduceSum()
    sum.axes = [0]
    sum.keepDims = true
    var array = ArrayFeatureType(shape: [1, 3], dataType: .float32)
    array.flexibility = flexibility
    return .network(
      [NeuralNetworkLayer("sum", sum, input: ["rows"], output: ["sum"])],
      inputs: [FeatureDescription(name: "rows", kind: .multiArray(array))],
      outputs: [.array("sum", [])], mapping: .exact)
  }

  /// Two rows: a batch of two sums if the model declares one row, one sum if it takes more rows.
  @Test(
    arguments: [
      (nil, [1, 2, 3, 10, 20, 30]),
      (.range([SizeRange(1, -1), SizeRange(3, 3)]), [11, 22, 33]),
      (.range([SizeRange(1, 1), SizeRange(1, -1)]), [1, 2, 3, 10, 20, 30]),
      (.enumerated([[1, 3], [2, 3]]), [11, 22, 33]),
    ] as [(ArrayFeatureType.Flexibility?, [Double])])
  func rows(_ flexibility: ArrayFeatureType.Flexibility?, _ sums: [Double]) throws {
    try withTemporaryFolder { folder in
      try Self.model(flexibility).write(to: folder + "/m.mlmodel")
      let rows = Tensor(shape: [2, 3], [1, 2, 3, 10, 20, 30])
      try ArraySet([NamedArray(rows)]).write(to: folder + "/rows.npy")
      let run = try Command.run(
        "run", folder + "/m.mlmodel", folder + "/rows.npy", "--all-outputs", "-o",
        folder + "/out.json")
      #expect(run.code == 0, "\(run.errors)")
      let json = try JSONValue(parsing: fileBytes(folder + "/out.json"))
      #expect(json.numbers == sums, "\(json)")
    }
  }
}

extension JSONValue {
  /// All values, in order.
  fileprivate var numbers: [Double] {
    switch self {
    case .array(let elements): elements.flatMap(\.numbers)
    case .object(let object): object.members.flatMap(\.value.numbers)
    default: double.map { [$0] } ?? []
    }
  }
}
