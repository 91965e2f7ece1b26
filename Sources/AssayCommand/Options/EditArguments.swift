/// Edits of features: renames, optional inputs, types and shapes.
struct FeatureEditArguments: ParsableArguments {
  @Option(
    help: .usual(
      "Rename a feature everywhere; other options use the new name; repeatable.", "OLD=NEW"))
  var rename: [KeyValue] = []

  @Option(name: .customLong("array"), help: .usual("Make this image an array; repeatable.", "NAME"))
  var arrays: [String] = []

  @Option(
    name: .customLong("optional"),
    help: .usual("Make this input optional or, with =false, required; repeatable.", "NAME[=false]"))
  var optionalInputs: [String] = []

  @Option(
    name: .customLong("shape"),
    help: .usual(
      "Allow another shape for a feature (NAME=3,224,224), a range of sizes per axis (NAME=3,100:500,100:), or only its own (NAME=fixed); WIDTH,HEIGHT for an image; repeatable.",
      "NAME=SHAPE"))
  var shapes: [NamedBounds] = []

  func add(to edit: inout ModelEdit) throws {
    for pair in rename {
      try require(
        edit.renames.updateValue(pair.value, forKey: pair.key) == nil, .usage,
        "--rename names '\(pair.key)' twice")
    }
    edit.arrays = arrays
    let isRequired = "=false"
    edit.optionalInputs = optionalInputs.filter { !$0.hasSuffix(isRequired) }
    edit.requiredInputs = optionalInputs.filter { $0.hasSuffix(isRequired) }
      .map { String($0.dropLast(isRequired.count)) }
    edit.shapes = shapes.filter(\.bounds.isEmpty).map { ($0.name, .fixed) }
    var enumerated: [(name: String, shapes: [[Int]])] = []
    for shape in shapes where !shape.isRange && !shape.bounds.isEmpty {
      let sizes = shape.bounds.map(\.lowerBound)
      if let index = enumerated.firstIndex(where: { $0.name == shape.name }) {
        enumerated[index].shapes.append(sizes)
      } else {
        enumerated.append((shape.name, [sizes]))
      }
    }
    edit.shapes += enumerated.map { ($0.name, .enumerated($0.shapes)) }
    edit.shapes += shapes.filter(\.isRange).map { ($0.name, .ranges($0.bounds)) }
  }
}

/// Functions of an ML Program.
struct FunctionEditArguments: ParsableArguments {
  @Option(
    name: .customLong("default-function"),
    help: .usual(
      "Make this function the one that runs by default, and the one that other options edit.",
      "NAME"))
  var standard: String?

  @Option(
    name: .customLong("rename-function"),
    help: .usual("Rename a function, or remove it if NEW is empty; repeatable.", "OLD=NEW"))
  var renamed: [KeyValue] = []

  /// - Parameter kept: the only function to keep.
  func edit(keeping kept: String?) throws -> FunctionEdit {
    var edit = FunctionEdit()
    for pair in renamed where !pair.value.isEmpty {
      try require(
        edit.renames.updateValue(pair.value, forKey: pair.key) == nil, .usage,
        "--rename-function names '\(pair.key)' twice")
    }
    edit.removed = renamed.filter(\.value.isEmpty).map(\.key)
    (edit.standard, edit.kept) = (standard, kept)
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

/// `NAME=3,100:500,100:`: a size or bounds for each axis; `NAME=fixed` has none.
struct NamedBounds: ExpressibleByArgument {
  let name: String
  let bounds: [SizeRange]
  let isRange: Bool

  init?(argument: String) {
    guard let separator = argument.lastIndex(of: "=") else { return nil }
    var bounds: [SizeRange] = []
    let text = argument[argument.index(after: separator)...]
    isRange = text.contains(":")
    for axis in text == "fixed" ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
    {
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

/// Edits of parts of the network.
struct NetworkEditArguments: ParsableArguments {
  @Option(
    name: .customLong("add-output"),
    help: .usual("Make a layer or blob an output as well; repeatable.", "NAME"))
  var addedOutputs: [String] = []

  @Option(
    name: .customLong("remove-output"), help: .usual("Remove this output; repeatable.", "NAME"))
  var removedOutputs: [String] = []

  @Option(
    name: .customLong("cut-from"),
    help: .usual("Keep only the part that starts at this blob; repeatable.", "BLOB"))
  var cutInputs: [String] = []

  @Option(
    name: .customLong("cut-to"),
    help: .usual("Keep only the part that ends at this blob; repeatable.", "BLOB"))
  var cutOutputs: [String] = []

  @Option(
    name: .customLong("weights"),
    help: .usual("Read weights from a folder that inspect --export-weights wrote.", "DIR"),
    completion: .directory)
  var weights: String?

  @Flag(name: .customLong("not-updatable"), help: "Remove everything for training on the device.")
  var notUpdatable = false

  func add(to edit: inout ModelEdit) {
    edit.addedOutputs = addedOutputs
    edit.removedOutputs = removedOutputs
    edit.cutInputs = cutInputs
    edit.cutOutputs = cutOutputs
    edit.removesTraining = notUpdatable
  }
}
