import ByteFormats
import CoreMLModel
import Imaging
import ModelPrediction
import TensorCore

/// The inputs of a prediction as Python expressions that coremltools takes.
struct CoreMLScriptInputs {
  /// The members of a dictionary, `"NAME": VALUE`.
  private(set) var lines: [String] = []
  private(set) var hasImages = false

  /// The largest number of elements that are written into a script.
  private static let literalLimit = 256

  init(_ model: Model, _ words: [String]) throws {
    let source = try InputSource.only(words, for: model, command: "record")
    let values = try source.read(for: model)
    let interface = try Predictor(model: model).interface
    let blobs = model.usesFeatures ? [:] : try source.blamed { try interface.blobs(values) }
    var arrays: [(python: String, value: Tensor)] = []
    for (_, path) in source.files {
      let format = try FileFormat.read(path).format
      guard format == .numPy || format == .zip else { continue }
      for array in try ArraySet.read(path).arrays {
        let name = array.name.map { "[\(JSONValue.quoted($0))]" } ?? ""
        arrays.append(("np.load(\(JSONValue.quoted(path)))\(name)", array.tensor))
      }
    }
    for feature in interface.inputs {
      guard let value = values[feature.name], let kind = feature.type?.kind else { continue }
      let python: String
      do {
        switch (kind, value) {
        case (.image(let image), .image(let given)):
          let path = source.files.first { $0.feature == feature.name }?.path
          python = try Self.image(
            given, image, path: path ?? Self.onlyImage(source.files) ?? source.files[0].path)
          hasImages = true
        case (.multiArray(let array), .array(let given)):
          python = try Self.array(
            given, array, feature.name, model, blobs[feature.name]?.shape,
            from: arrays.first { $0.value == given }?.python)
        case (.multiArray(let array), .numbers(let given)):
          let values = Tensor(shape: given.shape, given.elements.map { Float($0) })
          python = try Self.array(
            values, array, feature.name, model, blobs[feature.name]?.shape,
            from: arrays.first { $0.value == values }?.python)
        case (_, .numbers(let given)) where given.elements.count == 1:
          python = Self.literal(given.elements[0])
        case (_, .array(let given)) where given.count == 1:
          python = Self.literal(Double(given.elements[0]))
        case (_, .int(let number)): python = String(number)
        case (_, .double(let number)): python = Self.literal(number)
        case (_, .string(let text)): python = JSONValue.quoted(text)
        case (_, .dictionary(let entries)):
          python =
            "{"
            + entries.sorted { $0.key < $1.key }.map {
              switch $0.key {
              case .int(let key): "\(key): \(Self.literal($0.value))"
              case .string(let key): "\(JSONValue.quoted(key)): \(Self.literal($0.value))"
              }
            }.joined(separator: ", ") + "}"
        default:
          throw ModelError(
            .mismatch, "coremltools takes another kind of value", hint: "give an image")
        }
      } catch let error as ModelError {
        throw error.inside(feature.name).inFile(source.name)
      }
      lines.append("\(JSONValue.quoted(feature.name)): \(python)")
    }
  }

  private static func onlyImage(_ files: [(feature: String?, path: String)]) -> String? {
    files.first { $0.feature == nil && (try? ExpectedArrays.isImage($0.path)) == true }?.path
  }

  private static func image(
    _ image: Image, _ declared: ImageFeatureType, path: String
  ) throws -> String {
    try require(
      declared.flexibility != nil
        || (image.width, image.height) == (declared.width, declared.height), .mismatch,
      "the image is \(image.width)×\(image.height), but the model takes "
        + "\(declared.width)×\(declared.height)",
      hint: "give an image of that size, for coremltools does not resize")
    let mode =
      switch declared.colorSpace {
      case .grayscale: "L"
      case .grayscaleFloat16: "F"
      default: "RGB"
      }
    return "Image.open(\(JSONValue.quoted(path))).convert(\"\(mode)\")"
  }

  /// - Parameters:
  ///   - shape: the shape of the network's blob.
  ///   - file: the expression that reads the array from a file, if any.
  private static func array(
    _ array: Tensor, _ declared: ArrayFeatureType, _ feature: String, _ model: Model,
    _ shape: [Int]?, from file: String?
  ) throws -> String {
    var python: String
    if let file {
      python = file
    } else {
      try require(
        array.count <= literalLimit, .mismatch, "the array is too large for a script",
        hint: "save it as a .npy file")
      python = "np.array([\(array.elements.map { literal(Double($0)) }.joined(separator: ", "))])"
    }
    var axes = array.shape
    let key = SourceLayout.metadataPrefix + feature
    if let letters = model.description?.metadata?.userDefined[key], file != nil {
      let order = Axes(letters).order(rank: axes.count)
      if order != Array(axes.indices) {
        python += ".transpose(\(order.map(String.init).joined(separator: ", ")))"
        axes = order.map { array.shape[$0] }
      }
    }
    let wanted = try shape.map { try coreMLShape($0, declared) } ?? axes
    if wanted != axes || file == nil {
      python += ".reshape(\(wanted.map(String.init).joined(separator: ", ")))"
    }
    switch declared.dataType {
    case .int32: python += ".astype(\"int32\")"
    case .int8: python += ".astype(\"int8\")"
    case .float16: python += ".astype(\"float16\")"
    case .double: python += ".astype(\"float64\")"
    default: python += ".astype(\"float32\")"
    }
    return python
  }

