import DarknetFormat
import Interpretation
import TensorCore

/// The sections of a configuration with their weights; parser.c, `parse_network_cfg`.
struct DarknetPlan {
  private(set) var sections: [DarknetSection] = []
  let inputShape: [Int]
  let isImage: Bool
  var weights: WeightCursor
  let storesBatchnormBiases: Bool
  /// The weights of convolutions by section, for sections that share them.
  var convolutions: [Int: StoredConvolution] = [:]
  /// Sizes of the class groups in the trees of sections.
  let trees: [String: [Int]]

  init(_ source: DarknetSource, _ weights: WeightCursor, storesBatchnormBiases: Bool) throws {
    self.weights = weights
    self.storesBatchnormBiases = storesBatchnormBiases
    trees = source.trees.compactMapValues { try? $0.get().groups }
    let net = try source.configuration.sections.first.orThrow(
      ModelError(.malformed, "it has no sections", file: source.path))
    let sizes = try ["channels", "height", "width"].map { try net.int($0, default: 0) }
    isImage = sizes.allSatisfy { $0 > 0 }
    inputShape = isImage ? sizes : [try net.int("inputs", default: 0), 1, 1]
    _ = try checkedProduct(inputShape, limit: Limits.tensorElements)
    for (index, section) in source.configuration.sections.dropFirst().enumerated() {
      let name = "\(section.name)_\(index)"
      let kind = section.kind
      do {
        let maker = SectionMaker(
          section: section, index: index, name: name,
          input: sections.last?.shape ?? inputShape, shapes: sections.map(\.shape))
        guard let operation = DarknetOperations.byKind[kind] else {
          // Its size and weights are unknown.
          sections.append(DarknetSection(name: name, kind: kind, shape: maker.input, forward: nil))
          return
        }
        sections.append(try operation(maker, &self))
      } catch let error as ModelError {
        throw error.inLayer(name, class: kind).inFile(source.path)
      }
    }
    guard weights.isUsedUp == false || self.weights.isUsedUp else {
      throw ModelError(.malformed, "the weights file has more layers", file: source.path)
    }
    try require(
      self.weights.isUsedUp, "the weights file has extra values", file: source.weights?.path)
  }
}

/// A section to prepare.
struct SectionMaker {
  let section: ConfigurationSection
  let index: Int
  let name: String
  /// Channels, rows and columns of the previous result.
  let input: [Int]
  /// The shapes of all previous results.
  let shapes: [[Int]]

  var count: Int { input.reduce(1, *) }

  func made(
    _ shape: [Int], reads: [Int] = [], states: [(name: String, shape: [Int])] = [],
    _ forward: @escaping (inout SectionRun) throws -> DoubleArray
  ) throws -> DarknetSection {
    _ = try checkedProduct(shape, limit: Limits.tensorElements)
    return DarknetSection(
      name: name, kind: section.kind, shape: shape, states: states, reads: reads, forward: forward)
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw ModelError(.malformed, message()) }
  }

  /// An option, parsed like C's `atoi`.
  func int(_ key: String, _ standard: Int) throws -> Int {
    try section.int(key, default: standard, in: -Limits.dimension...Limits.dimension)
  }

  /// An option of at least 1.
  func size(_ key: String, _ standard: Int) throws -> Int {
    let value = try int(key, standard)
    try require(value >= 1, "\(key) is \(value)")
    return value
  }

  func number(_ key: String, _ standard: Double) throws -> Double {
    try section.double(key, default: standard)
  }

  /// The indices of earlier sections; negative values are relative to this section.
  func earlier(_ key: String) throws -> [Int] {
    let positions = try (section.ints(key) ?? []).map { $0 < 0 ? index + $0 : $0 }
    try require(
      !positions.isEmpty && positions.allSatisfy { (0..<index).contains($0) },
      "\(key) is \(positions)")
    return positions
  }

  /// The function in `activation`.
  func activation(_ standard: String) throws -> (DoubleArray) throws -> DoubleArray {
    try DarknetActivations.function(section.string("activation") ?? standard)
  }
}
