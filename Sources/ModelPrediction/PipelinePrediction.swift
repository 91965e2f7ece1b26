import CoreMLModel
import Engine
import TensorCore

extension Predictor {
  /// Runs the models of a pipeline one after the other. Each takes its inputs by name from the
  /// pipeline's inputs and from the outputs of earlier models.
  func passOn(_ blobs: [String: Tensor]) throws -> [String: Tensor] {
    var available = blobs
    var producers: [String: Feature] = [:]
    for (index, member) in members.enumerated() {
      do {
        var inputs: [String: Tensor] = [:]
        for input in member.inputs {
          guard let blob = available[input.name] else {
            if input.type?.isOptional == true { continue }
            throw ModelError(.malformed, "no earlier model produces its input '\(input.name)'")
          }
          let feature = member.interface.features[input.name]
          if let producer = producers[input.name], let feature {
            inputs[input.name] = try feature.blob(passedOnBy: producer, blob)
          } else {
            inputs[input.name] = blob
          }
        }
        let results = try member.outputBlobs(inputs)
        for output in member.interface.outputs {
          guard let blob = results[output.name] else { continue }
          available[output.name] = blob
          producers[output.name] = output
        }
        if let name = member.model.probabilitiesBlob { available[name] = results[name] }
      } catch let error as ModelError {
        throw error.inside("model \(model.pipelineName(index)) of the pipeline")
      }
    }
    return available
  }
}

extension Feature {
  /// Converts another model's output blob to this input's blob. An image is rounded to eight bits
  /// per color, as in Core ML's pipelines.
  package func blob(passedOnBy producer: Feature, _ blob: Tensor) throws -> Tensor {
    switch (producer.type.kind, type.kind) {
    case (.image(let from), .image(let to)):
      let axes = blob.shape.count
      var image = blob.reshaped([Int](repeating: 1, count: max(0, 5 - axes)) + blob.shape)
      image.withUnsafeMutableElements { elements in
        for index in elements.indices { elements[index] = Float(UInt8(rounding: elements[index])) }
      }
      if from.colorSpace.channelCount == 3, from.colorSpace != to.colorSpace {
        image = image.reversed(2)
      }
      return isExact ? image.reshaped(Array(image.shape.dropFirst())) : image
    case (.multiArray, .multiArray(let declared)):
      if !isExact {
        return blob.shape.count == 5
          ? blob : try CoreMLLayout.canonical(blob, declared: declared, feature: name)
      }
      let rank = declared.shape.count
      guard blob.shape.count > rank, blob.shape.dropLast(rank).allSatisfy({ $0 == 1 }) else {
        return blob
      }
      return blob.reshaped(Array(blob.shape.suffix(rank)))
    default:
      throw ModelError(
        .unsupported, "an output cannot be passed to an input of another type", field: name)
    }
  }
}
