import CoreMLModel
import TensorCore

extension Copy: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { layer.inputs }
}

/// A layer that decides what runs next; it becomes a statement of a `NetworkProgram`.
protocol FlowLayer: EngineLayer {}

extension FlowLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    throw ModelError(.internal, "control flow among the layers of a graph")
  }
}

extension Branch: FlowLayer {}
extension Loop: FlowLayer {}
extension LoopBreak: FlowLayer {}
extension LoopContinue: FlowLayer {}
