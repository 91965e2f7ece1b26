import TensorCore

extension MILValue {
  /// A string.
  package init(_ text: String) { self.init(.string, [], .strings([text])) }

  package init(ints values: [Int], _ shape: [Int]) { self.init(.int32, shape, .ints(values)) }

  package init(flags values: [Bool], _ shape: [Int]) { self.init(.bool, shape, .bools(values)) }

  /// Numbers in the message, in single or half precision according to `type`.
  package init(numbers values: [Float], _ shape: [Int], _ type: MILDataType) {
    let content: MILTensorValue.Content =
      type == .float16 ? .bytes(Half.bytes(values)) : .floats(FloatValues(values))
    self.init(type, shape, content)
  }

  package init(_ type: MILDataType, _ shape: [Int], _ elements: MILTensorValue.Content) {
    self.init()
    var tensor = MILTensorValue()
    tensor.content = elements
    var immediate = MILImmediate()
    immediate.content = .tensor(tensor)
    self.type = MILValueType(type, shape)
    content = .immediate(immediate)
  }

  /// A list of strings.
  package init(list texts: [String]) {
    self.init()
    let values = texts.map { MILValue($0) }
    self.init(list: values, of: .string)
  }

  /// A list of scalars of one type.
  package init(list values: [MILValue], of type: MILDataType) {
    self.init()
    var list = MILValues()
    list.values = values
    var immediate = MILImmediate()
    immediate.content = .list(list)
    content = .immediate(immediate)
    var length = MILDimension()
    length.kind = .constant(values.count)
    var listType = MILListType()
    listType.type = MILValueType(type, [])
    listType.length = length
    var valueType = MILValueType()
    valueType.kind = .list(listType)
    self.type = valueType
  }

  /// Elements stored in the weight file.
  package init(_ type: MILDataType, _ shape: [Int], file: String, offset: Int) {
    self.init()
    self.type = MILValueType(type, shape)
    var location = MILFileValue()
    location.fileName = file
    location.offset = offset
    content = .file(location)
  }
}

extension MILValueType {
  /// A tensor; a nil size is unknown until the program runs.
  package init(_ type: MILDataType, _ sizes: [Int?]) {
    self.init()
    var tensor = MILTensorType()
    tensor.dataType = type
    tensor.rank = sizes.count
    tensor.dimensions = sizes.map { size in
      var dimension = MILDimension()
      dimension.kind = size.map { .constant($0) } ?? .unknown(isVariadic: false)
      return dimension
    }
    kind = .tensor(tensor)
  }
}

extension MILNamedType {
  package init(_ name: String, _ type: MILValueType) {
    self.init()
    self.name = name
    self.type = type
  }
}

extension MILAttribute {
  package init(_ key: String, _ value: MILValue) {
    self.init()
    self.key = key
    self.value = value
  }
}

extension MILArgumentEntry {
  package init(_ key: String, _ bindings: [MILBinding.Content]) {
    self.init()
    self.key = key
    var argument = MILArgument()
    argument.arguments = bindings.map { content in
      var binding = MILBinding()
      binding.content = content
      return binding
    }
    value = argument
  }
}
