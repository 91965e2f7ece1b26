/// The steps of a plan, or the nodes of the graph after a pass, as `inspect --plan` prints them.
struct PlanText {
  private let plan: NetworkPlan

  init(_ plan: NetworkPlan) { self.plan = plan }

  private var title: String {
    let model = plan.model.map { "model \(Console.escaped($0)) of the pipeline, " } ?? ""
    return model
      + (plan.pass.map { "after \($0): \(counted(plan.steps.count, "node"))" }
        ?? counted(plan.steps.count, "step"))
  }

  var text: String {
    var table = TextTable(
      [
        ("step", .left), ("type", .left), ("operation", .left), ("reads", .left),
        ("writes", .left), ("shape", .left), ("multiply-adds", .right),
      ], indent: 2)
    func list(_ names: [String]) -> String { names.map(Console.escaped).joined(separator: ", ") }
    for step in plan.steps {
      table.add([
        Console.escaped(step.name), step.layerType, step.kernel, list(step.inputs),
        list(step.outputs), step.outputShapes.map { "\($0)" }.joined(separator: " "),
        step.multiplyAdds > 0 ? groupedText(step.multiplyAdds) : "",
      ])
    }
    return title + "\n" + table.text
  }

  var json: JSONText {
    func names(_ values: [String]) -> JSONText { .array(values.map(JSONText.string)) }
    return .versioned([
      "model": plan.model.map(JSONText.string) ?? .null,
      "after": plan.pass.map(JSONText.string) ?? .null,
      "steps": .list(plan.steps) { step in
        .object([
          "step": .string(step.name), "type": .string(step.layerType),
          "operation": .string(step.kernel), "inputs": names(step.inputs),
          "outputs": names(step.outputs),
          "shapes": .array(step.outputShapes.map { .array($0.map(JSONText.int)) }),
          "multiplyAdds": .int(step.multiplyAdds),
        ])
      },
    ])
  }
}
