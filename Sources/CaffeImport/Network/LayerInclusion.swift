import ImportSupport

extension NetworkState {
  /// The state, with missing values taken from the network.
  func completed(by network: CaffeMessage) -> NetworkState {
    var state = self
    let stated = network.message("state")
    if state.level == nil { state.level = stated?.integer("level") }
    state.stages.formUnion(stated?.strings("stage") ?? [])
    return state
  }

  /// Whether a layer is included: one of its `include` rules matches, or none of its `exclude`
  /// rules.
  func includes(_ layer: CaffeMessage) -> Bool {
    let include = layer.messages("include")
    if include.isEmpty { return !layer.messages("exclude").contains(where: meets) }
    return include.contains(where: meets)
  }

  private func meets(_ rule: CaffeMessage) -> Bool {
    let level = level ?? 0
    if rule.has("phase"), rule.symbol("phase")?.lowercased() != phase.rawValue { return false }
    if rule.has("min_level"), level < rule.integer("min_level") ?? 0 { return false }
    if rule.has("max_level"), level > rule.integer("max_level") ?? 0 { return false }
    return rule.strings("stage").allSatisfy(stages.contains)
      && !rule.strings("not_stage").contains(where: stages.contains)
  }
}
