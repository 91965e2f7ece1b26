import CaffeInterpretation
import DarknetInterpretation
import ImportSupport
import Interpretation
import KerasInterpretation

extension ModelSource {
  /// The interpreter of a source network; nil of a Core ML model.
  package func interpreter(_ options: ConversionOptions) throws -> (any SourceInterpreter)? {
    switch self {
    case .caffe(let source):
      var state = CaffeState()
      state.phase = options.networkState.phase.rawValue.uppercased()
      state.level = options.networkState.level ?? 0
      state.stages = options.networkState.stages
      return try CaffeInterpreter(source, state: state)
    case .darknet(let source): return try DarknetInterpreter(source)
    case .keras(let source):
      return try KerasInterpreter(source.path, weights: source.weightsPath)
    case .coreML: return nil
    }
  }
}
