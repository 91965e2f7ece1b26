import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// Every command accepts a source network instead of an `.mlmodel`, converted as by `convert`.
@Suite struct SourceNetworkTests {
  private static let caffe = Fixtures("caffe")
  private static let keras = Fixtures("networks")
  private static let demo = Fixtures("demo")
  private static let net = [caffe.path("v2.prototxt"), caffe.path("single.caffemodel")]
  private static let preprocessing = [
    "--image-scale", "1/127.5", "--red-bias=-1", "--green-bias=-1", "--blue-bias=-1",
  ]

  /// Outputs of the frameworks for networks in each form of their files.
  static let networks: [(files: [String], input: String, expected: String)] =
    [
      net, net.reversed(), [net[0], caffe.path("hdf5.caffemodel.h5")],
      [caffe.path("hdf5.caffemodel.h5"), net[0]], [caffe.path("whole.caffemodel")],
    ].map { ($0, caffe.path("input.npy"), caffe.path("expected.npy")) }
    + [["h5"], ["keras"], ["json", "weights.h5"], ["json", "keras"], ["json", "h5"]].map { forms in
      (
        forms.map { keras.path("keras3-nested." + $0) }, keras.path("keras3-nested.inputs.npz"),
        keras.path("keras3-nested.expected.npz")
      )
    }
    + ["avgpool", "route_two"].map { name in
      let layers = Fixtures("darknet/layers")
      return (
        ["cfg", "weights"].map { layers.path("\(name).\($0)") }.filter(fileExists),
        layers.path(name + ".inputs.npz"), layers.path(name + ".expected.npz")
      )
    }

  @Test(arguments: networks.indices)
  func theyAnswerAsTheirFrameworks(_ index: Int) throws {
    let (files, input, expected) = Self.networks[index]
    let result = try Command.run(["diff"] + files + [input, "--expected", expected])
    #expect(result.code == 0, "\(files): \(result.output)\(result.errors)")
    #expect(result.output.hasSuffix("agrees within tolerance\n"), "\(files): \(result.output)")
    let run = try Command.run(["run"] + files + [input, "--json"])
    #expect(run.code == 0 && run.output.hasPrefix("{"), "\(files): \(run.errors)")
  }

