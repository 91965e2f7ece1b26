import ArgumentParser
import Assay

/// Features by name: renames, optional inputs, types and shapes.
struct FeatureEditArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Rename a feature everywhere; other options use the new name; repeatable.",
      valueName: "OLD=NEW"))
  var rename: [KeyValue] = []

  @Option(
    name: .customLong("array"),
    help: ArgumentHelp("Make this image an array; repeatable.", valueName: "NAME"))
  var arrays: [String] = []

  @Option(
    name: .customLong("optional"),
    help: ArgumentHelp("Make this input optional; repeatable.", valueName: "NAME"))
  var optionalInputs: [String] = []

  @Option(
    name: .customLong("required"),
    help: ArgumentHelp("Make this input required; repeatable.", valueName: "NAME"))
  var requiredInputs: [String] = []

  @Option(
    name: .customLong("allow-shape"),
    help: ArgumentHelp(
      "Allow another shape for a feature; WIDTH,HEIGHT for an image; repeatable.",
      valueName: "NAME=C,H,W"))
  var allowedShapes: [NamedBounds] = []

  @Option(
    name: .customLong("shape-range"),
    help: ArgumentHelp(
      "Allow a range of sizes per axis; LOW: has no upper bound; WIDTH,HEIGHT for an image.",
      valueName: "NAME=3,100:500,100:"))
  var shapeRanges: [NamedBounds] = []

  @Option(
    name: .customLong("fixed-shape"),
    help: ArgumentHelp("Allow only this feature's own shape; repeatable.", valueName: "NAME"))
  var fixedShapes: [String] = []

  func validate() throws {
    if let named = allowedShapes.first(where: { $0.bounds.contains { $0.lower != $0.upper } }) {
      throw ValidationError("--allow-shape takes sizes, not ranges, for '\(named.name)'")
    }
  }

  func add(to edit: inout ModelEdit) throws {
    for pair in rename {
      try require(
        edit.renames.updateValue(pair.value, forKey: pair.key) == nil, .usage,
        "--rename names '\(pair.key)' twice")
    }
    edit.arrays = arrays
    edit.optionalInputs = optionalInputs
    edit.requiredInputs = requiredInputs
    edit.shapes = fixedShapes.map { ($0, .fixed) }
    var enumerated: [(name: String, shapes: [[Int]])] = []
    for shape in allowedShapes {
      let sizes = shape.bounds.map(\.lower)
      if let index = enumerated.firstIndex(where: { $0.name == shape.name }) {
        enumerated[index].shapes.append(sizes)
      } else {
        enumerated.append((shape.name, [sizes]))
      }
    }
    edit.shapes += enumerated.map { ($0.name, .enumerated($0.shapes)) }
    edit.shapes += shapeRanges.map { ($0.name, .ranges($0.bounds)) }
  }
}

/// Functions of an ML Program.
struct FunctionEditArguments: ParsableArguments {
  @Option(
    name: .customLong("default-function"),
    help: ArgumentHelp(
      "Make this function the one that runs by default, and the one that other options edit.",
      valueName: "NAME"))
  var standard: String?

  @Option(
    name: .customLong("rename-function"),
    help: ArgumentHelp("Rename a function; repeatable.", valueName: "OLD=NEW"))
  var renamed: [KeyValue] = []

  @Option(
    name: .customLong("remove-function"),
    help: ArgumentHelp("Remove a function; repeatable.", valueName: "NAME"))
  var removed: [String] = []

  /// - Parameter kept: the only function to keep.
  func edit(keeping kept: String?) throws -> FunctionEdit {
    var edit = FunctionEdit()
    for pair in renamed {
      try require(
        edit.renames.updateValue(pair.value, forKey: pair.key) == nil, .usage,
        "--rename-function names '\(pair.key)' twice")
    }
    (edit.removed, edit.standard, edit.kept) = (removed, standard, kept)
    return edit
  }
}

struct ArrayTypeArgument: ExpressibleByArgument {
  let dataType: ArrayFeatureType.DataType

  init?(argument: String) {
    switch argument {
    case "double": dataType = .double
    case "float32": dataType = .float32
    case "float16": dataType = .float16
    case "int32": dataType = .int32
    default: return nil
    }
  }
}

/// `NAME=3,100:500,100:`: a size or bounds for each axis.
struct NamedBounds: ExpressibleByArgument {
  let name: String
  let bounds: [ShapeChoice.ClosedBounds]

  init?(argument: String) {
    guard let separator = argument.lastIndex(of: "=") else { return nil }
    var bounds: [ShapeChoice.ClosedBounds] = []
    let text = argument[argument.index(after: separator)...]
    for axis in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = axis.split(separator: ":", omittingEmptySubsequences: false)
      guard let lower = Int(ends[0]), lower > 0 else { return nil }
      switch ends.count {
      case 1: bounds.append(.init(lower, lower))
      case 2 where ends[1].isEmpty: bounds.append(.init(lower, -1))
      case 2:
        guard let upper = Int(ends[1]), upper >= lower else { return nil }
        bounds.append(.init(lower, upper))
      default: return nil
      }
    }
    name = String(argument[..<separator])
    self.bounds = bounds
  }
}

/// Parts of the network.
struct NetworkEditArguments: ParsableArguments {
  @Option(
    name: .customLong("add-output"),
    help: ArgumentHelp(
      "Make a layer or blob an output as well; repeatable.", valueName: "NAME"))
  var addedOutputs: [String] = []

  @Option(
    name: .customLong("remove-output"),
    help: ArgumentHelp("Remove this output; repeatable.", valueName: "NAME"))
  var removedOutputs: [String] = []

  @Option(
    name: .customLong("cut-from"),
    help: ArgumentHelp(
      "Keep only the part that starts at this blob; repeatable.", valueName: "BLOB"))
  var cutInputs: [String] = []

  @Option(
    name: .customLong("cut-to"),
    help: ArgumentHelp("Keep only the part that ends at this blob; repeatable.", valueName: "BLOB"))
  var cutOutputs: [String] = []

  @Option(
    name: .customLong("weights"),
    help: ArgumentHelp(
      "Read weights from a folder that inspect --export-weights wrote.", valueName: "DIR"),
    completion: .directory)
  var weights: String?

  @Option(
    name: .customLong("specification-version"),
    help: ArgumentHelp("Set the specification version.", valueName: "N"))
  var version: Int?

  @Flag(name: .customLong("not-updatable"), help: "Remove everything for training on the device.")
  var notUpdatable = false

  func add(to edit: inout ModelEdit) {
    edit.addedOutputs = addedOutputs
    edit.removedOutputs = removedOutputs
    edit.cutInputs = cutInputs
    edit.cutOutputs = cutOutputs
    edit.version = version
    edit.removesTraining = notUpdatable
  }
}
