import CoreMLModel
import ImportSupport
import TensorCore

/// Learned constants that do not depend on the input: `[filters, atoms, 1]`.
struct ImplicitLayer: DarknetLayer {
  static let source = SourceLayer("implicit", becomes: "loadConstant")
  static let options = ["filters", "atoms"]
  static let trainingOptions = ["mean", "std"]

  private let filters: Int
  private let atoms: Int

  init(_ section: ConfigurationSection) throws {
    filters = try section.int("filters", default: 128, in: 1...Limits.dimension)
    atoms = try section.int("atoms", default: 1, in: 1...Limits.dimension)
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    var constant = LoadConstant()
    constant.shape = [filters, atoms, 1]
    let values = try network.weights.take("weights", constant.shape, layer: call.name)
    constant.data = Weights(values)
    return try DarknetTensor(network.add(call.name, constant, []), filters, atoms, 1)
  }
}