  /// For weights of another network, the error names the file with the weights.
  @Test(arguments: [
    (keras.path("keras3-sequential.json"), keras.path("keras3-nested.weights.h5")),
    (keras.path("keras3-sequential.json"), Fixtures("keras").path("misshapen_weights.h5")),
    (keras.path("keras3-sequential.json"), demo.path("swish.h5")),
    (caffe.path("v2.prototxt"), Fixtures("caffe/layers").path("scales.caffemodel")),
    (caffe.path("v2.prototxt"), demo.path("mobilenet_yolo.caffemodel")),
  ])
  func theFileWithTheFaultIsNamed(_ network: String, _ weights: String) throws {
    for command in ["convert", "inspect"] {
      let output = command == "convert" ? ["-o", "/nowhere/m.mlmodel"] : []
      let result = try Command.run([command, network, weights] + output)
      #expect(result.code == 2, "\(result.errors)")
      #expect(result.errors.hasPrefix("error: \(weights): "), "\(result.errors)")
      #expect(
        !result.errors.contains(network) && !result.errors.contains("(line"), "\(result.errors)")
    }
  }

  /// The last channel of the first normalization has a variance of −1.
  @Test func aFaultOfDarknetsWeightsIsOfTheirFile() throws {
    try withTemporaryFolder { folder in
      let text =
        "[net]\nwidth=2\nheight=2\nchannels=1\n"
        + "[convolutional]\nbatch_normalize=1\nfilters=1\nsize=1\nactivation=linear\n"
      try writeFile(Array(text.utf8), to: folder + "/n.cfg")
      // Version 0.2.0 and the number of images seen; bias, scale, mean, variance, one weight.
      let header: [UInt8] = [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
      let values: [Float] = [0, 1, 0, -1, 1]
      try writeFile(header + values.withUnsafeBytes { Array($0) }, to: folder + "/n.weights")
      let result = try Command.run("inspect", folder + "/n.cfg", folder + "/n.weights")
      #expect(result.errors.hasPrefix("error: \(folder)/n.weights: "), "\(result.errors)")
      #expect(result.code == 2 && result.errors.contains("variance"), "\(result.errors)")
    }
  }

  @Test func theOptionsOfConversionApply() throws {
    let network = Self.demo.path("swish.h5")
    let options =
      Self.preprocessing + [
        "--class-labels", Self.demo.path("labels.txt"), "--output-name", "color",
      ]
    let run = try Command.run(
      ["run", network, Self.demo.path("picture.png"), "--top", "1"] + options)
    // As in the README for the converted model.
    #expect(run.output.hasPrefix("color  1×3\n  blue  71.35%"), "\(run.output)\(run.errors)")
    #expect(run.errors.isEmpty, "\(run.errors)")
    let diff = try Command.run(
      [
        "diff", network, Self.demo.path("picture.png"), "--expected",
        Self.demo.path("expected.npz"),
      ]
        + options)
    #expect(diff.code == 0, "\(diff.output)")
  }

  /// An image for an array input makes it an image input if possible; a warning describes pixels.
  @Test func anImageMakesAnImageInput() throws {
    let picture = Self.demo.path("picture.png")
    let network = Self.demo.path("swish.h5")
    let plain = try Command.run("run", network, picture, "--json")
    let declared = try Command.run("run", network, picture, "--json", "--image-input", "image")
    #expect(plain.code == 0 && plain.output == declared.output, "\(plain.errors)")
    #expect(plain.errors.contains("warning: 'image' receives pixels from 0 to 255, red first"))
    #expect(try Command.run("run", network, picture, "--json", "-q").errors.isEmpty)
    // An image is still an error for an array input that cannot be one.
    let flat = try Command.run("run", Self.keras.path("keras3-nested.keras"), picture)
    #expect(flat.code == 2 && flat.errors.contains("an image cannot be"), "\(flat.errors)")
  }

  @Test func twoNetworksOfAnyKind() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run(["convert"] + Self.net + ["-o", model])
      let v1 = ["v1.prototxt", "v1.caffemodel"].map(Self.caffe.path)
      for models in [
        [model] + Self.net, Self.net + [model], Self.net + Self.net.reversed(), Self.net + v1,
        [Self.caffe.path("whole.caffemodel"), model],
      ] {
        for input in [[], [Self.caffe.path("input.npy")]] {
          let result = try Command.run(["diff"] + models + input)
          #expect(result.code == 0, "\(models): \(result.output)\(result.errors)")
          #expect(
            result.output.contains("agrees within tolerance\n"), "\(models): \(result.output)")
        }
      }
      let alone = try Command.run(["diff"] + Self.net)
      #expect(alone.code == 64 && alone.errors.contains("one model"), "\(alone.errors)")
    }
  }

  @Test func arraysAreNotNetworks() throws {
    try withTemporaryFolder { folder in
      // The texts start with a word, like Caffe's, or with a section, like Darknet's.
      for (name, text) in [
        ("a.csv", "one,two\n1,2\n"), ("b.json", "[NaN]"), ("c.json", "{\"a\": 1}"),
      ] {
        let path = "\(folder)/\(name)"
        try writeFile(Array(text.utf8), to: path)
        let result = try Command.run("diff", path, path)
        #expect(!result.errors.contains("model"), "\(name): \(result.errors)")
        #expect(name == "a.csv" || result.code == 0, "\(name): \(result.errors)")
      }
    }
  }

  /// The output for a source network equals that for the converted one.
  @Test(arguments: [
    ["edit", "--rename", "prob=scores", "--author", "A"], ["compress", "--bits", "8"],
    ["compress", "--precision", "float16"],
  ])
  func writingCommandsConvertFirst(_ command: [String]) throws {
    try withTemporaryFolder { folder in
      let (model, a, b) = (folder + "/m.mlmodel", folder + "/a.mlmodel", folder + "/b.mlmodel")
      let options = command.dropFirst()
      try Command.run(["convert"] + Self.net + ["-o", model])
      let two = try Command.run([command[0], model, "-o", a] + options)
      let one = try Command.run([command[0]] + Self.net + ["-o", b] + options)
      #expect(two.code == 0 && one.code == 0, "\(two.errors)\(one.errors)")
      #expect(try fileBytes(a) == fileBytes(b))
    }
  }

  /// The same options make an image input for a source network and for a converted one.
  @Test func editConvertsWithItsOwnOptions() throws {
    try withTemporaryFolder { folder in
      let edited = folder + "/e.mlmodel"
      let result = try Command.run(
        ["edit", Self.demo.path("swish.h5"), "-o", edited, "--image-input", "image"]
          + ["--class-labels", Self.demo.path("labels.txt"), "--array-type", "float32"]
          + ["--cut-to", "dense", "--recipe", "keras-load-img"] + Self.preprocessing)
      #expect(result.code == 0, "\(result.errors)")
      let diff = try Command.run(
        "diff", edited, Self.demo.path("picture.png"), "--expected", Self.demo.path("expected.npz"))
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
      let shown = try Command.run("inspect", edited).output
      #expect(shown.contains("image  image 64×64 RGB") && shown.contains("float32"), "\(shown)")
      #expect(shown.contains("assay.image.recipe"), "\(shown)")
    }
  }

  /// YOLO's grids have 1/32 and 1/16 of the image's size.
  @Test(arguments: ["inspect", "bench", "check"])
  func architecturesAreLookedAt(_ command: String) throws {
    let network = Fixtures("darknet").path("yolov3-tiny.cfg")
    let arguments = [command, network, "--input-shape", "data=1,3,96,96"]
    let result = try Command.run(arguments + (command == "bench" ? ["--runs", "1"] : []))
    switch command {
    case "inspect":
      #expect(result.code == 0 && result.output.contains("array 255×3×3"), "\(result.output)")
      #expect(result.output.contains("array 255×6×6"), "\(result.output)")
    case "bench":
      #expect(result.code == 0 && result.output.contains("[1, 1, 3, 96, 96]"), "\(result.errors)")
      #expect(result.output.contains("weights   random"), "\(result.output)")
    default:
      #expect(result.code == 2 && result.errors.contains(".weights"), "\(result.errors)")
    }
  }

  @Test func architecturesAloneDoNotRun() throws {
    let input = Self.caffe.path("input.npy")
    for arguments in [
      ["run", Self.net[0], input], ["diff", Self.net[0], input, "--expected", input],
    ] {
      let result = try Command.run(arguments)
      #expect(result.code == 2 && result.output.isEmpty, "\(result.errors)")
      #expect(result.errors.contains("hint: add the .caffemodel"), "\(result.errors)")
    }
    try withTemporaryFolder { folder in
      let weights = folder + "/net.caffemodel"
      let missing = try Command.run("run", Self.net[0], weights, input)
      #expect(missing.code == 66 && missing.errors.contains(weights), "\(missing.errors)")
      try writeFile(Array("version https://git-lfs.github.com/spec/v1\n".utf8), to: weights)
      let pointer = try Command.run("run", Self.net[0], weights, input)
      #expect(pointer.code == 2 && pointer.errors.contains("Git LFS"), "\(pointer.errors)")
    }
    let none = try Command.run(["run"] + Self.net)
    #expect(none.code == 64 && none.errors.contains("no input"), "\(none.errors)")
  }

  @Test func coreMLModelsTakeNoOptionsOfConversion() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let input = Self.caffe.path("input.npy")
      try Command.run(["convert"] + Self.net + ["-o", model])
      let out = ["-o", folder + "/out.mlmodel"]
      let commands = [
        ["run", model, input], ["diff", model, input, "--expected", input], ["diff", model, model],
        ["inspect", model], ["bench", model], ["check", model],
        ["compress", model, "--bits", "8"] + out, ["edit", model] + out,
      ]
      for command in commands {
        for option in [["--input-shape", "data=1,3,6,6"], ["--custom-layers", "allow"]] {
          let result = try Command.run(command + option)
          #expect(result.code == 64, "\(command): \(result.errors)")
          #expect(
            result.errors.contains("m.mlmodel: \(option[0]) is for source"), "\(result.errors)")
        }
        let second = try Command.run(
          command[0] == "diff" || command[0] == "run"
            ? ["inspect", model, input] : command + [input])
        #expect(
          second.code == 2 && second.errors.contains("takes no second file"), "\(second.errors)")
      }
      let edited = try Command.run(["edit", model, "--array-type", "float32"] + out)
      #expect(edited.code == 0, "\(edited.errors)")
    }
  }

  @Test func aFaultySourceIsOneError() throws {
    try withTemporaryFolder { folder in
      let (half, text) = (folder + "/half.h5", folder + "/bad.prototxt")
      try writeFile(Array(Self.demo.bytes("swish.h5").prefix(3000)), to: half)
      try writeFile(Array("layer { name: \"a\" type: \"Power\" bottom: \"x\"".utf8), to: text)
      let out = ["-o", folder + "/out.mlmodel"]
      for path in [half, text] {
        for command in [
          ["run", path, "x.npy"], ["diff", path, "x.npy", "--expected", "y.npy"],
          ["inspect", path],
          ["bench", path], ["check", path], ["compress", path, "--bits", "8"] + out,
          ["edit", path] + out, ["convert", path] + out,
        ] {
          let result = try Command.run(command)
          // The findings of `check` are its result.
          let text = result.output + result.errors
          let errors = text.split(separator: "\n").filter { $0.hasPrefix("error: ") }
          #expect(result.code == 2 && errors.count == 1, "\(command): \(text)")
          #expect(text.contains(path), "\(command): \(text)")
        }
      }
    }
  }
}
