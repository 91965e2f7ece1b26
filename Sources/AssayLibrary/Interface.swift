import Assay
import CAssay

/// A model's inputs, outputs and states in C.
final class Interface: @unchecked Sendable {
  // `@unchecked`: the memory is not written after initialization.
  /// The result of `assay_describe`.
  let description: UnsafePointer<assay_description>
  /// The result of `assay_warnings`.
  let warnings: UnsafePointer<CChar>?
  private let memory = CMemory()

  init(_ predictor: Predictor, _ call: Call) {
    let (memory, interface) = (memory, predictor.interface)
    func features(_ descriptions: [FeatureDescription]) -> UnsafePointer<assay_feature> {
      memory.array(
        descriptions.map {
          let feature = interface.features[$0.name] ?? interface.output($0.name)
          return assay_feature($0, feature?.sourceShape, in: memory)
        })
    }
    let given = predictor.model.description ?? ModelDescription()
    let states = predictor.states
    description = memory.array([
      assay_description(
        size: MemoryLayout<assay_description>.size, type: memory.text(predictor.typeName),
        inputs: features(given.input),
        input_count: given.input.count, outputs: features(given.output),
        output_count: given.output.count, states: features(states), state_count: states.count)
    ])
    warnings = memory.lines(call.warnings)
  }
}

extension assay_feature {
  /// - Parameter source: the shape in the source framework's axis order, if that differs.
  init(_ description: FeatureDescription, _ source: SourceShape?, in memory: CMemory) {
    self.init()
    size = MemoryLayout<assay_feature>.size
    name = memory.text(description.name)
    self.description = memory.text(description.shortDescription)
    is_optional = description.type?.isOptional == true ? 1 : 0
    var sizes: [Int] = []
    switch description.type?.kind {
    case .int64: set(ASSAY_KIND_NUMBER, .int64)
    case .double: set(ASSAY_KIND_NUMBER, .float64)
    case .string: set(ASSAY_KIND_TEXT, nil)
    case .dictionary(let key): set(ASSAY_KIND_DICTIONARY, key == .int64 ? .int64 : nil)
    case .image(let image):
      set(ASSAY_KIND_IMAGE, image.elementType)
      sizes = [image.height, image.width, image.colorSpace.channelCount]
      is_flexible = image.flexibility == nil ? 0 : 1
    case .multiArray(let array):
      set(ASSAY_KIND_ARRAY, array.dataType.elementType)
      sizes = source?.sizes ?? array.shape
      is_flexible = array.flexibility != nil || source?.isFlexible == true ? 1 : 0
      if let source { layout = memory.text(source.letters) }
    case .state, .opaque, nil: set(ASSAY_KIND_OTHER, nil)
    }
    rank = sizes.count
    shape = memory.array(sizes.map(Int64.init))
  }

  private mutating func set(_ kind: Int, _ type: NumericType?) {
    self.kind = Int32(kind)
    self.type = type?.number ?? 0
  }
}

extension ImageFeatureType {
  /// The type of an output's samples.
  var elementType: NumericType { colorSpace == .grayscaleFloat16 ? .float32 : .uint8 }
}

extension ArrayFeatureType.DataType {
  /// The element type; single precision if the model does not state one.
  var elementType: NumericType {
    switch self {
    case .float16: .float16
    case .float32, .invalid: .float32
    case .double: .float64
    case .int8: .int8
    case .int32: .int32
    }
  }
}

extension NumericType {
  /// The type's number in `assay.h`.
  var number: Int32 { rawValue.utf8.reduce(0) { $0 << 8 | Int32($1 >= 0x40 ? $1 : $1 &- 0x30) } }

  /// The type with that number.
  init?(number: Int32) {
    guard let type = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = type
  }
}
