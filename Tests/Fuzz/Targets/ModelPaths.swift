import Assay
import CoreMLModel
import CustomLayers
import Engine
import LayerTemplates
import ModelPrediction
import ModelTransforms
import TensorCore

/// The actions of the commands on a document: each goes as far as possible, and the first refusal
/// of the document itself is thrown at the end.
struct ModelPaths {
  let model: Model
  private let classes = CustomLayerRegistry()
  /// Larger networks are planned, but not run.
  private static let multiplyAdds = 20_000_000
  private static let elements = 1 << 18
  private static let loopRuns = 1000
  private static let memory = 64 << 20

  /// - Throws: `Finding`, or the `ModelError` with which validation refuses the model.
  func runAll() throws {
    try path("check") { _ = ModelCheck(model) }
    try path("write") { try requireSame(Model(bytes: Bytes(model.encoded()))) }
    // Only the command `edit` accepts an invalid document.
    try path("edit") { try edit() }
    try model.requireValid()
    try path("inspect") {
      _ = Inspection(model, customLayers: classes)
      _ = try (model.descriptionText, model.programText)
      _ = AppStubs(model.customLayerClasses(classes)).files
    }
    try path("compress") { try compress() }
    try path("diff") {
      var options = ModelComparison.Options()
      options.structureOnly = true
      _ = try ModelComparison(
        model, model.withHalfPrecisionWeights(), inputs: [], options: options)
    }
    try path("plan") {
      let predictor = try Predictor(model: model, options: options)
      for pass in [nil, "lowering"] { _ = try predictor.plans(after: pass) }
    }
    guard try isQuick else { return }
    try path("run") {
      let predictor = try Predictor(model: model, options: options)
      _ = try predictor.outputBlobs(predictor.randomBlobs(seed: 1))
    }
    try path("diff of predictions") {
      var options = ModelComparison.Options()
      options.comparison.engine = self.options.engine
      _ = try ModelComparison(model, model, inputs: [], options: options)
    }
  }

  /// Runs a path; any refusal is fine.
  private func path(_ name: String, _ body: () throws -> Void) throws {
    do { try body() } catch let error as ModelError {
      for error in error.all where error.code == .internal {
        throw Finding("\(name): \(error)")
      }
    } catch let finding as Finding {
      throw Finding("\(name): \(finding)")
    } catch {
      throw Finding("\(name): an error that is not of this program: \(error)")
    }
  }

  private var options: Predictor.Options {
    var options = Predictor.Options()
    options.engine.threads = 1
    options.engine.maxMemory = Self.memory
    return options
  }

  /// Whether a prediction takes only milliseconds.
  var isQuick: Bool {
    get throws {
      do {
        let predictor = try Predictor(model: model, options: options)
        let steps = try predictor.plans(after: nil).flatMap(\.steps)
        let count = try checkedSum(steps.map { try $0.work })
        let inputs = predictor.inputs.compactMap { model.typicalShape(of: $0) }
        let elements = try checkedSum(
          (steps.flatMap(\.outputShapes) + inputs).map { try checkedProduct($0) })
        return count < Self.multiplyAdds && elements < Self.elements
          && model.loopRuns <= Self.loopRuns
      } catch is ModelError { return false }
    }
  }

  /// Compares the encodings, in which NaN equals itself.
  private func requireSame(_ other: Model) throws {
    guard try other.encoded() == model.encoded() else {
      throw Finding("the file does not contain what was written")
    }
  }

  private func compress() throws {
    let precisions: [WeightPrecision] = [
      .float16, .float32, .codes(bits: 8, .linear), .codes(bits: 3, .kMeansTable),
    ]
    for precision in precisions {
      try path("\(precision.name)") {
        if case .mlProgram? = model.type {
          try model.compressedProgram(ProgramCompressionRules(CompressionRules(precision))).model
            .requireValid()
          return
        }
        let (folded, _) = try model.withFoldedBatchnorm(
          keepsScales: precision.wantsChannelScales)
        let (compressed, _) = try folded.compressed(CompressionRules(precision))
        try compressed.requireValid()
      }
    }
  }

  private func edit() throws {
    let inputs = (model.description?.input ?? []).map(\.name)
    let outputs = (model.description?.output ?? []).map(\.name)
    var edits: [ModelEdit] = []
    func add(_ change: (inout ModelEdit) -> Void) {
      var edit = ModelEdit()
      edit.customLayerClasses = classes
      change(&edit)
      edits.append(edit)
    }
    var blobs = (model.neuralNetwork?.layers ?? []).flatMap(\.output)
    if case .mlProgram(let program)? = model.type {
      let names = program.functions.map(\.key)
      blobs = program.functions.flatMap { $0.value?.body?.operations ?? [] }.flatMap(\.outputs)
        .map(\.name)
      for name in names.prefix(2) { add { $0.functions.kept = name } }
      if let name = names.last { add { $0.functions.removed = [name] } }
      add { $0.arrayTypes = [(nil, .float16)] }
    }
    add { $0.metadata.author = "a" }
    if let input = inputs.first {
      add { $0.renames = [input: "renamed"] }
      add { $0.imageInputs = [input] }
      add { $0.optionalInputs = [input] }
      add { $0.shapes = [(input, .ranges(Array(repeating: .init(1, -1), count: 3)))] }
      add { $0.shapes = [(input, .enumerated([[1, 2, 3], [3, 2, 1]]))] }
    }
    if let output = outputs.last {
      add { $0.imageOutputs = [output] }
      add { $0.removedOutputs = [output] }
      add { $0.classes = ModelEdit.Classes(labels: .string(["a", "b"])) }
    }
    if let blob = blobs.dropFirst(blobs.count / 2).first {
      add { $0.addedOutputs = [blob] }
      add { $0.cutOutputs = [blob] }
      add { $0.cutInputs = [blob] }
    }
    add { $0.arrays = inputs }
    add { $0.removesTraining = true }
    add { $0.version = 3 }
    for edit in edits {
      try path("an edit") {
        let (edited, _) = try edit.apply(to: model)
        var check = EditCheck(edit, options: options)
        let paths = ModelPaths(model: edited)
        guard try isQuick, try paths.isQuick else {
          try edited.requireWritable()
          return
        }
        try check.check(model, edited)
        try check.checkWritten(Bytes(edited.encoded()))
      }
    }
  }
}

extension StepDescription {
  /// The multiply-adds including zeros: a transposed convolution computes each output from the taps
  /// of its phase, of which there may be far more than input pixels.
  fileprivate var work: Int {
    get throws {
      guard kernel.contains("transposed"), let shape = outputShapes.first else {
        return multiplyAdds
      }
      return try checkedProduct([weightBytes / 4] + shape) / max(1, shape.dropLast(2).last ?? 1)
    }
  }
}

extension Model {
  /// A limit on the iterations of its loops; loops with a computed count are infinite.
  fileprivate var loopRuns: Int {
    func runs(_ network: NeuralNetwork) -> Int {
      network.layers.reduce(1) { sum, layer in
        guard let control = layer.parameters as? any ControlLayer else { return sum }
        let inner = control.networks.reduce(0) { min(1 << 20, $0 + runs($1)) }
        guard let loop = control as? Loop else { return min(1 << 20, sum + inner) }
        let count = loop.maxLoopIterations > 0 ? min(loop.maxLoopIterations, 1 << 20) : 1 << 20
        return min(1 << 20, sum + count * inner)
      }
    }
    return networks.compactMap(\.model.neuralNetwork).reduce(0) { min(1 << 20, $0 + runs($1)) }
  }
}
