import Assay
import ByteFormats
import CoreMLModel
import Foundation
import FuzzSupport
import HDF5Reader
import ImportSupport
import TensorCore

extension FuzzTarget {
  static let model = FuzzTarget(
    "model", suffix: ".mlmodel",
    mutator: { seeds in
      let mutator = MessageMutator(schema: SpecificationSchema.model, seeds: seeds)
      return { mutator.mutated($0, &$1) }
    }, attempt: network)

  static let keras = FuzzTarget(
    "keras", suffix: ".json", from: [".json", ".keras", ".h5"], seeds: kerasConfigurations,
    mutator: { seeds in
      let mutator = JSONMutator(seeds: seeds)
      return { mutator.mutated($0, &$1) }
    }, attempt: network)

  static let caffe = FuzzTarget(
    "caffe", suffix: ".prototxt",
    mutator: { seeds in
      let mutator = TextMutator(seeds: seeds)
      return { mutator.mutated($0, &$1) }
    }, attempt: network)

  static let darknet = FuzzTarget(
    "darknet", suffix: ".cfg",
    mutator: { seeds in
      let mutator = SectionMutator(seeds: seeds)
      return { mutator.mutated($0, &$1) }
    }, attempt: network)

  /// The positions, sizes and filters of data in small HDF5 files.
  static let chunks = FuzzTarget(
    "chunks", suffix: ".h5", from: ["-chunks.h5"],
    mutator: { _ in { ChunkMutator.mutated($0, &$1) } },
    attempt: { path, _ in try compareReadings(path) })

  /// Two processes read the same values only if these are in the file.
  private static func compareReadings(_ path: String) throws {
    let files = [try HDF5File.open(path), try HDF5File.open(path)]
    let datasets = files.map { $0.root.allDatasets.filter { $0.originalType.kind != .string } }
    for (one, other) in zip(datasets[0], datasets[1]) {
      do {
        let pair = [try one.values().array(), try other.values().array()]
        guard pair[0].map(\.bitPattern) == pair[1].map(\.bitPattern) else {
          throw Finding("\(one.path) has different values in two processes")
        }
      } catch is ModelError {}
    }
  }

  /// The actions of the commands on a network: it is read, converted as by `inspect`, `convert
  /// --dry-run` and `bench`, and the result goes through all paths of a document.
  static func network(_ path: String, _ bytes: [UInt8]) throws {
    let source = try ModelSource(contentsOf: path)
    if case .coreML(let model) = source {
      try ModelPaths(model: model).runAll()
      return
    }
    let model = try source.inspectedModel()
    _ = Inspection(model)
    var options = ConversionOptions()
    options.customLayers = .allow
    let plan = try source.plan(options)
    _ = (plan.rules, plan.similarClasses)
    guard model.weightCount < 1 << 19 else { return }
    if !source.hasWeights { options.missingWeights = .random(RandomWeights(seed: 1)) }
    try ModelPaths(model: source.convert(options).model).runAll()
  }

  /// The configurations in a JSON file or a `.keras` archive, or as text in an HDF5 file.
  @Sendable private static func kerasConfigurations(_ path: String, _ bytes: [UInt8]) -> [[UInt8]] {
    if path.hasSuffix(".json") {
      guard let json = try? JSONValue(parsing: bytes), json["class_name"] != nil else { return [] }
      return [bytes]
    }
    if path.hasSuffix(".keras") {
      guard let archive = try? ZipArchive(Bytes(bytes)), let member = archive["config.json"],
        let content = try? archive.contents(member)
      else { return [] }
      return [content.array(of: UInt8.self)]
    }
    guard bytes.count < 200_000 else { return [] }
    let text = Data(bytes)
    guard let begin = text.range(of: Data(#"{"class_name": ""#.utf8))?.lowerBound else { return [] }
    var depth = 0
    for index in begin..<bytes.count {
      if bytes[index] == UInt8(ascii: "{") { depth += 1 }
      if bytes[index] == UInt8(ascii: "}") {
        depth -= 1
        if depth == 0 { return [Array(bytes[begin...index])] }
      }
    }
    return []
  }
}

extension Model {
  /// The number of values in all weights, which the conversion has checked.
  fileprivate var weightCount: Int {
    networks.flatMap { $0.model.neuralNetwork?.layers ?? [] }.reduce(0) { sum, layer in
      (layer.parameters?.weights ?? []).reduce(sum) { sum, weight in
        let count = (try? checkedProduct(weight.shape, limit: 1 << 32)) ?? 1 << 32
        return min(1 << 40, sum + count)
      }
    }
  }
}