  /// The shape in which Core ML takes a blob. In networks without exact ranks: `[C]`, `[Seq, Batch,
  /// C]`, `[C, H, W]`, or all five axes.
  private static func coreMLShape(_ blob: [Int], _ declared: ArrayFeatureType) throws -> [Int] {
    let rank = declared.shape.count
    if blob.count == rank { return blob }
    guard blob.count == 5 else {
      // The array has a batch axis, but the network takes single items.
      try require(
        blob.count == rank + 1 && blob[0] == 1, .mismatch, "Core ML takes one item at a time",
        hint: "give an array of one item")
      return Array(blob.dropFirst())
    }
    let isOne = blob[0] == 1 && blob[1] == 1
    if rank == 1, blob[3] == 1, blob[4] == 1 { return isOne ? [blob[2]] : Array(blob[0..<3]) }
    return isOne && rank == 3 ? Array(blob[2...]) : blob
  }

  private static func literal(_ number: Double) -> String {
    number.isFinite ? "\(number)" : "float(\"\(number)\")"
  }
}

/// The axes of an array in the framework that a model came from, and in Core ML.
private struct Axes {
  let source: [Character]
  let coreML: [Character]

  init(_ recorded: String) {
    let halves = recorded.split(separator: ":", maxSplits: 1).map(Array.init)
    source = halves.first ?? []
    coreML = halves.count == 2 ? halves[1] : Array("TNCHW")
  }

  /// The index in the source's array of each of Core ML's axes; axes of length 1 that Core ML lacks
  /// come first. An array with one axis less has no batch axis.
  func order(rank: Int) -> [Int] {
    let axes = rank == source.count - 1 ? source.filter { $0 != "N" } : source
    guard axes.count == rank else { return Array(0..<rank) }
    let rest = axes.indices.filter { !coreML.contains(axes[$0]) }
    return rest + coreML.compactMap(axes.firstIndex)
  }

  var isReordered: Bool {
    let order = order(rank: source.count)
    return order != order.sorted()
  }
}

/// The outputs of a model as Python expressions.
struct CoreMLScriptOutputs {
  /// The only output, if it is an image.
  private(set) var image: String?
  /// The outputs that are saved as arrays.
  private(set) var arrays: [(name: String, value: String)] = []
  /// The other outputs that are images, whose samples are rounded.
  private(set) var otherImages: [String] = []
  /// Whether an output is a classifier's probabilities.
  private(set) var needsClasses = false
  /// The recorded axes, as Python, if any array has another order in Core ML.
  private(set) var axes: (named: String, inner: String)?

  init(_ model: Model) {
    let description = model.description ?? ModelDescription()
    let recorded = description.metadata?.userDefined ?? [:]
    let inner = recorded[SourceLayout.blobKey] ?? ""
    let named = recorded.filter { $0.key.hasPrefix(SourceLayout.metadataPrefix) }
    if Axes(inner).isReordered || named.values.contains(where: { Axes($0).isReordered }) {
      // The order of axes matters only for more than one.
      let members = named.filter { $0.value.count > 2 && $0.value != inner }.sorted {
        $0.key < $1.key
      }.map {
        let name = String($0.key.dropFirst(SourceLayout.metadataPrefix.count))
        return "\(JSONValue.quoted(name)): \(JSONValue.quoted($0.value))"
      }
      axes = ("{\(members.joined(separator: ", "))}", JSONValue.quoted(inner))
    }
    let outputs = description.output
    if outputs.count == 1, case .image = outputs[0].type?.kind {
      image = outputs[0].name
      return
    }
    for output in outputs {
      let name = JSONValue.quoted(output.name)
      let value = "outputs[\(name)]"
      switch output.type?.kind {
      case .multiArray:
        arrays.append((output.name, axes == nil ? value : "source(\(name), \(value))"))
      case .int64, .double:
        if output.name != description.predictedFeatureName { arrays.append((output.name, value)) }
      case .image:
        arrays.append((output.name, value + ".convert(\"RGB\")"))
        otherImages.append(output.name)
      case .dictionary where output.name == description.predictedProbabilitiesName:
        arrays.append((output.name, "[\(value)[label] for label in labels]"))
        needsClasses = true
      default: break
      }
    }
  }
}
