import CoreMLModel
import ImportSupport
import TensorCore

/// exp(x / temperature) / Σ exp(x / temperature) over all elements, or over each of `groups` parts;
/// with `spatial`, over the channels at each position.
struct SoftmaxLayer: DarknetLayer {
  static let source = SourceLayer(
    "softmax", "soft",
    becomes:
      "flatten, softmax; with `groups` wrapped in reshapes and permutes; with `tree` a slice "
      + "and a softmax for each group of the file's classes, concat",
    refused: "`tree` if its file does not exist")
  static let options = ["groups", "temperature", "spatial", "tree"]
  static let trainingOptions = ["noloss"]

  private let groups: Int
  private let temperature: Double
  private let isSpatial: Bool
  private let tree: String?

  init(_ section: ConfigurationSection) throws {
    groups = try section.int("groups", default: 1, in: 1...Limits.dimension)
    temperature = try section.double("temperature", default: 1)
    isSpatial = try section.double("spatial", default: 0) != 0
    if let option = section["temperature"], temperature == 0 { throw section.error(option, "0") }
    tree = section.string("tree")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.input
    var blob = input.blob
    if temperature != 1 {
      blob = network.affine(blob, Float(1 / temperature), 0, call.name + "__temperature__")
    }
    if let tree { return try shares(tree, input.with(blob), call, &network) }
    if isSpatial { return input.with(network.add(call.name, Softmax(), [blob])) }
    blob = network.flattened(input.with(blob), for: call.name)
    try call.require(
      input.count % groups == 0, "\(input.count) numbers are not divisible into \(groups) groups")
    if groups == 1 { return try .vector(network.add(call.name, Softmax(), [blob]), input.count) }
    // One row per group, with its elements along the channels.
    let rows = network.reshaped(
      blob, 1, groups, input.count / groups, call.name + "__groups__")
    let transposed = network.permuted(rows, [0, 3, 2, 1], call.name + "__turned__")
    let shares = network.add(call.name, Softmax(), [transposed])
    let back = network.permuted(shares, [0, 3, 2, 1], call.name + "__back__")
    return try .vector(
      network.reshaped(back, input.count, 1, 1, call.name + "__row__"), input.count)
  }

  /// The softmax over each group of classes in a hierarchy.
  private func shares(
    _ name: String, _ input: DarknetTensor, _ call: LayerCall, _ network: inout DarknetWriter
  ) throws -> DarknetTensor {
    let tree: ClassTree
    do {
      guard let file = network.trees[name] else { throw ModelError(.missingFile, "no such file") }
      tree = try file.get()
    } catch {
      throw call.unsupported(
        "tree = \(name), a hierarchy of classes: \(error)", hint: "put the file beside the .cfg")
    }
    let total = tree.groups.reduce(0, +)
    try call.require(
      total == input.count, "\(name) has \(total) classes, but its input has \(input.count) numbers"
    )
    let blob = network.flattened(input, for: call.name)
    var parts: [String] = []
    var start = 0
    for (index, group) in tree.groups.enumerated() {
      let range = start..<start + group
      start = range.upperBound
      let part =
        tree.groups.count == 1 ? blob : network.slice(blob, range, "\(call.name)__group_\(index)__")
      parts.append(network.add("\(call.name)__share_\(index)__", Softmax(), [part]))
    }
    return try .vector(network.joined(parts, alongSequence: false, call.name), total)
  }
}
