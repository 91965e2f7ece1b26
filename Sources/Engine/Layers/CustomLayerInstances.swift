import CustomLayers
import Synchronization
import TensorCore

/// The custom layer objects of one model. Networks compiled with the same `CustomLayerInstances`,
/// for inputs of other shapes, reuse the objects and the state that they keep between runs.
package final class CustomLayerInstances: Sendable {
  private let instances = Mutex<[Int: (className: String, instance: CustomLayerInstance)]>([:])

  package init() {}

  /// The object for a layer, created on first use.
  func instance(
    ofLayer index: Int, className: String, make: () throws -> any CustomLayerImplementation
  ) throws -> CustomLayerInstance {
    if let known = instances.withLock({ $0[index] }), known.className == className {
      return known.instance
    }
    let instance = CustomLayerInstance(try make())
    instances.withLock { $0[index] = (className, instance) }
    return instance
  }
}

/// An object that computes a custom layer; only one thread at a time calls it.
final class CustomLayerInstance: @unchecked Sendable {
  // `@unchecked`: the lock guards the object and the shapes.
  private let layer: any CustomLayerImplementation
  /// The input shapes last passed to the object.
  private var inputShapes: [[Int]] = []
  private let lock = Mutex(())

  init(_ layer: any CustomLayerImplementation) { self.layer = layer }

  var equivalent: CustomLayerEquivalent? {
    lock.withLock { _ in (layer as? any CustomLayerWithEquivalent)?.equivalent }
  }

  func outputShapes(forInputShapes shapes: [[Int]]) throws -> [[Int]] {
    try lock.withLock { _ in
      inputShapes = shapes
      return try layer.outputShapes(forInputShapes: shapes)
    }
  }

  /// Evaluates the layer; another network may have passed other shapes in between.
  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    try lock.withLock { _ in
      let shapes = inputs.map(\.shape)
      if shapes != inputShapes {
        inputShapes = shapes
        let answer = try layer.outputShapes(forInputShapes: shapes)
        try require(
          answer == outputs.map(\.shape),
          "for inputs of the shapes \(shapes) it returned the output shapes \(answer); before, it "
            + "returned \(outputs.map(\.shape))")
      }
      try layer.evaluate(inputs: inputs, outputs: outputs)
    }
  }
}
