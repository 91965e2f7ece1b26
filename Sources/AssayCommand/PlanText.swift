/// The output of `inspect --plan`: the steps of a plan, or the nodes of the graph after a pass.
struct PlanText {
  let plan: NetworkPlan

  private static var columns: [Column<StepDescription>] {
    [
      Column("step", "step") { $0.name }, Column("type", "type") { $0.layerType },
      Column("operation", "operation") { $0.kernel }, Column("reads", "inputs") { $0.inputs },
      Column("writes", "outputs") { $0.outputs },
      Column("shape", "shapes", { $0.map { "\($0)" }.joined(separator: " ") }, { $0.outputShapes }),
      Column("multiply-adds", "multiplyAdds", { $0 > 0 ? $0.cell : "" }, { $0.multiplyAdds }),
    ]
  }

  var text: String {
    let model = plan.model.map { "model \(Console.escaped($0)) of the pipeline, " } ?? ""
    return model
      + (plan.pass.map { "after \($0): \(counted(plan.steps.count, "node"))" }
        ?? counted(plan.steps.count, "step")) + "\n" + Self.columns.table(plan.steps, indent: 2)
  }

  var json: JSONText {
    .versioned(["model": plan.model, "after": plan.pass, "steps": Self.columns.json(plan.steps)])
  }
}
