import TensorCore

extension Pipeline {
  /// Checks each model separately, and that the pipeline's inputs and earlier models provide its
  /// inputs.
  func check(_ description: ModelDescription, isUpdatable: Bool, _ faults: inout ValidationIssues) {
    faults.require(!models.isEmpty, "pipeline.models", "the pipeline is empty")
    var known = Dictionary(description.input.map { ($0.name, $0.type) }, uniquingKeysWith: { $1 })
    for (index, model) in models.enumerated() {
      let field = "pipeline.models[\(index)]"
      for input in model.description?.input ?? [] {
        faults.requireFeature(input, among: known, "\(field).description.input.\(input.name)")
      }
      faults.append(model.faults()) { $0.inside(field) }
      for output in model.description?.output ?? [] { known[output.name] = output.type }
      let mayBeUpdatable = isUpdatable && index == models.count - 1
      faults.require(
        model.isUpdatable == mayBeUpdatable, "\(field).isUpdatable",
        mayBeUpdatable
          ? "the last model of an updatable pipeline is not updatable"
          : "only the last model of an updatable pipeline is updatable")
    }
    for output in description.output {
      faults.requireFeature(output, among: known, "description.output.\(output.name)")
    }
    if names.isEmpty { return }
    faults.require(
      names.count == models.count, "pipeline.names",
      "\(names.count) names for \(models.count) models")
    faults.require(
      Set(names).count == names.count, "pipeline.names", "two models have the same name")
  }
}

extension ValidationIssues {
  fileprivate mutating func requireFeature(
    _ feature: FeatureDescription, among known: [String: FeatureType?], _ field: String
  ) {
    guard let type = known[feature.name] else {
      return require(false, field, "neither an input of the pipeline nor an earlier model has it")
    }
    require(
      feature.type?.isSame(as: type) ?? (type == nil), field,
      "its type differs from that of its source")
  }
}

extension FeatureType {
  /// Whether the types match; for flexible arrays, only data types and ranks are compared.
  fileprivate func isSame(as other: FeatureType?) -> Bool {
    switch (kind, other?.kind) {
    case (.multiArray(let a)?, .multiArray(let b)?):
      let isFixed = a.flexibility == nil && b.flexibility == nil
      return a.dataType == b.dataType && a.rank == b.rank && (!isFixed || a.shape == b.shape)
    case (.image(let a)?, .image(let b)?):
      return (a.width, a.height, a.colorSpace) == (b.width, b.height, b.colorSpace)
    case (.opaque(let a)?, .opaque(let b)?): return a.field == b.field
    default: return kind == other?.kind
    }
  }
}

extension ArrayFeatureType {
  fileprivate var rank: Int {
    switch flexibility {
    case .enumerated(let shapes)?: shapes.first?.count ?? 0
    case .range(let ranges)?: ranges.count
    case nil: shape.count
    }
  }
}
