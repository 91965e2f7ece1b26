import ByteFormats
import ImportSupport
import TestSupport
import Testing

@testable import KerasImport

/// Values computed from the batch size N: `s` is tf.shape(i), and `m` an operation on its first or
/// second element. Converted networks are compared with TensorFlow's predictions in
/// `Fixtures/keras/collections`: `windows_by_batch`, `windows_by_lambda`, `declared_batch`. Whether
/// a case here mixes batch items follows from TensorFlow's definition of each operation.
struct BatchSizeTests {
  private static let m = #"["m", 0, 0]"#

  private func converted(
    _ function: String, _ arguments: String, size: String = "0", by number: String = "2",
    operation: String = "math.multiply", input: String = "null, 8"
  ) throws -> ConversionResult {
    let network = """
      {"class_name": "Functional", "config": {"name": "m", "layers": [
       {"name": "i", "class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [\(input)]}, "inbound_nodes": []},
       {"name": "s", "class_name": "TFOpLambda", "config": {"name": "s", "function": "shape"}, "inbound_nodes": [["i", 0, 0, {}]]},
       {"name": "g", "class_name": "TFOpLambda", "config": {"name": "g", "function": "__operators__.getitem"}, "inbound_nodes": [["s", 0, 0, {"slice_spec": \(size)}]]},
       {"name": "m", "class_name": "TFOpLambda", "config": {"name": "m", "function": "\(operation)"}, "inbound_nodes": [["g", 0, 0, {"y": \(number)}]]},
       {"name": "o", "class_name": "TFOpLambda", "config": {"name": "o", "function": "\(function)"}, "inbound_nodes": [["i", 0, 0, {\(arguments)}]]}],
       "input_layers": [["i", 0, 0]], "output_layers": [["o", 0, 0]]}}
      """
    return try KerasImporter.convert(
      KerasSource(
        path: "m", version: KerasVersion(text: "2.15.0", backend: "tensorflow"),
        configuration: JSONValue(parsing: network), weights: MemoryWeights([:])))
  }

  /// −1 would have a different meaning in each of these.
  @Test(arguments: [
    ("__operators__.getitem", #""slice_spec": [{"start": null}, {"start": null, "stop": \#(m)}]"#),
    ("roll", #""shift": \#(m), "axis": 1"#),
    ("split", #""num_or_size_splits": [4, \#(m)], "axis": 1"#),
    ("expand_dims", #""axis": \#(m)"#),
    ("math.reduce_sum", #""axis": \#(m)"#),
    ("tile", #""multiples": [1, \#(m)]"#),
  ])
  func argumentsAreKnown(_ function: String, _ arguments: String) {
    for operation in ["math.multiply", "math.add", "math.subtract"] {
      let error = modelError { try converted(function, arguments, operation: operation) }
      #expect(error?.message.contains("computed at run time") == true)
    }
  }

  /// Shapes that fit N · 8 values for every N, but move some to other items, and one with a literal
  /// −1, which must be N only if all other sizes are the input's.
  @Test(arguments: [
    "4, \(m)", "-1, \(m)", "\(m), -1, -1", "4, -1", "-1, -1",
  ])
  func itemsStayWhereTheyAre(_ shape: String) {
    let error = modelError { try converted("reshape", #""shape": [\#(shape)]"#) }
    #expect(error?.code == .unsupported)
  }

  /// Reshaping (3, 8) to 3 rows keeps the items, to 6 rows makes two of each, and to 2, 4 or 1
  /// moves values between items. Without a declared batch, 3 has no meaning.
  @Test(arguments: [
    ("3, -1", "3, 8", nil), ("3, 2, -1", "3, 8", nil), ("1, -1", "1, 8", nil),
    ("6, -1", "3, 8", "windows in the batch"), ("2, -1", "3, 8", "may move items"),
    ("4, -1", "3, 8", "may move items"), ("1, -1", "3, 8", "may move items"),
    ("3, -1", "null, 8", "may move items"),
  ])
  func aDeclaredBatchIsANumber(_ shape: String, _ input: String, _ message: String?) {
    let error = modelError {
      try converted("reshape", #""shape": [\#(shape)]"#, input: input)
    }
    if let message {
      #expect(error?.message.contains(message) == true)
    } else {
      #expect(error == nil)
    }
  }

  /// [3N, …] for N · 8 values: 8 is not divisible by 3; [2N, 3] has too few values.
  @Test(arguments: [("3", "\(m), -1"), ("2", "\(m), 3"), ("4", "\(m), 4")])
  func itemsAreNotDivided(_ number: String, _ shape: String) {
    let error = modelError { try converted("reshape", #""shape": [\#(shape)]"#, by: number) }
    #expect(error?.message.contains("divides the items") == true)
  }

  /// (N, L, 6): [−1, L, 6] keeps the items, [−1, L, 3] makes two of each, [−1, 2L, 3] keeps them.
  /// The last cannot be recognized, since 2L is not a size of the input.
  @Test func unknownSizesBesideAnOpenBatch() throws {
    for (number, channels) in [("1", "3"), ("2", "3"), ("2", "6")] {
      let error = modelError {
        try converted(
          "reshape", #""shape": [-1, \#(Self.m), \#(channels)]"#, size: "1", by: number,
          input: "null, null, 6")
      }
      #expect(error?.message.contains("may move items of the batch") == true)
    }
    _ = try converted(
      "reshape", #""shape": [-1, \#(Self.m), 6]"#, size: "1", by: "1", input: "null, null, 6")
  }

  /// N · 1 is N, and so is 2N / 2.
  @Test func theBatchItself() throws {
    for (operation, number) in [("math.multiply", "1"), ("math.floordiv", "1")] {
      let model = try converted(
        "reshape", #""shape": [\#(Self.m), 2, -1]"#, by: number, operation: operation)
      let plain = try converted("reshape", #""shape": [-1, 2, 4]"#)
      #expect(try model.model.encoded() == plain.model.encoded())
    }
  }

  @Test func broadcasting() {
    for shape in ["\(Self.m), 8", "4, 8"] {
      let error = modelError { try converted("broadcast_to", #""shape": [\#(shape)]"#) }
      #expect(error?.message.contains("repeating the items") == true)
    }
    let error = modelError {
      try converted("broadcast_to", #""shape": [1, \#(Self.m)]"#, input: "null, 1")
    }
    #expect(error?.message.contains("computed at run time") == true)
  }
}
