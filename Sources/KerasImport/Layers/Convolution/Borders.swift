import CoreMLModel
import ImportSupport
import TensorCore

/// Amounts before and after each axis, in any of Keras's forms: one number, one per axis, or a pair
/// per axis; in Keras 1, also a flat list or an object with names.
private struct Borders: Sendable {
  private let amounts: [[Int]]
  private let axes: SpatialAxes

  init(_ configuration: LayerConfiguration, _ field: String, default standard: Int) throws {
    axes = try SpatialAxes(configuration)
    let count = axes.count
    guard let (_, value) = configuration.field(field) else {
      amounts = Array(repeating: [standard, standard], count: count)
      return
    }
    var numbers: [Int]
    if let object = value.object, object["items"] == nil {
      numbers = ["top_pad", "bottom_pad", "left_pad", "right_pad"].suffix(2 * count).map {
        object[$0]?.int ?? 0
      }
    } else if let pairs = value.array, pairs.count == count, pairs[0].int == nil {
      let inner = try pairs.map { try configuration.ints(field, $0) }
      numbers = inner.allSatisfy { $0.count == 2 } ? Array(inner.joined()) : []
    } else {
      numbers = try configuration.ints(field, value)
      if numbers.count == 1 { numbers = Array(repeating: numbers[0], count: count) }
      if numbers.count == count { numbers = numbers.flatMap { [$0, $0] } }
    }
    guard numbers.count == 2 * count, numbers.allSatisfy((0...Limits.dimension).contains) else {
      throw configuration.bad(
        field, value,
        [
          "an amount or a pair", "an amount, a pair or a pair of pairs",
          "an amount, three amounts or three pairs",
        ][count - 1])
    }
    amounts = (0..<count).map { [numbers[2 * $0], numbers[2 * $0 + 1]] }
  }

  /// - Parameter sign: 1 if the borders lengthen the axes, −1 if they shorten them.
  func apply(
    _ call: LayerCall, sign: Int, _ network: inout KerasWriter,
    _ layer: (BorderAmounts) -> some LayerParameters
  ) throws -> KerasTensor {
    let input = try axes.input(call, &network)
    let lengths = zip(axes.lengths(input), amounts).map { length, amounts in
      length.map { $0 + sign * (amounts[0] + amounts[1]) }
    }
    guard !lengths.contains(where: { ($0 ?? 1) <= 0 }) else {
      throw call.error("cropping leaves nothing of its input \(input.shapeText)")
    }
    if axes.count == 3 { _ = try call.known(lengths, of: input) }
    return axes.apply(input, to: lengths, call, &network) { plane in
      let amounts = plane(self.amounts, [0, 0])
      return layer(
        BorderAmounts(
          top: amounts[0][0], bottom: amounts[0][1], left: amounts[1][0], right: amounts[1][1]))
    }
  }
}

/// Adds zeros around a sequence, an image or a volume.
enum ZeroPadding: KerasLayer {
  static let classes = [
    SourceLayer(
      "ZeroPadding2D", "ZeroPadding1D", "ZeroPadding3D", becomes: "padding; two for volumes"),
    SourceLayer(
      "ReflectionPadding2D", "ReflectPadding2D", becomes: "padding", options: "`padding`",
      refused: "the two amounts differ, and classes of this name disagree about which comes first"),
  ]
  static let leadingAxes = LeadingAxesPolicy.steps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let borders = try Borders(configuration, "padding", default: 1)
    let reflects = configuration.kind.hasPrefix("Reflect")
    let kind = reflects ? Padding.Kind.reflection : .constant(value: 0)
    if reflects, let amounts = configuration["padding"]?.array,
      let first = amounts.first?.int, !amounts.allSatisfy({ $0.int == first })
    {
      throw configuration.unsupported(
        "padding", "\(configuration["padding"]?.text ?? "")",
        hint: "classes of this name disagree about whether rows or columns come first")
    }
    return conversion { call, network in
      [try borders.apply(call, sign: 1, &network) { Padding(kind, $0) }]
    }
  }
}

/// Crops a sequence, an image or a volume.
enum Cropping: KerasLayer {
  static let classes = [SourceLayer](
    "Cropping2D", "Cropping1D", "Cropping3D", becomes: "crop; two for volumes")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let borders = try Borders(
      configuration, "cropping", default: configuration.dimensions == 2 ? 0 : 1)
    return conversion { call, network in
      [try borders.apply(call, sign: -1, &network) { Crop($0) }]
    }
  }
}

extension Padding {
  init(_ kind: Kind, _ amounts: BorderAmounts) {
    self.init()
    self.kind = kind
    paddingAmounts = amounts
  }
}

extension Crop {
  init(_ amounts: BorderAmounts) {
    self.init()
    cropAmounts = amounts
    offset = [0, 0]
  }
}
