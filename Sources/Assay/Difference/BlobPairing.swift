import CoreMLModel

/// Which blobs of two networks hold the same quantity.
///
/// Layers that belong together compute the same quantities, unless one of them absorbed the layer
/// that followed it: then its output holds what the absorbed layer computed.
struct BlobPairing {
  /// The second network's blob for each blob of the first.
  private(set) var blobs: [String: String] = [:]

  private let a: [NeuralNetworkLayer]
  private let b: [NeuralNetworkLayer]
  /// The first network's layer for each layer of the second.
  private let partners: [Int: Int]
  private let readersInA: [String: [Int]]
  private let readersInB: [String: [Int]]

  init(_ a: [NeuralNetworkLayer], _ b: [NeuralNetworkLayer], _ layers: [(a: Int, b: Int)]) {
    self.a = a
    self.b = b
    partners = Dictionary(uniqueKeysWithValues: layers.map { ($0.b, $0.a) })
    readersInA = Self.readers(a)
    readersInB = Self.readers(b)
    let (madeByA, madeByB) = (Set(a.flatMap(\.output)), Set(b.flatMap(\.output)))
    var unlike: Set<String> = []
    for (index, position) in layers {
      for (x, y) in zip(a[index].output, b[position].output) {
        let y = madeByB.contains(x) ? x : y
        switch quantity(of: y, like: x, index, position) {
        case .same: pair(x, y)
        case .another(let name):
          unlike.insert(x)
          if let name { pair(name, y) }
        }
      }
    }
    let used = Set(blobs.values)
    for name in a.flatMap(\.output)
    where madeByB.contains(name) && !unlike.contains(name) && !used.contains(name) {
      pair(name, name)
    }
    // Drops pairs with a name that denotes another quantity in the first network.
    for (x, y) in blobs where x != y && madeByA.contains(y) && blobs[y] == y { blobs[x] = nil }
  }

  private enum Quantity {
    case same
    /// The first network's blob that holds the quantity, if known.
    case another(String?)
  }

  private mutating func pair(_ x: String, _ y: String) { if blobs[x] == nil { blobs[x] = y } }

  private static func readers(_ layers: [NeuralNetworkLayer]) -> [String: [Int]] {
    var readers: [String: [Int]] = [:]
    for (index, layer) in layers.enumerated() {
      for name in layer.input { readers[name, default: []].append(index) }
    }
    return readers
  }

  /// What `y`, which layer `position` of the second network makes, is to the first, whose layer `index`
  /// makes `x`.
  private func quantity(of y: String, like x: String, _ index: Int, _ position: Int) -> Quantity {
    if isSame(index, position) { return .same }
    let present = Set(partners.values)
    let (before, after) = (readersInA[x] ?? [], readersInB[y] ?? [])
    // Either only removed layers read x, or only added layers read y.
    let isFolded = !before.isEmpty && before.allSatisfy { !present.contains($0) }
    let isUnfolded = !after.isEmpty && after.allSatisfy { partners[$0] == nil }
    guard isFolded != isUnfolded else { return .same }
    guard isFolded else { return .another(nil) }
    // The blobs of the first network that the partners of y's readers read instead.
    var sources: Set<String> = []
    for reader in after {
      guard let partner = partners[reader], isSame(partner, reader) else { return .another(nil) }
      for (own, name) in zip(a[partner].input, b[reader].input) where name == y {
        sources.insert(own)
      }
    }
    if sources.contains(x) { return .same }
    return .another(sources.count == 1 ? sources.first : nil)
  }

  /// Whether the layers compute the same, whatever they and their blobs are called.
  private func isSame(_ index: Int, _ position: Int) -> Bool {
    var layer = a[index]
    layer.name = b[position].name
    layer.input = b[position].input
    layer.output = b[position].output
    return layer == b[position]
  }
}
