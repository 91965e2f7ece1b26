import TensorCore

/// A group as the worker described it.
final class GroupNode: Sendable {
  let name: String
  let path: String
  let attributes: [String: HDF5Attribute]
  /// In the order of the file's name index, which sorts by bytes.
  let groups: [GroupNode]
  /// Indices in the file's list of datasets.
  let datasets: [Int]
  /// Names of unsupported objects, with the reason.
  let refused: [String: ModelError]
  private let positions: [String: Int]

  init(_ open: OpenGroup) {
    name = open.name
    path = open.path
    attributes = open.attributes
    groups = open.groups
    datasets = open.datasets
    refused = open.refused
    positions = Dictionary(uniqueKeysWithValues: open.groups.enumerated().map { ($1.name, $0) })
  }

  func group(named name: String) -> GroupNode? { positions[name].map { groups[$0] } }
}

/// A group whose description is not complete yet.
struct OpenGroup {
  var name: String
  var path: String
  var attributes: [String: HDF5Attribute] = [:]
  var groups: [GroupNode] = []
  var datasets: [Int] = []
  var refused: [String: ModelError] = [:]
  var names: Set<String> = []

  func path(of child: String) -> String { (path == "/" ? "" : path) + "/" + child }
}

/// A dataset as the worker described it.
struct DatasetNode: Sendable {
  var name: String
  var path: String
  var type: HDF5ElementType
  var shape: [Int]
  var count: Int
  /// Offset of the values in the file if they are contiguous little-endian 32-bit floats; otherwise
  /// nil.
  var fileOffset: Int?
}
