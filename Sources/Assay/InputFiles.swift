import ByteFormats
import CoreMLModel
import Engine
import Files
import Imaging
import ImportSupport
import ModelPrediction
import TensorCore

/// One prediction: its name for the user, and the source of each input's value.
package struct InputSource: Sendable {
  package let name: String
  let files: [(feature: String?, path: String)]
  /// The input's path relative to the named folder, or its last component, without its extension; a
  /// second file with the same name gets the suffix `-2`, and so on. Nil if file names were not
  /// requested.
  package internal(set) var outputStem: String?

  init(name: String, files: [(feature: String?, path: String)]) {
    self.name = name
    self.files = files
  }

  /// The prediction for one file.
  init(_ path: String) { self.init(name: path, files: [(nil, path)]) }

  /// The single prediction for the words of a command line.
  ///
  /// - Throws: `.mismatch` if they describe none or several, with `command` in the message.
  package static func only(
    _ words: [String], for model: Model, command: String
  ) throws -> InputSource {
    var list = try InputList(words, for: model)
    guard let source = list.next(), list.next() == nil else {
      throw ModelError(.mismatch, "\(command) takes the inputs of a single prediction")
    }
    return source
  }

  /// The values for the model's inputs.
  ///
  /// - Parameters:
  ///   - images: the preparation of images; nil for the preparation recorded in the model.
  ///   - hooks: receive findings about suspicious values.
  package func read(
    for model: Model, images: ImageOptions? = nil, hooks: EngineHooks = EngineHooks()
  ) throws -> [String: FeatureValue] {
    let images = try images ?? ImageOptions(recordedIn: model)
    let inputs = model.description?.input ?? []
    let names = inputs.map(\.name)
    var values: [String: FeatureValue] = [:]
    var unnamed: [(name: String?, value: FeatureValue, path: String)] = []
    for (feature, path) in files {
      let given = feature.flatMap { FeatureNames.input.meant(by: [$0], among: names)[0] }
      if let given, let number = Double(path), !Folder.exists(path),
        let input = inputs.first(where: { $0.name == given })
      {
        values[given] = try input.value(of: number)
        continue
      }
      let arrays = try Self.values(at: path, images, for: model, hooks)
      let meant = FeatureNames.input.meant(by: arrays.map(\.0), among: names)
      for (index, (name, value)) in arrays.enumerated() {
        if let target = feature == nil ? meant[index] : given, names.contains(target) {
          try require(
            values.updateValue(value, forKey: target) == nil, .mismatch,
            "input '\(target)' already has a value", file: path,
            hint: "give one array for each input")
        } else if let name, feature == nil, inputs.count > 1 {
          throw ModelError.unknown("input", name, among: names).inFile(path)
        } else {
          unnamed.append((name, value, path))
        }
      }
    }
    for (name, number) in model.suppressionThresholds where values[name] == nil {
      if let input = inputs.first(where: { $0.name == name && $0.type?.isOptional != true }) {
        values[name] = try input.value(of: number)
      }
    }
    let open = inputs.filter { values[$0.name] == nil && $0.type?.isOptional != true }
    try require(
      unnamed.count <= open.count, .mismatch,
      unnamed.last?.name.map { "the model has no input '\($0)'" }
        ?? "\(counted(unnamed.count, "file")) for \(counted(open.count, "input"))",
      file: unnamed.last?.path, hint: "the model's inputs are \(names.joined(separator: ", "))")
    for (feature, item) in zip(open, unnamed) {
      hooks.reportName(
        item.name, usedFor: "input '\(feature.name)'", unless: feature.name, file: item.path)
      values[feature.name] = item.value
    }
    if let info = ImageInfo(of: model), values[info.name] == nil {
      values[info.name] = try info.value(values, of: model, images)
    }
    return values
  }

  /// Predicts from the input's values; if they do not fit the model, the error names the input.
  package func blamed<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as ModelError
      where error.code == .mismatch && error.layer == nil
    { throw error.inFile(files.count == 1 ? files[0].path : name) }
  }

  private static func values(
    at path: String, _ images: ImageOptions, for model: Model, _ hooks: EngineHooks
  ) throws -> [(String?, FeatureValue)] {
    let bytes = try MappedFile.read(path)
    return try inFile(path) {
      let format = FileFormat(bytes)
      if format == .png || format == .jpeg || hasNameOfImage(path) {
        let image = try Image(decoding: bytes)
        if let damage = image.damage {
          hooks.onFinding?(
            ValueFinding(.damagedImage, "the image is damaged: \(damage)", file: path))
        }
        let orientation = images.appliesOrientation ? Orientation(of: bytes) : .upright
        return [(nil, .image(try image.rotated(orientation)))]
      }
      let isExact = model.usesFeatures
      if isExact, format == .json {
        return try FeatureFile.parse(bytes, inputs: model.description?.input ?? [])
      }
      let set = try ArraySet.parse(
        bytes, prefersJSON: path.hasSuffix(".json"), exactly: isExact)
      return set.arrays.map { array in
        if array.overflowCount > 0, array.doubles == nil {
          hooks.onFinding?(
            ValueFinding(
              .overflow,
              "\(counted(array.overflowCount, "value")) of \(array.tensor.count) "
                + "\(array.overflowCount == 1 ? "is" : "are") beyond single precision, and became "
                + "infinite", file: path))
        }
        let numbers = array.doubles.map { NumberArray(shape: array.tensor.shape, $0) }
        return (array.name, numbers.map(FeatureValue.numbers) ?? .array(array.tensor))
      }
    }
  }

  /// Whether an unrecognized file has the extension of an image, and may be a damaged one.
  static func hasNameOfImage(_ path: String) -> Bool {
    let end = path.split(separator: ".").last?.lowercased() ?? ""
    return [
      "png", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "tif", "tiff", "webp", "heic", "heif",
      "avif",
    ].contains(end)
  }
}

extension FeatureDescription {
  /// A number from the command line or the model as the input's value.
  fileprivate func value(of number: Double) throws -> FeatureValue {
    switch type?.kind {
    case .double: return .double(number)
    case .multiArray: return .array(Tensor(shape: [1], [Float(number)]))
    case .int64:
      if let whole = Int(exactly: number) { return .int(whole) }
      fallthrough
    default: throw ModelError(.mismatch, "the input is not a number such as \(number)", field: name)
    }
  }
}

extension Model {
  /// The thresholds of a detector in a pipeline, by the inputs that can replace them.
  fileprivate var suppressionThresholds: [(input: String, number: Double)] {
    ([self] + pipelineModels).flatMap { model -> [(input: String, number: Double)] in
      guard case .features(let features)? = model.type,
        let suppression = features.parameters as? NonMaximumSuppressionModel
      else { return [] }
      return [
        (suppression.overlapInput, suppression.overlap),
        (suppression.confidenceThresholdInput, suppression.confidence),
      ]
    }
  }
}

extension EngineHooks {
  /// The hooks without findings about pixels, since random pixels need not be integers.
  var forRandomInputs: EngineHooks {
    guard let report = onFinding else { return self }
    var hooks = self
    hooks.onFinding = { if $0.kind != .pixels { report($0) } }
    return hooks
  }

  /// Reports an array that is used under another name; NumPy makes `arr_0` of a missing one.
  func reportName(_ array: String?, usedFor location: String, unless name: String, file: String) {
    guard let array, array != name, !array.hasPrefix("arr_") else { return }
    onFinding?(
      ValueFinding(.otherName, "the array '\(array)' is used for it", field: location, file: file))
  }
}
