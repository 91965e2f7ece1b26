import CoreMLModel
import TensorCore

/// Lists of arrays of one shape: an array with a leading axis.
let listRules: [OperationRule] = [
  OperationRule(
    "make_list", "init_length? dynamic_length? elem_shape dtype?", "a list of zeros"
  ) { try $0.list() },
  OperationRule("list_length", "ls", "the number of elements") { call in
    let list = try call.list("ls")
    return [ProgramValue(MILElements([list.shape[0]], []))]
  },
  OperationRule("list_read", "ls index", "an element of a list") { call in
    let list = try call.list("ls")
    let element = try call.add(Gather(), list, call.value("index"))
    return [try call.reshaped(element, Array(list.shape.dropFirst()))]
  },
  OperationRule("list_gather", "ls indices", "elements of a list as an array") { call in
    var result = try call.add(Gather(), call.list("ls"), call.value("indices"))
    result.list = nil
    return [result]
  },
  OperationRule("list_write", "ls index value", "a list with one element replaced") { call in
    let (index, value) = (try call.value("index"), try call.value("value"))
    return [
      try call.written(call.reshaped(index, [1]), call.reshaped(value, [1] + value.shape), "index")
    ]
  },
  OperationRule(
    "list_scatter", "ls indices value", "a list with the elements at the indices replaced"
  ) { call in
    [try call.written(call.value("indices"), call.value("value"), "indices")]
  },
]

extension OperationCall {
  fileprivate func list(_ name: String) throws -> ProgramValue {
    let list = try value(name)
    try require(list.isList, "not a list", field: name)
    return list
  }

  fileprivate func list() throws -> [ProgramValue] {
    let sizes = try values("elem_shape").map { size in
      guard let elements = size.constant, elements.string == nil,
        let size = try elements.ints().first
      else {
        throw ModelError(
          .unsupported, "the shape of the elements is not known", field: "elem_shape")
      }
      return size
    }
    let layer = try FillStatic().with(\.targetShape, [int("init_length") ?? 1] + sizes)
    var list = try addAll(layer, [], types: [dataType("dtype", .float32)])[0]
    list.list = try bool("dynamic_length", true) ? .growing : .fixed
    return [list]
  }

  /// Writes values to a list. A list of variable length only grows at known positions.
  fileprivate func written(
    _ positions: ProgramValue, _ values: ProgramValue, _ field: String
  ) throws -> ProgramValue {
    var list = try list("ls")
    try require(
      Array(list.shape.dropFirst()) == Array(values.shape.dropFirst()) && list.type == values.type,
      "the value is \(ProgramText.type(values.type, values.shape)), the list "
        + ProgramText.type(list.type, list.shape), field: "value")
    if let known = try lowering.elements(positions)?.ints() {
      let length = (known.max() ?? 0) + 1
      try require(
        known.allSatisfy { $0 >= 0 } && length <= Limits.dimension, "\(known)", field: field)
      if length > list.shape[0] {
        let shape = [length - list.shape[0]] + list.shape.dropFirst()
        let zeros = try addAll(
          FillStatic().with(\.targetShape, shape), [], types: [list.type])
        let length = list.list
        list = try addAll(ConcatND(), [list] + zeros, types: [list.type])[0]
        list.list = length
      }
    }
    var result = try add(Scatter(), list, positions, values)
    result.list = list.list
    return result
  }
}
