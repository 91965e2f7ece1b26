import CoreMLModel
import TensorCore

extension Copy: EngineLayer, ReferenceFormula {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { layer.inputs }
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] { inputs }
}

/// A layer that decides what runs next: a statement of a `NetworkProgram`, and of the
/// `ReferenceNetwork`.
protocol FlowLayer: EngineLayer, ReferenceFormula {}

extension FlowLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    throw ModelError(.internal, "control flow among the layers of a graph")
  }

  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] { [] }
}

extension Branch: FlowLayer {}
extension Loop: FlowLayer {}
extension LoopBreak: FlowLayer {}
extension LoopContinue: FlowLayer {}
