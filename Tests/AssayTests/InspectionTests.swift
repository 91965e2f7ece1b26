import ByteFormats
import Foundation
import TestSupport
import Testing

/// The layers in the output of `inspect`.
@Suite struct InspectionTests {
  private func inspected(_ arguments: String...) throws -> JSONValue {
    let result = try Command.run(["inspect", "--json"] + arguments)
    #expect(result.code == 0, "\(result.errors)")
    return try JSONValue(parsing: Array(result.output.utf8))
  }

  /// Every blob that a layer reads is an input or comes from an earlier layer, and every output of
  /// the network comes from a layer.
  @Test(arguments: ["demo/style.h5", "demo/cifar10_resnet.h5", "demo/mobilenet_yolo.prototxt"])
  func edgesAreTheGraph(_ name: String) throws {
    let model = try inspected("\(packageRoot)/Fixtures/\(name)")
    func names(_ value: JSONValue, _ field: String) -> [String] {
      (value[field]?.array ?? []).compactMap { $0["name"]?.string ?? $0.string }
    }
    var known = Set(names(model, "inputs"))
    let layers = try #require(model["layers"]?.array)
    #expect(layers.count > 20)
    for layer in layers {
      let inputs = names(layer, "inputs")
      #expect(!inputs.isEmpty && known.isSuperset(of: inputs), "\(layer["name"]?.text ?? "")")
      #expect(layer["inputShapes"]?.array?.count == inputs.count)
      known.formUnion(names(layer, "outputs"))
    }
    #expect(known.isSuperset(of: names(model, "outputs")))
  }

  /// The rows of features show their recorded layouts; the JSON has all of them.
  @Test func layoutsAreNotListed() throws {
    let path = "\(packageRoot)/Fixtures/demo/cifar10_resnet.h5"
    let text = try Command.run("inspect", path).output
    #expect(text.contains("NHWC") && text.contains("assay.source"))
    #expect(!text.contains("assay.layout"))
    #expect(try Command.run("inspect", path, "--json").output.contains("assay.layout"))
  }

  /// The attributes are the settings in the source network.
  @Test func attributesAreThoseOfTheSource() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/n.prototxt"
      try """
      input: "data"
      input_shape { dim: 1 dim: 4 dim: 12 dim: 12 }
      layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {
        num_output: 6 kernel_h: 3 kernel_w: 5 stride: 2 pad_h: 1 pad_w: 2 group: 2 dilation: 1 } }
      layer { name: "n" type: "LRN" bottom: "c" top: "n"
        lrn_param { local_size: 5 alpha: 0.5 beta: 0.75 k: 2 } }
      """.write(toFile: path, atomically: true, encoding: .utf8)
      let layers = try #require(try inspected(path)["layers"]?.array)
      let fields = try #require(layers.first { $0["name"]?.string == "c" }?["attributes"])
      #expect(fields["kernelSize"]?.text == "[3, 5]" && fields["stride"]?.text == "[2, 2]")
      #expect(fields["nGroups"]?.int == 2 && fields["outputChannels"]?.int == 6)
      #expect(fields["hasBias"]?.bool == true)
      let normalization = layers.first { $0["type"]?.string == "lrn" }?["attributes"]
      #expect(normalization?["localSize"]?.int == 5 && normalization?["beta"]?.double == 0.75)
      let text = try Command.run("inspect", path).output
      #expect(
        text.contains(
          "kernelSize 3×5, stride 2×2, dilationFactor 1×1, valid (1, 1) (2, 2), hasBias"),
        "\(text)")
    }
  }

  @Test func thousandsOfLayers() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/deep.cfg"
      let section = "[convolutional]\nfilters=2\nsize=1\nstride=1\npad=0\nactivation=leaky\n"
      try ("[net]\nwidth=4\nheight=4\nchannels=2\n" + String(repeating: section, count: 1000))
        .write(toFile: path, atomically: true, encoding: .utf8)
      let text = try Command.run("inspect", path).output
      #expect(text.contains("  layers         2,000\n"))
      #expect(text.split(separator: "\n").filter { $0.contains("kernelSize 1×1") }.count == 1000)
    }
  }
}
