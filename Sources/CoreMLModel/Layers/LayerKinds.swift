/// A type of layer whose message has no fields.
package protocol ParameterlessLayer: LayerParameters {}

extension ParameterlessLayer {
  package static var fields: [Field<Self>] { [] }
}

/// A layer of arrays of any rank, as introduced with specification 4.
package protocol ArrayLayer: LayerParameters {}

extension ArrayLayer {
  package static var specificationVersion: Int { 4 }
}

/// A layer whose output has the shape of its first input.
package protocol ShapeKeepingLayer: LayerParameters {}

extension ShapeKeepingLayer {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [Self.usesFiveAxes ? try input(inputs).checked : try checkedShape(arrayInput(inputs))]
  }
}
