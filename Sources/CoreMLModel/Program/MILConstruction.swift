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
    self.type = MILValueType(type, shape)
    let tensor = MILTensorValue().with(\.content, elements)
    content = .immediate(MILImmediate().with(\.content, .tensor(tensor)))
  }

  /// A list of strings.
  package init(list texts: [String]) {
    self.init(list: texts.map { MILValue($0) }, of: .string)
  }

  /// A list of scalars of one type.
  package init(list values: [MILValue], of type: MILDataType) {
    self.init()
    let list = MILValues().with(\.values, values)
    content = .immediate(MILImmediate().with(\.content, .list(list)))
    let listType = MILListType().with(\.type, MILValueType(type, []))
      .with(\.length, MILDimension().with(\.kind, .constant(values.count)))
    self.type = MILValueType().with(\.kind, .list(listType))
  }

  /// Elements stored in the weight file.
  package init(_ type: MILDataType, _ shape: [Int], file: String, offset: Int) {
    self.init()
    self.type = MILValueType(type, shape)
    content = .file(MILFileValue().with(\.fileName, file).with(\.offset, offset))
  }
}

extension MILValueType {
  /// A tensor; a nil size is unknown until the program runs.
  package init(_ type: MILDataType, _ sizes: [Int?]) {
    self.init()
    var tensor = MILTensorType()
    tensor.dataType = type
    tensor.rank = sizes.count
    tensor.dimensions = sizes.map {
      MILDimension().with(\.kind, $0.map { .constant($0) } ?? .unknown(isVariadic: false))
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
    value = MILArgument().with(\.arguments, bindings.map { MILBinding().with(\.content, $0) })
  }
}

extension MILOperation {
  /// - Parameters:
  ///   - name: the attribute `name`.
  ///   - attributes: the others.
  package init(
    _ type: String, name: String, inputs: [MILArgumentEntry] = [], outputs: [MILNamedType],
    attributes: [MILAttribute] = []
  ) {
    self.init()
    (self.type, self.inputs, self.outputs) = (type, inputs, outputs)
    self.attributes = [MILAttribute("name", MILValue(name))] + attributes
  }

  package init(constant value: MILValue, name: String) {
    self.init(
      "const", name: name, outputs: [MILNamedType(name, value.type ?? MILValueType())],
      attributes: [MILAttribute("val", value)])
  }
}
