import CoreMLModel
import TensorCore

/// One of the two sizes with which a network with flexible inputs is converted. Sizes that differ
/// between the two programs are unknown until the program runs.
enum SizeProbe {
  case first, second

  /// The length for sequences of unspecified length.
  var steps: Int { self == .first ? 16 : 24 }
  /// The number of items for batches of unspecified size.
  var batch: Int { self == .first ? 3 : 7 }

  /// A size within the bounds; the two probes differ if the bounds do. A size of 1 would look like
  /// a missing axis.
  func size(_ lower: Int, _ upper: Int?, default: Int) -> Int {
    let upper = upper ?? Limits.dimension
    let first = `default` > 1 ? `default` : min(max(lower, steps), upper)
    if self == .first { return first }
    if first * 2 <= upper || lower == upper { return lower == upper ? first : first * 2 }
    return upper > first ? upper : lower > 1 && lower < first ? lower : first * 2
  }

  func size(_ range: SizeRange, default: Int) -> Int {
    size(range.lowerBound, range.upperBound < 0 ? nil : range.upperBound, default: `default`)
  }

  /// One of several enumerated sizes.
  func size(of sizes: [Int], default: Int) -> Int {
    let others = sizes.filter { $0 > 1 }
    let first = `default` > 1 ? `default` : others.first ?? `default`
    if self == .first { return first }
    return others.first { $0 != first } ?? (Set(sizes).count > 1 ? first * 2 : first)
  }
}

extension ModelDescription {
  /// The description with one size for each flexible feature; nil for the default size.
  func fixed(_ probe: SizeProbe?) -> ModelDescription {
    var description = self
    for index in input.indices { description.input[index].type?.fix(probe) }
    for index in output.indices { description.output[index].type?.fix(probe) }
    return description
  }
}

extension FeatureType {
  fileprivate mutating func fix(_ probe: SizeProbe?) {
    switch kind {
    case .multiArray(var array):
      if let probe { array.shape = array.sizes(probe) }
      array.flexibility = nil
      kind = .multiArray(array)
    case .image(var image):
      switch image.flexibility {
      case .enumerated(let sizes)?:
        let (widths, heights) = (sizes.map(\.width), sizes.map(\.height))
        image.width = probe?.size(of: widths, default: image.width) ?? image.width
        image.height = probe?.size(of: heights, default: image.height) ?? image.height
      case .range(let width, let height)?:
        // Without a range, the only size is the default.
        if let probe, let width { image.width = probe.size(width, default: image.width) }
        if let probe, let height { image.height = probe.size(height, default: image.height) }
      case nil: break
      }
      image.flexibility = nil
      kind = .image(image)
    default: break
    }
  }
}

extension ArrayFeatureType {
  fileprivate func sizes(_ probe: SizeProbe) -> [Int] {
    switch flexibility {
    case .enumerated(let shapes)?:
      shape.indices.map { axis in
        probe.size(
          of: shapes.compactMap { $0.indices.contains(axis) ? $0[axis] : nil }, default: shape[axis]
        )
      }
    case .range(let ranges)?:
      ranges.enumerated().map { axis, range in
        probe.size(range, default: shape.indices.contains(axis) ? shape[axis] : 1)
      }
    case nil: shape
    }
  }

  /// The array type of a program with the sizes that the network declares; nil sizes are arbitrary.
  fileprivate mutating func restore(_ sizes: [Int?], _ original: ArrayFeatureType) {
    if case .enumerated? = original.flexibility, original.shape.count == sizes.count {
      (shape, flexibility) = (original.shape, original.flexibility)
      return
    }
    var ranges = [SizeRange](repeating: SizeRange(1, -1), count: sizes.count)
    if case .range(let own)? = original.flexibility, own.count == sizes.count {
      ranges = own
      if original.shape.count == sizes.count { shape = original.shape }
    }
    flexibility = .range(
      zip(sizes, ranges).map { size, range in
        size.map { SizeRange($0, $0) } ?? range
      })
    for (axis, size) in sizes.enumerated() { if let size { shape[axis] = size } }
  }
}

extension Model {
  /// The program for all sizes, derived from the programs for two sizes.
  ///
  /// - Throws: `.unsupported` if more than the sizes of values depends on the input sizes.
  static func program(
    _ first: Model, _ second: Model, of network: ModelDescription, _ options: ProgramOptions
  ) throws -> Model {
    guard case .mlProgram(let one)? = first.type, case .mlProgram(let other)? = second.type,
      var description = first.description, let others = second.description
    else { return first }
    var union = ProgramUnion()
    var model = first
    let program = try union.program(one, other)
    model.type = .mlProgram(program)
    for (index, original) in network.input.kept(in: description.input).enumerated() {
      let sizes = union.sizes[description.input[index].name] ?? []
      switch (description.input[index].type?.kind, original.type?.kind) {
      case (.multiArray(var array)?, .multiArray(let declared)?) where sizes.contains(nil):
        // The importer only leaves the number of steps open, without bounds.
        array.restore(sizes, options.isOfSource ? ArrayFeatureType() : declared)
        description.input[index].type?.kind = .multiArray(array)
      case (.image?, .image?): description.input[index].type = original.type
      default: break
      }
    }
    for (index, original) in network.output.kept(in: description.output).enumerated()
    where description.output.indices.contains(index)
      && description.output[index].type != others.output[index].type
    {
      if case .multiArray(var array)? = description.output[index].type?.kind {
        array.shape = []
        description.output[index].type?.kind = .multiArray(array)
      } else {
        description.output[index].type = original.type
      }
    }
    model.description = description
    return model
  }
}

extension [FeatureDescription] {
  /// The features that remain in the program's interface, without states.
  fileprivate func kept(in features: [FeatureDescription]) -> [FeatureDescription] {
    if count == features.count { return self }
    let names = Set(features.map(\.name))
    return filter { names.contains($0.name) }
  }
}
