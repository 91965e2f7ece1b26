import Assay
import CaffeImport
import CaffeInterpretation
import CoreMLModel
import DarknetImport
import DarknetInterpretation
import ImportSupport
import KerasImport
import KerasInterpretation
import TestSupport
import Testing

/// Converted networks compared with the interpreters of their sources.
@Suite struct ProofTests {
  struct Network: CustomTestStringConvertible, Sendable {
    let name: String
    let files: [String]

    var testDescription: String { name }

    func converted() throws -> (model: Model, origin: ProofOrigin) {
      let source = try ModelSource(contentsOf: files[0], weights: files.dropFirst().first)
      let options = ConversionOptions()
      let result = try source.convert(options)
      return (result.model, ProofOrigin(source, options, result))
    }
  }

  /// The networks in a folder of files that differ only in their extensions.
  private static func networks(_ folder: String, _ ending: String, _ weights: String) -> [Network] {
    let fixtures = Fixtures(folder)
    let names = Set(fixtures.names)
    return fixtures.names.filter { $0.hasSuffix(ending) && names.contains($0) }.map { file in
      let name = String(file.dropLast(ending.count))
      return Network(
        name: name,
        files: [file, name + weights].filter(names.contains).map(fixtures.path))
    }
  }

  /// The convertible networks in a corpus of Caffe files.
  private static func corpus(_ folder: String, names: [String]? = nil) -> [Network] {
    (names ?? fileNames(in: folder)).compactMap { name in
      let files = ["deploy.prototxt", "model.caffemodel"].map { "\(folder)/\(name)/\($0)" }
        .filter(fileExists)
      let network = Network(name: name, files: files)
      return files.first?.hasSuffix("prototxt") == true && (try? network.converted()) != nil
        ? network : nil
    }
  }

  /// The convertible networks in a corpus of Keras files.
  private static func kerasCorpus(_ folder: String, names: [String]? = nil) -> [Network] {
    (names ?? fileNames(in: folder)).compactMap { name in
      let network = Network(name: name, files: ["\(folder)/\(name)/model.h5"])
      return (try? network.converted()) != nil ? network : nil
    }
  }

  static let fixtures =
    kerasCorpus(Fixtures("corpus").path("keras")) + kerasCorpus(Fixtures("corpus").path("keras1"))
    + networks("caffe/layers", ".prototxt", ".caffemodel")
    + networks("darknet/layers", ".cfg", ".weights")
    + corpus(Fixtures("corpus").path("caffe"))

  /// Outputs without a counterpart: the argmax masks, which are planes of zeros and ones, and the
  /// copy of an output that two layers share.
  private static let other: [String: Set<String>] = [
    "unpoolings": ["seen_mask"], "shapes": ["permute_some_"],
  ]

  @Test(arguments: fixtures) func networksAreProved(_ network: Network) throws {
    let (model, origin) = try network.converted()
    let proof = try origin.proof(of: model)
    #expect(proof.finding == nil, "\(String(describing: proof.finding))")
    #expect(proof.missing == nil)
    #expect(proof.openOutputs == Self.other[network.name] ?? [])
    #expect(!proof.agreeing.isEmpty)
    // The bound allows ten times the engine's rounding errors.
    #expect(proof.largest < 1e-4)
  }

  @Test(.shared("corpus/caffe"), arguments: sampled("corpus/caffe", corpus))
  func corpusIsProved(_ network: Network) throws {
    let (model, origin) = try network.converted()
    let proof = try origin.proof(of: model)
    #expect(proof.isComplete, "\(String(describing: proof.finding)) \(proof.openOutputs)")
  }

  /// The sampled convertible networks of a shared corpus.
  private static func sampled(
    _ corpus: String, _ networks: (String, [String]?) -> [Network]
  ) -> [Network] {
    let folder = Shared.path(corpus)
    return networks(folder, fileNames(in: folder).sampled)
  }

  private static let kerasFolders = ["keras", "keras-variants", "keras1"].map { "corpus/\($0)" }
  private static let kerasCorpora = kerasFolders.flatMap { sampled($0, kerasCorpus) }

  @Test(.shared("corpus/keras")) func kerasCorporaAreConverted() {
    let count = Self.kerasFolders.reduce(0) { $0 + fileNames(in: Shared.path($1)).sampled.count }
    #expect(Self.kerasCorpora.count * 20 >= count * 19, "\(Self.kerasCorpora.count) of \(count)")
  }

  /// Proofs are complete except for code of Keras itself, and for outputs that two layers share.
  @Test(
    .shared("corpus/keras"),
    arguments: kerasCorpora)
  func kerasCorpusIsProved(_ network: Network) throws {
    let (model, origin) = try network.converted()
    let proof = try origin.proof(of: model)
    #expect(proof.finding == nil, "\(String(describing: proof.finding))")
    let lacking = proof.takenOver + [proof.missing].compactMap { $0 }
    #expect(lacking.allSatisfy { $0.layerClass == "Lambda" }, "\(lacking)")
    if lacking.isEmpty && !network.name.contains("return_state") {
      #expect(proof.openOutputs == [])
    }
  }

