import TensorCore

/// Decision trees; the result is the sum of the leaves reached.
package struct TreeEnsemble: SpecificationMessage {
  /// A node; a branch selects one of its two children by comparing a feature with a number.
  package struct Node: SpecificationMessage {
    package enum Behavior: Int, Sendable, CaseIterable {
      case lessThanEqual = 0
      case lessThan = 1
      case greaterThanEqual = 2
      case greaterThan = 3
      case equal = 4
      case notEqual = 5
      case leaf = 6
    }

    package struct Evaluation: Sendable, Equatable {
      package var index: Int
      package var value: Double
    }

    package var tree = 0
    package var node = 0
    package var behavior = Behavior.lessThanEqual
    package var featureIndex = 0
    package var featureValue = 0.0
    package var trueChild = 0
    package var falseChild = 0
    package var missingValueTracksTrueChild = false
    package var evaluations: [Evaluation] = []
    package var relativeHitRate = 0.0
    package var unknownFields = UnknownFields()

    package init() {}

    package static let fields: Fields = [
      .int("treeId", \.tree), .int("nodeId", \.node), .value("nodeBehavior", \.behavior),
      .int("branchFeatureIndex", \.featureIndex), .double("branchFeatureValue", \.featureValue),
      .int("trueChildNodeId", \.trueChild), .int("falseChildNodeId", \.falseChild),
      .bool("missingValueTracksTrueChild", \.missingValueTracksTrueChild),
      Field(
        ["evaluationInfo"],
        read: { node, reader in
          node.evaluations = try reader.nestedArray("evaluationInfo").map {
            Evaluation(index: try $0.int("evaluationIndex"), value: $0.double("evaluationValue"))
          }
        },
        write: { node, writer in
          let evaluations = node.evaluations
          try writer.nestedArray("evaluationInfo", count: evaluations.count) {
            try $1.set("evaluationIndex", evaluations[$0].index)
            $1.set("evaluationValue", evaluations[$0].value)
          }
        }),
      .double("relativeHitRate", \.relativeHitRate),
    ]
  }

  package enum Transform: Int, Sendable, CaseIterable {
    case none = 0
    case softmax = 1
    case logistic = 2
    case softmaxWithZeroClassReference = 3
  }

  package var nodes: [Node] = []
  package var dimensions = 0
  package var base: [Double] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .messages("nodes", \.nodes), .int("numPredictionDimensions", \.dimensions),
    .doubles("basePredictionValue", \.base),
  ]

  func check(_ faults: inout ValidationIssues) {
    faults.require(
      (1...Limits.classLabels).contains(dimensions), "treeEnsemble.numPredictionDimensions",
      "\(dimensions) is invalid")
    faults.require(
      base.count == dimensions || base.isEmpty, "treeEnsemble.basePredictionValue",
      "\(base.count) numbers for \(dimensions) dimensions")
    faults.catching {
      do { _ = try roots() } catch let error as ModelError { throw error.inside("treeEnsemble") }
    }
  }

  private struct Name: Hashable {
    var tree: Int
    var node: Int
  }

  /// The indices in `nodes` of each tree's root and of each branch's children.
  ///
  /// - Throws: unless every node except the roots has exactly one parent, which rules out cycles.
  package func roots() throws -> (roots: [Int], children: [(Int, Int)]) {
    var positions: [Name: Int] = [:]
    for (index, node) in nodes.enumerated() {
      try require(
        positions.updateValue(index, forKey: Name(tree: node.tree, node: node.node)) == nil,
        "tree \(node.tree) has two nodes \(node.node)", field: "nodes[\(index)]")
    }
    var hasParent = [Bool](repeating: false, count: nodes.count)
    var children: [(Int, Int)] = []
    children.reserveCapacity(nodes.count)
    for (index, node) in nodes.enumerated() {
      guard node.behavior != .leaf else {
        children.append((index, index))
        let last = node.evaluations.map(\.index).max() ?? 0
        try require(
          last < dimensions, "the value for dimension \(last) of \(dimensions)",
          field: "nodes[\(index)].evaluationInfo")
        continue
      }
      try require(
        node.featureIndex < Limits.tensorElements,
        "\(node.featureIndex) is not the place of a feature",
        field: "nodes[\(index)].branchFeatureIndex")
      func child(_ number: Int, _ field: String) throws -> Int {
        guard let position = positions[Name(tree: node.tree, node: number)] else {
          throw ModelError(
            .malformed, "tree \(node.tree) has no node \(number)",
            field: "nodes[\(index)].\(field)")
        }
        try require(
          !hasParent[position], "node \(number) of tree \(node.tree) has two parents",
          field: "nodes[\(index)].\(field)")
        hasParent[position] = true
        return position
      }
      children.append(
        (
          try child(node.trueChild, "trueChildNodeId"),
          try child(node.falseChild, "falseChildNodeId")
        ))
    }
    // Since all other nodes have one parent, a node that no root leads to is part of a cycle.
    let roots = nodes.indices.filter { !hasParent[$0] }
    var trees: Set<Int> = []
    for root in roots {
      try require(
        trees.insert(nodes[root].tree).inserted, "tree \(nodes[root].tree) has two roots",
        field: "nodes[\(root)]")
    }
    var isReached = [Bool](repeating: false, count: nodes.count)
    var open = roots
    while let position = open.popLast() {
      isReached[position] = true
      if nodes[position].behavior != .leaf { open += [children[position].0, children[position].1] }
    }
    if let position = isReached.firstIndex(of: false) {
      throw ModelError(
        .malformed, "tree \(nodes[position].tree) has a cycle", field: "nodes[\(position)]")
    }
    return (roots, children)
  }
}
