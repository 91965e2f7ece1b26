import CoreMLModel
import TensorCore

extension Copy: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] { inputs }
}

/// A layer that decides what `ReferenceNetwork` computes next.
protocol FlowReference: ReferenceFormula {}

extension FlowReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] { [] }
}

extension Branch: FlowReference {}
extension Loop: FlowReference {}
extension LoopBreak: FlowReference {}
extension LoopContinue: FlowReference {}
