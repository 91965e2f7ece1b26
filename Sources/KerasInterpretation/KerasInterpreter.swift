import ByteFormats
import HDF5Reader
import Interpretation
import KerasFormat
import TensorCore

/// Runs a Keras network layer by layer, as Keras does for inference, directly from its files.
///
/// Written from keras-team/keras (1.2.2, 2.2.4, 2.15, 3). A result is named after its layer:
/// `NAME_CALL` if the layer is called several times, `MODEL_NAME` in a nested model.
package struct KerasInterpreter: SourceInterpreter {
  package let inputs: [SourceInput]
  /// The names of the output layers, in the model's order.
  package let outputNames: [String]
  private let file: String
  private let model: KerasModel
  private let weights: [ObjectIdentifier: [DoubleArray]]
  private let generation: KerasGeneration

  /// - Parameter weightsPath: a weights file, if `path` contains only the architecture.
  package init(
    _ path: String, weights weightsPath: String? = nil, access: HDF5Access = .isolated
  ) throws {
    let source = try KerasFile(path, access: access)
    let configuration = try source.configuration.orThrow(
      ModelError(.unsupported, "the file has no architecture", file: path))
    let other = try weightsPath.map { try KerasFile($0, access: access) }
    func setting(_ name: String) -> String? {
      source.setting(name) ?? configuration[name]?.string ?? other?.setting(name)
    }
    file = path
    generation = KerasGeneration(
      version: setting("keras_version"), backend: setting("backend"), configuration)
    let model = try KerasModel(configuration, depth: 0)
    self.model = model
    switch try (other ?? source).weights {
    case let stored as any LayerWeights:
      weights = try WeightAssignment.assigned(stored, to: model, file: weightsPath ?? path)
    case let stored as ObjectWeights:
      weights = try ObjectAssignment(stored.root, to: model).arrays
    default: throw ModelError(.unsupported, "the file has no weights", file: weightsPath ?? path)
    }
    inputs = model.inputs.map { reference in
      let layer = model.layers[reference.layer]
      return SourceInput(name: layer.name, shape: layer.declaredShape)
    }
    var seen: [String: Int] = [:]
    outputNames = model.outputs.map { reference in
      let name = model.layers[reference.layer].name
      seen[name, default: -1] += 1
      return seen[name] == 0 ? name : "\(name):\(seen[name] ?? 0)"
    }
  }

  package func run(
    _ inputs: [String: DoubleArray], visit: Visitor, takeOver: Substitute
  ) throws -> [String: DoubleArray] {
    let values = try self.inputs.map { input in
      let value = try inputs[input.name].orThrow(
        ModelError(.mismatch, "input '\(input.name)' has no value", file: file))
      return KerasValue(array: value)
    }
    let results = try run(ModelCall(model: model, prefix: ""), values, visit, takeOver).outputs
    return Dictionary(
      zip(outputNames, results.map(\.array)), uniquingKeysWith: { first, _ in first })
  }

  /// The supported classes.
  package static var classes: Set<String> { Set(KerasOperations.byClass.keys) }

  private struct Call: Hashable {
    let layer: Int
    let call: Int
  }

  private struct ModelCall {
    let model: KerasModel
    let prefix: String
    var isTraining = false
  }

  /// A model that TimeDistributed applies to each step. The results of its layers have the steps.
  private func stepwise(
    _ call: ModelCall, _ inputs: [KerasValue], _ visit: Visitor, _ takeOver: Substitute
  ) throws -> [KerasValue] {
    guard inputs.count == 1, inputs[0].array.rank >= 3 else {
      throw ModelError(.unsupported, "a TimeDistributed model of several inputs", file: file)
    }
    let steps = Array(inputs[0].array.shape[..<2])
    func parts(_ array: DoubleArray) throws -> DoubleArray {
      try array.reshaped([steps[0] * steps[1]] + array.shape.dropFirst(2))
    }
    return try Wrappers.stepwise(inputs[0], generation) { value in
      try run(
        call, [value],
        { label, array in
          // The states of a layer differ from step to step, so they are not reported.
          label.contains(":")
            ? nil : try visit(label, array.reshaped(steps + array.shape.dropFirst())).map(parts)
        },
        { try takeOver($0, $1).map(parts) }
      ).outputs
    }
  }

  /// The inputs of a call without the tensors that are masks, and their positions. A stated mask
  /// replaces that of the input.
  private static func masked(
    _ tensors: [KerasValue], _ call: KerasCall
  ) -> (inputs: [KerasValue], positions: [Int]) {
    let masks = KerasCall.masks.flatMap { call.keywords[$0]?.tensors ?? [] }
    let positions = tensors.indices.filter { !masks.contains($0) }
    var inputs = positions.map { tensors[$0] }
    let stated = call.keywords["mask"]?.tensors ?? []
    guard stated.contains(where: { $0 != nil }) else { return (inputs, positions) }
    for (index, mask) in stated.enumerated() where inputs.indices.contains(index) {
      inputs[index].mask = mask.map { tensors[$0].array.map { $0 == 0 ? 0 : 1 } }
      inputs[index].isMaskUnknown = false
    }
    return (inputs, positions)
  }

  /// The calls in Keras 3's order (`map_graph` in keras/src/ops/function.py), which matters if one
  /// removes a mask: by the longest path to an output, and then in reverse order of a search from
  /// the outputs. Calls that no output needs come last.
  private static func ordered(_ calls: [Call], _ model: KerasModel) -> [Call] {
    func sources(_ call: Call) -> [Call] {
      let all = model.layers[call.layer].calls
      return all.indices.contains(call.call)
        ? all[call.call].inputs.map { Call(layer: $0.layer, call: $0.call) } : []
    }
    var (finished, entered): ([Call], Set<Call>) = ([], [])
    for output in model.outputs {
      // The sources of each call on the path that remain to be searched.
      var path: [(call: Call, rest: ArraySlice<Call>)] = []
      func enter(_ call: Call) {
        if entered.insert(call).inserted { path.append((call, sources(call)[...])) }
      }
      enter(Call(layer: output.layer, call: output.call))
      while let last = path.indices.last {
        if let next = path[last].rest.popFirst() {
          enter(next)
        } else {
          finished.append(path.removeLast().call)
        }
      }
    }
    var rank: [Call: (depth: Int, number: Int)] = [:]
    var layerDepth: [Int: Int] = [:]
    for call in finished.reversed() {
      let depth = max(rank[call]?.depth ?? 0, layerDepth[call.layer] ?? 0)
      rank[call] = (depth, rank[call]?.number ?? rank.count)
      layerDepth[call.layer] = depth
      for source in sources(call) {
        rank[source] = (
          max(depth + 1, rank[source]?.depth ?? 0), rank[source]?.number ?? rank.count
        )
      }
    }
    let known = calls.filter { rank[$0] != nil }.sorted { first, second in
      guard let a = rank[first], let b = rank[second] else { return false }
      return (-a.depth, a.number) < (-b.depth, b.number)
    }
    return known + calls.filter { rank[$0] == nil }
  }

  /// - Returns: the outputs, and the positions of the inputs whose masks the model removes.
  private func run(
    _ run: ModelCall, _ arguments: [KerasValue], _ visit: Visitor, _ takeOver: Substitute
  ) throws -> (outputs: [KerasValue], unmasked: [Int]) {
    let model = run.model
    try require(
      arguments.count == model.inputs.count,
      "a model with \(model.inputs.count) inputs gets \(arguments.count)", file: file)
    var results: [Call: [KerasValue]] = [:]
    for (reference, value) in zip(model.inputs, arguments) {
      results[Call(layer: reference.layer, call: reference.call)] = [value]
    }
    var uses: [Call: Int] = [:]
    for reference in model.layers.flatMap(\.calls).flatMap(\.inputs) + model.outputs {
      uses[Call(layer: reference.layer, call: reference.call), default: 0] += 1
    }
    func value(_ reference: KerasModel.Reference) throws -> KerasValue? {
      guard let found = results[Call(layer: reference.layer, call: reference.call)] else {
        return nil
      }
      guard found.indices.contains(reference.tensor) else {
        let layer = model.layers[reference.layer]
        throw InterpretationError(
          file: file, layer: layer.name, layerClass: layer.className,
          "its output \(reference.tensor + 1) is not interpreted")
      }
      return found[reference.tensor]
    }
    var unmasked: Set<Call> = []
    func unmask(_ sources: [KerasModel.Reference]) {
      for source in sources {
        let call = Call(layer: source.layer, call: source.call)
        unmasked.insert(call)
        results[call]?[source.tensor].mask = nil
      }
    }
    func release(_ sources: [KerasModel.Reference]) {
      for source in sources {
        let used = Call(layer: source.layer, call: source.call)
        uses[used, default: 0] -= 1
        if uses[used] == 0 { results[used] = nil }
      }
    }
    var pending = model.layers.indices.flatMap { index in
      model.layers[index].calls.indices.map { Call(layer: index, call: $0) }
    }.filter { results[$0] == nil }
    if generation.attentionRemovesMasks { pending = Self.ordered(pending, model) }
    while !pending.isEmpty {
      var waiting: [Call] = []
      for call in pending {
        let layer = model.layers[call.layer]
        let made = layer.calls[call.call]
        let sources = made.inputs
        let given = try sources.compactMap { try value($0) }
        guard given.count == sources.count else {
          waiting.append(call)
          continue
        }
        let (inputs, positions) = Self.masked(given, made)
        let name = run.prefix + layer.name + (layer.calls.count > 1 ? "_\(call.call)" : "")
        // The argument of a model's call is that of its layers.
        let isTraining = made.training ?? run.isTraining
        var outputs: [KerasValue]
        if let nested = layer.nested {
          let inner = ModelCall(model: nested, prefix: name + "_", isTraining: isTraining)
          if layer.isStepwise {
            outputs = try stepwise(inner, inputs, visit, takeOver)
          } else {
            let result = try self.run(inner, inputs, visit, takeOver)
            outputs = result.outputs
            unmask(result.unmasked.map { sources[positions[$0]] })
          }
        } else {
          do {
            outputs = try LayerRun(
              file: file, name: layer.name, className: layer.className, fields: layer.fields,
              inputs: inputs, weights: weights[ObjectIdentifier(layer)] ?? [],
              generation: generation, call: made, tensors: given.map(\.array),
              // Keras 3's predict() overrides the argument.
              isTraining: isTraining && generation.major < 3
            ).outputs()
          } catch let error as InterpretationError {
            if layer.className == "MultiHeadAttention", generation.attentionRemovesMasks {
              unmask(sources)
            } else if generation.attentionRemovesMasks,
              KerasOperations.byClass[layer.className] == nil
            {
              for source in sources {
                results[Call(layer: source.layer, call: source.call)]?[source.tensor]
                  .isMaskUnknown = true
              }
            }
            // Most layers propagate the mask of their steps.
            results[call] = try error.values(name, takeOver).map {
              KerasValue(array: $0, mask: inputs.first?.mask)
            }
            release(sources)
            continue
          }
          for index in outputs.indices {
            let label = index == 0 ? name : "\(name):\(index)"
            if let other = try visit(label, outputs[index].array) { outputs[index].array = other }
          }
        }
        results[call] = outputs
        if layer.className == "MultiHeadAttention", generation.attentionRemovesMasks {
          unmask(sources)
        }
        release(sources)
      }
      guard waiting.count < pending.count else {
        throw ModelError(
          .malformed, "its inputs are never computed", file: file,
          layer: model.layers[waiting[0].layer].name)
      }
      pending = waiting
    }
    let outputs = try model.outputs.map { reference in
      try value(reference).orThrow(
        ModelError(.malformed, "an output of the model is never computed", file: file))
    }
    return (
      outputs,
      model.inputs.indices.filter {
        unmasked.contains(Call(layer: model.inputs[$0].layer, call: model.inputs[$0].call))
      }
    )
  }
}
