import CoreMLModel
import Engine
import TensorCore

/// The compiled form of a network: the steps of a prediction, or the nodes of the graph after a
/// pass.
package struct NetworkPlan: Sendable {
  /// The name in a pipeline.
  package var model: String?
  /// The pass after whose first run the graph is taken; nil for the steps.
  package var pass: String?
  package var steps: [StepDescription]
}

extension Predictor {
  /// The plan of the network, or of each network of a pipeline, for inputs of their declared
  /// shapes.
  ///
  /// - Throws: `.usage` if there is no such pass.
  package func plans(after pass: String?) throws -> [NetworkPlan] {
    guard members.isEmpty else {
      return try members.enumerated().flatMap { index, member in
        try member.plans(after: pass).map { plan in
          NetworkPlan(model: model.pipelineName(index), pass: pass, steps: plan.steps)
        }
      }
    }
    var shapes: [String: [Int]] = [:]
    for input in inputs where input.type?.isOptional != true {
      shapes[input.name] = model.typicalShape(of: input)
    }
    let prepared = try networkModel(for: shapes)
    let (network, options) = (prepared.model, engineOptions(for: shapes, prepared))
    let steps =
      try pass.map { try CompiledNetwork.steps(of: network, options: options, after: $0) }
      ?? CompiledNetwork(model: network, options: options).steps
    return [NetworkPlan(pass: pass, steps: steps)]
  }
}
