import TestSupport
import Testing

/// The values of a program's operations, under their own names even if they become several layers.
@Suite struct ProgramLayerTests {
  /// A cast does not change integers; the network computes it in several layers.
  @Test func valuesHaveTheNamesOfOperations() throws {
    try withTemporaryFolder { folder in
      let source = "\(packageRoot)/Fixtures/corpus/caffe/layer_embed"
      let (network, program) = (folder + "/embed.mlmodel", folder + "/embed.mlpackage")
      try Command.run(
        "convert", source + "/deploy.prototxt", source + "/model.caffemodel", "-o", network, "-q")
      try Command.run("upgrade", network, "-o", program, "-q")
      let (values, whole) = (folder + "/values.npy", folder + "/whole.json")
      // The input of the fixture.
      try writeFile(Array("[6, 8, 5, 0]".utf8), to: whole)
      let run = try Command.run(
        "run", program, source + "/inputs.npz", "-q", "--layer", "data_to_int32_cast", "--feature",
        "data_to_int32_cast", "-o", values)
      #expect(run.code == 0, "\(run.errors)")
      let same = try Command.run("diff", values, whole)
      #expect(same.code == 0, "\(same.output)\(same.errors)")
    }
  }

  /// The results of operations are compared like those of a network's layers.
  @Test func layersAreCompared() throws {
    try withTemporaryFolder { folder in
      let fixture = "\(packageRoot)/Fixtures/on-device/program-classifier"
      let (model, picture) = (fixture + "/model.mlpackage", fixture + "/image.png")
      let layers = folder + "/layers.npz"
      try Command.run("run", model, picture, "-q", "--all-outputs", "-o", layers)
      let diff = try Command.run(
        "diff", model, picture, "--expected", fixture + "/assay.npz", "--layers", layers, "--json")
      #expect(
        diff.code == 0 && diff.output.contains(#""name": "swish_output", "agrees": true"#),
        "\(diff.output)\(diff.errors)")
    }
  }
}