  /// The networks with one layer each and those of layer collections, if they convert without
  /// options: no layer differs. Layers that the interpreter lacks use the model's values.
  @Test(arguments: [
    "keras/layers/tf2", "keras/layers/k3", "keras/layers/keras1", "keras/collections",
  ])
  func layersAreProved(_ folder: String) throws {
    let fixtures = Fixtures(folder)
    var counts = (whole: 0, all: 0)
    for file in fixtures.names where file.hasSuffix(".h5") || file.hasSuffix(".keras") {
      let network = Network(name: file, files: [fixtures.path(file)])
      guard let (model, origin) = try? network.converted() else { continue }
      do {
        let proof = try origin.proof(of: model)
        #expect(proof.finding == nil, "\(file): \(String(describing: proof.finding))")
        counts.all += 1
        if proof.isComplete { counts.whole += 1 }
      } catch let error as ModelError where error.code == .unsupported {
        continue
      } catch {
        Issue.record("\(file): \(error)")
      }
    }
    let least = [
      "keras/layers/tf2": 200, "keras/layers/k3": 130, "keras/layers/keras1": 11,
      "keras/collections": 2,
    ]
    #expect(counts.whole >= least[folder] ?? 0, "\(counts)")
  }

  /// A proof found that the middle row or column was used here; interp.cpp uses the first, since
  /// its scale is 0 for a size of 1.
  @Test(arguments: ["height: 1 width: 4", "height: 3 width: 1", "shrink_factor: 7"])
  func resizingToOneRow(_ settings: String) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/net.prototxt"
      let text = """
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 5 dim: 7 } } }
        layer { name: "y" type: "Interp" bottom: "x" top: "y" interp_param { \(settings) } }
        """
      try writeFile(Array(text.utf8), to: path)
      let (model, origin) = try Network(name: settings, files: [path]).converted()
      let proof = try origin.proof(of: model)
      #expect(proof.isComplete, "\(String(describing: proof.finding))")
    }
  }

  /// The interpreters support everything that the converters do.
  @Test func everyTypeIsInterpreted() {
    let caffe = Set(CaffeImporter.supportedTypes.flatMap(\.names))
    #expect(caffe.subtracting(CaffeInterpreter.types) == [])
    let darknet = Set(LayerCatalog.entries.flatMap(\.layer.names))
    #expect(darknet.subtracting(DarknetInterpreter.kinds) == [])
    let keras = Set(KerasImporter.supportedClasses.joined())
    #expect(keras.subtracting(KerasInterpreter.classes) == UninterpretedClasses.keras)
  }

  /// After one change to a converted network, the proof names the layer.
  @Test func damagesAreNamed() throws {
    let count = try Self.fixtures.reduce(0) {
      $0 + (try damagesAreNamed($1, ConversionDamage.all, most: 12))
    }
    #expect(count >= 500)
  }

  private static let recurrent = [
    "any_length_lstm_sequences", "any_length_gru_sequences", "any_length_simplernn_sequences",
    "bidirectional_lstm_concat_sequences", "bidirectional_lstm_sum_last",
    "bidirectional_gru_concat_last", "cudnn_lstm_one", "gru_reset_before", "gru_options",
    "initial_state_lstm", "lstm_hard_sigmoid", "rnn_options", "time_distributed_lstm",
  ].map { name in
    Network(name: name, files: [Fixtures("keras/layers/tf2").path(name + ".h5")])
  }

  /// The same for the gates of recurrent layers.
  @Test func damagedGatesAreNamed() throws {
    let count = try Self.recurrent.reduce(0) {
      $0 + (try damagesAreNamed($1, ConversionDamage.gates, most: 40))
    }
    #expect(count >= 100)
  }

  /// - Returns: the number of damages that changed a layer's result.
  private func damagesAreNamed(
    _ network: Network, _ damages: [ConversionDamage], most: Int
  ) throws -> Int {
    let (model, origin) = try network.converted()
    let layers = model.neuralNetwork?.layers ?? []
    var count = 0
    for index in layers.indices {
      for damage in damages where count < most {
        var damaged = model
        let nearest = model.nearest(origin.comparedBlobs, behind: index)
        guard try damage.apply(to: &damaged, at: index),
          try damaged.differs(from: model, in: nearest)
        else { continue }
        count += 1
        let proof = try origin.proof(of: damaged)
        let comment = "\(network.name): \(damage.name) of layer '\(layers[index].name)'"
        guard let finding = proof.finding else {
          Issue.record("\(comment) is not found")
          continue
        }
        #expect(
          nearest.contains(finding.blob), "\(comment): '\(finding.blob)' of \(nearest.sorted())")
      }
    }
    return count
  }

  @Test func commands() throws {
    try withTemporaryFolder { folder in
      let fixtures = Fixtures("caffe")
      let files = ["v2.prototxt", "single.caffemodel"].map(fixtures.path)
      let path = folder + "/net.mlmodel"
      let converted = try Command.run(["convert"] + files + ["-o", path, "--prove"])
      #expect(converted.code == 0)
      #expect(converted.output.contains(" layers agree with a second reading of v2.prototxt\n"))
      let same = try Command.run(["diff"] + files + [path, fixtures.path("input.npy")])
      #expect(same.code == 0)
      #expect(same.output.contains(" layers agree with a second reading of v2.prototxt\n"))
      #expect(same.output.contains(", on 3 inputs\n"))

      var model = try Model(contentsOf: path)
      let index = try #require(
        model.neuralNetwork?.layers.firstIndex { $0.parameters is InnerProduct })
      let name = try #require(model.neuralNetwork?.layers[index].name)
      #expect(try ConversionDamage.swappedWeights.apply(to: &model, at: index))
      try model.write(to: path)
      let different = try Command.run(["diff"] + files + [path])
      #expect(different.code == 1)
      #expect(different.output.contains(" with a second reading of v2.prototxt; 1 differs"))
      #expect(different.output.contains("layer '\(name)' differs on random numbers of seed 0"))
      let json = try Command.run(["diff"] + files + [path, "--json"])
      #expect(json.output.contains("\"differs\""))
    }
  }
}
