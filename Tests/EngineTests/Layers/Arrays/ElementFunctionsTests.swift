import CoreMLModel
import TensorCore
import TestSupport

extension ElementFunctionLayer where Self: TestedLayer {
  /// The domain of the function.
  private static var domain: ClosedRange<Float> {
    switch typeName {
    case "asin", "acos", "atanh": -0.99...0.99
    case "acosh": 1.01...4
    case "tan": -1.4...1.4
    default: -3...3
    }
  }

  static func elementTrials(_ layers: [Self]) -> [LayerTrial] {
    layers.flatMap { layer in
      [[7], [3, 5], [2, 3, 5], [1, 17, 3, 7], [2, 1, 5, 3, 2], [3001]].map { shape in
        LayerTrial("\(shape)", layer, [shape], range: domain)
      }
    }
  }

  static func trials(_ random: inout SplitMix64) -> [LayerTrial] { elementTrials([Self()]) }
}

extension Clip {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    elementTrials(
      [(Float(-1), Float(2)), (0, 6), (0.5, 1)].map { low, high in
        var layer = Clip()
        layer.minVal = low
        layer.maxVal = high
        return layer
      })
  }
}

extension ClampedReLU {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    elementTrials(
      [(Float(0), Float(6)), (0.25, 1.5), (0.5, -0.25)].map { slope, bound in
        var layer = ClampedReLU()
        layer.alpha = slope
        layer.beta = bound
        return layer
      })
  }
}

extension Gelu {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    elementTrials(
      Mode.allCases.map { mode in
        var layer = Gelu()
        layer.mode = mode
        return layer
      })
  }
}

extension Clip: TestedLayer {}
extension Ceil: TestedLayer {}
extension Floor: TestedLayer {}
extension Sign: TestedLayer {}
extension Round: TestedLayer {}
extension Exp2: TestedLayer {}
extension Sin: TestedLayer {}
extension Cos: TestedLayer {}
extension Tan: TestedLayer {}
extension Asin: TestedLayer {}
extension Acos: TestedLayer {}
extension Atan: TestedLayer {}
extension Sinh: TestedLayer {}
extension Cosh: TestedLayer {}
extension Tanh: TestedLayer {}
extension Asinh: TestedLayer {}
extension Acosh: TestedLayer {}
extension Atanh: TestedLayer {}
extension Erf: TestedLayer {}
extension Gelu: TestedLayer {}
extension ClampedReLU: TestedLayer {}
