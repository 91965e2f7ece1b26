import CoreMLModel
import CustomLayers
import TensorCore

/// A type of layer that the engine runs.
protocol EngineLayer {
  /// Adds the layer's operations to the graph and returns the values of its outputs.
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID]
}

/// The context for turning a layer into operations.
struct LayerLowering {
  let layer: NeuralNetworkLayer
  private(set) var inputs: [Graph.ValueID]
  var graph: Graph
  let customLayer: CustomLayerInstance?
  let hooks: EngineHooks
  /// Limit in bytes for a single blob.
  let byteLimit: Int
  /// The source of the layer's random numbers.
  let random: RandomSource

  var inputShapes: [Shape] { inputs.map { graph.shape($0) } }

  /// The output shapes according to the document's rules.
  func outputShapes() throws -> [Shape] {
    guard let parameters = layer.parameters else { return [] }
    return try checked(parameters.blobShapes(inputShapes.map(\.dimensions)))
  }

  /// The shapes, each checked against the memory limit: a layer may build tables of that size.
  func checked(_ shapes: [[Int]]) throws -> [Shape] {
    try shapes.map {
      let shape = try Shape($0)
      try shape.requireMemory(byteLimit)
      return shape
    }
  }

  /// The shape of the only output.
  func outputShape() throws -> Shape {
    guard let shape = try outputShapes().first else {
      throw ModelError(.malformed, "the layer has no output", field: "output")
    }
    return shape
  }

  /// Reshapes inputs of rank 0 to `[1]`.
  mutating func giveInputsAxes() throws {
    for index in inputs.indices where inputShapes[index].rank == 0 {
      inputs[index] = try view(inputs[index], Shape([1]))
    }
  }

  /// Lowers a layer with a single input whose last axes are H and W. If there are fewer than three
  /// axes, which buffers treat as C, `body` receives the input and the result's shape as planes.
  mutating func onPlanes(
    _ body: (inout Self, Graph.ValueID, Shape) throws -> Graph.ValueID
  ) throws -> Graph.ValueID {
    let (input, output) = (inputs[0], try outputShape())
    guard output.rank < 3 else { return try body(&self, input, output) }
    let planes = try checked(
      [inputShapes[0], output].map { [Int](repeating: 1, count: 5 - $0.rank) + $0.dimensions })
    let result = try body(&self, add(ViewOperation(), [input], planes[0]), planes[1])
    return add(ViewOperation(), [result], output)
  }

  /// Appends a node with one output.
  mutating func add(
    _ operation: any NodeOperation, _ inputs: [Graph.ValueID], _ shape: Shape
  ) -> Graph.ValueID {
    add(operation, inputs, [shape])[0]
  }

  /// Appends a node; its outputs are named when the layer's outputs are.
  mutating func add(
    _ operation: any NodeOperation, _ inputs: [Graph.ValueID], _ shapes: [Shape]
  ) -> [Graph.ValueID] {
    let outputs = shapes.map { graph.addValue("", $0) }
    graph.nodes.append(
      Graph.Node(
        name: layer.name, layerType: layer.parameters?.engineTypeName ?? "", operation: operation,
        inputs: inputs, outputs: outputs))
    return outputs
  }

  /// Adds a constant value.
  mutating func constant(_ elements: [Float], _ shape: Shape) throws -> Graph.ValueID {
    graph.addValue("", shape, constant: try Constant(elements))
  }
}
