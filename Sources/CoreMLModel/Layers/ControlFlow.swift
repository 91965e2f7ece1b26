import TensorCore

/// A layer with nested networks, which read and write the blobs of the network around it.
package protocol ControlLayer: LayerParameters { var networks: [NeuralNetwork] { get set } }

extension ControlLayer {
  package static var specificationVersion: Int { 4 }
  package static var outputCount: ClosedRange<Int> { 0...Int.max }

  package var requiredSpecificationVersion: Int {
    networks.flatMap(\.layers).map(\.minimumSpecificationVersion).max().map { max(4, $0) } ?? 4
  }

  /// Empty: nested networks write their blobs by name.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { [] }

  /// Records the problems of nested layers, whose names follow the layer's own.
  func checkNetworks(_ faults: inout ValidationIssues) {
    for layer in networks.flatMap(\.layers) {
      var own = ValidationIssues()
      layer.check(&own)
      faults.appendInside(own, layer)
    }
  }
}

extension ValidationIssues {
  /// Adds the findings of a layer in a nested network.
  mutating func appendInside(_ part: ValidationIssues, _ layer: NeuralNetworkLayer) {
    append(part) { error in
      var error = error.inLayer(layer.name, class: layer.parameters?.specificationTypeName)
      error.message = "in layer '\(layer.name)': \(error.message)"
      error.layer = nil
      error.layerClass = nil
      return error
    }
  }
}

/// The input under another name, which may be the name of an existing blob.
package struct Copy: ArrayLayer, ParameterlessLayer, ShapeKeepingLayer {
  package static let minimumRank = 0

  package init() {}
}

/// Runs the first network if the input, a number, is not 0, otherwise the second.
package struct Branch: ControlLayer {
  package var ifBranch: NeuralNetwork?
  package var elseBranch: NeuralNetwork?

  package init() {}

  package static let fields: Fields = [
    .message("ifBranch", \.ifBranch), .message("elseBranch", \.elseBranch),
  ]

  package var networks: [NeuralNetwork] {
    get { [ifBranch, elseBranch].compactMap { $0 } }
    set {
      var rest = newValue[...]
      if ifBranch != nil { ifBranch = rest.popFirst() }
      if elseBranch != nil { elseBranch = rest.popFirst() }
    }
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(ifBranch?.layers.isEmpty == false, "ifBranch", "the network has no layers")
    checkNetworks(&faults)
  }
}

/// Repeats the body network: as often as the input says, or else while the condition network's blob
/// `conditionVar` is not 0, and at most `maxLoopIterations` times unless that is 0.
package struct Loop: ControlLayer {
  package static let inputCount = 0...1

  package var maxLoopIterations = 0
  package var conditionVar = ""
  package var conditionNetwork: NeuralNetwork?
  package var bodyNetwork: NeuralNetwork?

  package init() {}

  package static let fields: Fields = [
    .int("maxLoopIterations", \.maxLoopIterations),
    .string("conditionVar", \.conditionVar),
    .message("conditionNetwork", \.conditionNetwork),
    .message("bodyNetwork", \.bodyNetwork),
  ]

  package var networks: [NeuralNetwork] {
    get { [conditionNetwork, bodyNetwork].compactMap { $0 } }
    set {
      var rest = newValue[...]
      if conditionNetwork != nil { conditionNetwork = rest.popFirst() }
      if bodyNetwork != nil { bodyNetwork = rest.popFirst() }
    }
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(bodyNetwork?.layers.isEmpty == false, "bodyNetwork", "the network has no layers")
    let hasCondition = conditionNetwork?.layers.isEmpty == false
    faults.require(
      hasCondition || conditionVar.isEmpty, "conditionNetwork",
      "the network that computes '\(conditionVar)' is missing")
    faults.require(
      !hasCondition || !conditionVar.isEmpty, "conditionVar", "the condition's blob is not named")
    checkNetworks(&faults)
  }
}

/// Exits the enclosing loop.
package struct LoopBreak: ArrayLayer, ParameterlessLayer {
  package static let inputCount = 0...0
  package static let outputCount = 0...0

  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { [] }
}

/// Continues with the next iteration of the enclosing loop.
package struct LoopContinue: ArrayLayer, ParameterlessLayer {
  package static let inputCount = 0...0
  package static let outputCount = 0...0

  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { [] }
}
