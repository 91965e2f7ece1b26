import CoreMLModel
import ImportSupport

/// The mean of each channel.
struct AveragePoolLayer: DarknetLayer {
  static let source = SourceLayer("avgpool", "avg", becomes: "pooling globalPooling")
  static let options: [String] = []

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    var pooling = Pooling()
    pooling.type = .average
    pooling.globalPooling = true
    pooling.padding = .valid(.around(0))
    return try DarknetTensor(network.add(call.name, pooling, [input.blob]), input.channels, 1, 1)
  }
}
