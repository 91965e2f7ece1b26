import ByteFormats
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Configurations that no version of Keras writes produce an error or a model; they never trap.
struct HostileConfigurationTests {
  private static let network = #"""
    {"class_name": "Model", "config": {"name": "m", "layers": [
     {"name": "i", "class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 8, 8, 2]}, "inbound_nodes": []},
     {"name": "c", "class_name": "Conv2D", "config": {"name": "c", "filters": 2, "kernel_size": [3, 3], "strides": [1, 1], "padding": "same", "dilation_rate": [1, 1], "activation": "relu", "use_bias": true}, "inbound_nodes": [[["i", 0, 0, {}]]]},
     {"name": "t", "class_name": "Conv2DTranspose", "config": {"name": "t", "filters": 2, "kernel_size": [2, 2], "strides": [2, 2], "padding": "same", "output_padding": null, "use_bias": false}, "inbound_nodes": [[["c", 0, 0, {}]]]},
     {"name": "p", "class_name": "MaxPooling2D", "config": {"name": "p", "pool_size": [2, 2], "strides": [2, 2], "padding": "valid"}, "inbound_nodes": [[["t", 0, 0, {}]]]},
     {"name": "z", "class_name": "ZeroPadding2D", "config": {"name": "z", "padding": [[1, 1], [1, 1]]}, "inbound_nodes": [[["p", 0, 0, {}]]]},
     {"name": "k", "class_name": "Cropping2D", "config": {"name": "k", "cropping": [[1, 1], [1, 1]]}, "inbound_nodes": [[["z", 0, 0, {}]]]},
     {"name": "a", "class_name": "Concatenate", "config": {"name": "a", "axis": -1}, "inbound_nodes": [[["k", 0, 0, {}], ["c", 0, 0, {}]]]},
     {"name": "b", "class_name": "BatchNormalization", "config": {"name": "b", "axis": 3, "epsilon": 0.001}, "inbound_nodes": [[["a", 0, 0, {}]]]},
     {"name": "u", "class_name": "UpSampling2D", "config": {"name": "u", "size": [2, 2]}, "inbound_nodes": [[["b", 0, 0, {}]]]},
     {"name": "l", "class_name": "PReLU", "config": {"name": "l", "shared_axes": [1, 2]}, "inbound_nodes": [[["u", 0, 0, {}]]]},
     {"name": "r", "class_name": "Reshape", "config": {"name": "r", "target_shape": [-1, 4]}, "inbound_nodes": [[["l", 0, 0, {}]]]},
     {"name": "f", "class_name": "Flatten", "config": {"name": "f"}, "inbound_nodes": [[["r", 0, 0, {}]]]},
     {"name": "d", "class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "softmax"}, "inbound_nodes": [[["f", 0, 0, {}]]]}],
     "input_layers": [["i", 0, 0]], "output_layers": [["d", 0, 0]]}}
    """#

  private static let weights: KeyValuePairs<String, [MemoryWeights.Weight]> = [
    "c": [.init("k", [3, 3, 2, 2]), .init("b", [2])], "t": [.init("k", [2, 2, 2, 2])],
    "b": [.init("g", [4]), .init("b", [4]), .init("m", [4]), .init("v", [4])],
    "l": [.init("a", [1, 1, 4])], "d": [.init("k", [1024, 2]), .init("b", [2])],
  ]

  @Test func theNetworkItselfConverts() throws {
    #expect(try convert(Self.network, Self.weights).outputShape() == [2])
  }

  @Test func mutatedConfigurations() throws {
    let original = try JSONValue(parsing: Self.network)
    var random = Random(state: 7)
    var converted = 0
    for _ in 0..<4000 {
      var json = original
      for _ in 0..<(1 + random.next(3)) { json = json.mutated(&random, depth: 0) }
      do {
        let source = try KerasSource(
          path: "m", version: KerasVersion(text: "2.2.4", backend: nil), configuration: json,
          weights: MemoryWeights(Self.weights))
        _ = try KerasImporter.convert(source)
        converted += 1
      } catch let error as ModelError {
        #expect(error.code != .internal)
      }
    }
    #expect(converted > 0 && converted < 4000)
  }

  /// An input with only a batch axis has no elements, and thus no weights for them.
  @Test(arguments: [("PReLU", ["alpha"]), ("SReLU", ["t_left", "a_left", "t_right", "a_right"])])
  func weightsForElementsOfABatch(_ className: String, _ names: [String]) {
    #expect(throws: ModelError.self) {
      try convert(
        single(className, input: "[null]"), ["layer": names.map { .init("layer/\($0):0", [3]) }])
    }
  }

  @Test func sizesThatMultiplyBeyondAllBounds() {
    let huge = "[null, 2147483647, 2147483647, 1]"
    for layer in [
      single("UpSampling2D", input: huge, #""size": 2147483647"#),
      single("ZeroPadding2D", input: huge, #""padding": 2147483647"#),
      single("Flatten", input: huge), single("Reshape", input: huge, #""target_shape": [-1]"#),
      single("AveragePooling2D", input: huge, #""pool_size": 2147483647, "strides": 1"#),
      single("ZeroPadding2D", input: huge, #""padding": -9223372036854775808"#),
      single("Softmax", input: huge, #""axis": -9223372036854775808"#),
      single("BatchNormalization", input: huge, #""axis": 9223372036854775807"#),
    ] {
      _ = modelError { try convert(layer) }
    }
    let error = modelError {
      try convert(
        single(
          "Conv2DTranspose", input: "[null, 4, 4, 1]",
          #""filters": 1, "kernel_size": 2, "dilation_rate": 2147483647, "use_bias": false"#),
        ["layer": [.init("k", [2, 2, 1, 1])]])
    }
    #expect(error?.code == .limitExceeded)
  }
}

struct Random {
  var state: UInt64

  mutating func next(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }
}

extension JSONValue {
  /// The document with one value changed, removed or duplicated.
  func mutated(_ random: inout Random, depth: Int) -> JSONValue {
    switch self {
    case .array(var elements) where !elements.isEmpty && random.next(8) != 0:
      let index = random.next(elements.count)
      switch random.next(12) {
      case 0: elements.remove(at: index)
      case 1: elements.append(elements[index])
      default: elements[index] = elements[index].mutated(&random, depth: depth + 1)
      }
      return .array(elements)
    case .object(let object) where !object.members.isEmpty && (depth < 2 || random.next(8) != 0):
      let chosen = random.next(object.members.count)
      let isRemoved = depth > 1 && random.next(12) == 0
      var result = JSONObject()
      for (index, member) in object.members.enumerated() {
        if index != chosen {
          result[member.name] = member.value
        } else if !isRemoved {
          result[member.name] = member.value.mutated(&random, depth: depth + 1)
        }
      }
      return .object(result)
    default:
      let others: [JSONValue] = [
        .null, .bool(true), .int(0), .int(-1), .int(1), .int(3), .int(Int.max), .int(Int.min),
        .int(2_147_483_647), .double(.nan), .double(.infinity), .double(0.5), .double(1e300),
        .string(""), .string("channels_first"), .string("same"), .string("i"), .array([]),
        .array([.int(1), .int(2)]), .array([.null, .int(5), .int(5)]), .object(JSONObject()),
        .string("Flatten"), .string("Dense"), .string("selu"),
      ]
      return others[random.next(others.count)]
    }
  }
}
