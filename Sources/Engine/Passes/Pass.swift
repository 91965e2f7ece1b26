import Kernels
import TensorCore

/// A rewrite of the graph that preserves every exposed value.
protocol Pass: SendableMetatype {
  /// The name in command-line options.
  static var name: String { get }
  /// Rewrites the graph; returns whether anything has changed.
  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool
}

struct PassContext: Sendable {
  let pool: ThreadPool
  let kernels: any KernelTable.Type
  var tiles = Tiles.none
  let convolution: ConvolutionAlgorithm
  var usesIntegers = false

  var channelBlock: Int { kernels.channelBlock }
}

/// The passes and their names, as used by `--plan` and `--without`.
package enum Passes {
  /// Passes that are repeated in this order until none of them changes anything.
  static let repeated: [any Pass.Type] = [
    IdentityElimination.self, ConstantFolding.self, DeadCode.self, PaddingFusion.self,
    AffineFusion.self, FunctionRecognition.self, NormalizationFusion.self,
    ElementwiseChaining.self, SwishFusion.self, OperandFolding.self, AttentionFusion.self,
    ResidualFusion.self, CropFusion.self, ActivationFusion.self,
    MethodSelection.self, PoolingFusion.self,
    DeadCode.self,
  ]

  /// Passes that run once after the others, which do not support the operations that they choose.
  static let selections: [any Pass.Type] = [
    UpsampledSelection.self, PieceSelection.self, PlanarSelection.self, RowFunctionFusion.self,
    SeparableFusion.self, Subsampling.self,
  ]

  /// The name for the graph before any pass.
  package static let lowering = "lowering"

  /// Names of the passes, in the order in which they run.
  package static let names = (repeated.dropLast() + selections).map { $0.name }

  /// - Throws: `.usage`, with the valid names, if no pass has one of `names`.
  package static func check(_ names: some Sequence<String>) throws {
    for name in names where !Self.names.contains(name) {
      throw ModelError(
        .usage, "unknown pass '\(name)'",
        hint: "valid passes are \(Self.names.joined(separator: ", "))")
    }
  }

  /// Runs all passes except `skipped`, up to the first run of `last` or to the end.
  static func run(
    _ graph: inout Graph, _ context: PassContext, without skipped: Set<String>,
    of repeated: [any Pass.Type] = repeated, upTo last: String? = nil
  ) throws {
    var isDone = last == lowering
    func run(_ pass: any Pass.Type, _ graph: inout Graph) throws -> Bool {
      if isDone { return false }
      isDone = pass.name == last
      if skipped.contains(pass.name) { return false }
      do {
        guard try pass.run(&graph, context) else { return false }
        try graph.check()
      } catch var error as ModelError {
        error.message = "in the pass \(pass.name): \(error.message)"
        throw error
      }
      return true
    }
    var changed = true
    while changed {
      changed = false
      for pass in repeated where try run(pass, &graph) { changed = true }
    }
    for pass in selections { _ = try run(pass, &graph) }
  }
}

extension Graph {
  /// Checks that every blob is written before it is read.
  ///
  /// - Throws: `.internal`, with the node's name.
  fileprivate func check() throws {
    var isWritten = values.map { $0.constant != nil }
    for input in inputs { isWritten[input.value] = true }
    func require(_ value: ValueID) throws {
      guard isWritten[value] else {
        throw ModelError(.internal, "the blob \(label(of: value)) is read before it is written")
      }
    }
    for node in nodes {
      try node.inErrors { for input in node.inputs { try require(input) } }
      for output in node.outputs { isWritten[output] = true }
    }
    for (_, value) in exposed { try require(value) }
  }
}

extension Graph.Node {
  /// Runs `body` and adds the node's name to its errors.
  func inErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ModelError {
      throw error.inLayer(name, class: layerType)
    }
  }
}
