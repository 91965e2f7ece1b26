import Assay
import CAssay

/// Values in C, valid for the lifetime of this object.
final class ValueWriter {
  let memory = CMemory()
  /// The owners of elements that C reads in place.
  private var tensors: [Tensor] = []

  /// The value in the type that the model declares.
  func value(_ value: FeatureValue, of feature: FeatureDescription) -> assay_value {
    var result = content(value, feature.type?.kind)
    result.size = MemoryLayout<assay_value>.size
    result.name = memory.text(feature.name)
    return result
  }

  private func content(_ value: FeatureValue, _ kind: FeatureType.Kind?) -> assay_value {
    switch value {
    case .string(let text):
      var result = assay_value()
      result.kind = Int32(ASSAY_KIND_TEXT)
      result.data = UnsafeRawPointer(memory.text(text))
      return result
    case .int(let number): return numbers(ASSAY_KIND_NUMBER, .int64, [Int64(number)], [])
    case .double(let number): return numbers(ASSAY_KIND_NUMBER, .float64, [number], [])
    case .dictionary(let entries): return dictionary(entries)
    case .image(let image):
      return numbers(
        ASSAY_KIND_IMAGE, .uint8, image.samples.array(of: UInt8.self),
        [image.height, image.width] + (image.channelCount == 1 ? [] : [image.channelCount]))
    case .numbers(let array):
      return self.array(array.elements, array.shape, kind)
    case .array(let tensor):
      if case .image(let image)? = kind { return self.image(tensor, image) }
      if case .multiArray(let declared)? = kind, declared.dataType.elementType != .float32 {
        return tensor.withUnsafeElements { array($0, tensor.shape, kind) }
      }
      return inPlace(tensor, ASSAY_KIND_ARRAY, tensor.shape)
    }
  }

  /// Stores elements in the declared type; integers are rounded and clamped to the type's range.
  private func array<Value: BinaryFloatingPoint>(
    _ elements: some Collection<Value>, _ shape: [Int], _ kind: FeatureType.Kind?
  ) -> assay_value {
    let type: NumericType =
      if case .multiArray(let declared)? = kind { declared.dataType.elementType } else { .float64 }
    let array = ASSAY_KIND_ARRAY
    switch type {
    case .float16: return numbers(array, type, elements.map { Half.bits(Float($0)) }, shape)
    case .float32: return numbers(array, type, elements.map { Float($0) }, shape)
    case .int8: return numbers(array, type, elements.map { Int8(saturating: $0) }, shape)
    case .int32: return numbers(array, type, elements.map { Int32(saturating: $0) }, shape)
    default: return numbers(array, .float64, elements.map { Double($0) }, shape)
    }
  }

  /// Stores an image `[H, W, C]`, or several.
  private func image(_ tensor: Tensor, _ type: ImageFeatureType) -> assay_value {
    let isOne = tensor.shape.count == 3
    let shape = isOne && tensor.shape[2] == 1 ? Array(tensor.shape[..<2]) : tensor.shape
    let kind = isOne ? ASSAY_KIND_IMAGE : ASSAY_KIND_ARRAY
    guard type.elementType == .uint8 else { return inPlace(tensor, kind, shape) }
    return numbers(
      kind, .uint8, tensor.withUnsafeElements { $0.map { UInt8(rounding: $0) } }, shape)
  }

  private func dictionary(_ entries: [FeatureKey: Double]) -> assay_value {
    let sorted = entries.sorted { $0.key < $1.key }
    var result = numbers(ASSAY_KIND_DICTIONARY, .float64, sorted.map(\.value), [sorted.count])
    let keys = sorted.compactMap { if case .int(let key) = $0.key { Int64(key) } else { nil } }
    if keys.count == sorted.count {
      result.number_keys = memory.array(keys)
    } else {
      result.text_keys = memory.array(sorted.map { Optional(memory.text($0.key.description)) })
    }
    return result
  }

  private func numbers<Element: BitwiseCopyable>(
    _ kind: Int, _ type: NumericType, _ elements: [Element], _ shape: [Int]
  ) -> assay_value {
    value(kind, type, UnsafeRawPointer(memory.array(elements)), shape)
  }

  private func inPlace(_ tensor: Tensor, _ kind: Int, _ shape: [Int]) -> assay_value {
    tensors.append(tensor)
    return value(
      kind, .float32, tensor.withUnsafeElements { UnsafeRawPointer($0.baseAddress) }, shape)
  }

  private func value(
    _ kind: Int, _ type: NumericType, _ data: UnsafeRawPointer?, _ shape: [Int]
  ) -> assay_value {
    var result = assay_value()
    result.kind = Int32(kind)
    result.type = type.number
    result.data = data
    result.rank = shape.count
    if !shape.isEmpty { result.shape = memory.array(shape.map(Int64.init)) }
    return result
  }
}

extension FixedWidthInteger {
  /// The nearest value of this type; NaN becomes 0.
  fileprivate init(saturating value: some BinaryFloatingPoint) {
    let rounded = value.rounded()
    if let exact = Self(exactly: rounded) {
      self = exact
    } else {
      self = rounded > 0 ? .max : rounded < 0 ? .min : 0
    }
  }
}
