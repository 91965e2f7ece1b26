/// h = f(W·x + R·h + b)
package struct SimpleRecurrent: GatedLayer {
  package static let inputCount = 2...2
  package static let outputCount = 2...2

  package var inputVectorSize = 0
  package var outputVectorSize = 0
  package var activation: Activation?
  package var sequenceOutput = false
  package var hasBiasVector = false
  package var weightMatrix: Weights?
  package var recursionMatrix: Weights?
  package var biasVector: Weights?
  package var reverseInput = false

  package init() {}

  package static let fields: Fields = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .message("activation", \.activation),
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVector", \.hasBiasVector),
    .gate("weightMatrix", \.weightMatrix),
    .gate("recursionMatrix", \.recursionMatrix),
    .gate("biasVector", \.biasVector),
    .bool("reverseInput", \.reverseInput),
  ]

  var hasBias: Bool { hasBiasVector }
  package var gateCount: Int { 1 }
  package var functions: [Activation] { activation.map { [$0] } ?? [] }

  package func check(_ faults: inout ValidationIssues) {
    faults.requireRecurrent(functions, 1)
  }
}
