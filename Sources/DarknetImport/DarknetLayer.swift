import ImportSupport
import TensorCore

/// One kind of section: its options, its weights and its conversion.
struct DarknetLayer: Sendable {
  /// The section's documentation; its names are those in brackets, in lower case.
  let source: SourceLayer
  /// Options that affect inference.
  let options: [String]
  /// Training options, which are known but have no effect here.
  let trainingOptions: [String]
  /// Whether the section does nothing at inference and is removed.
  let vanishes: Bool
  /// Reads a section's options.
  let conversion: @Sendable (ConfigurationSection) throws -> Conversion

  /// Adds the Core ML layers to the network and reads the weights.
  typealias Conversion = @Sendable (LayerCall, inout DarknetWriter) throws -> DarknetTensor

  init(
    _ source: SourceLayer, options: [String] = [], trainingOptions: [String] = [],
    vanishes: Bool = false,
    conversion: @escaping @Sendable (ConfigurationSection) throws -> Conversion
  ) {
    self.source = source
    self.options = options
    self.trainingOptions = trainingOptions
    self.vanishes = vanishes
    self.conversion = conversion
  }
}

/// One section and its position in the network.
struct LayerCall: LayerErrors, Sendable {
  /// The name of the Core ML layer: section and index, as in `convolutional_3`.
  let name: String
  let section: ConfigurationSection
  /// The index among the layers, not counting `[net]`.
  let index: Int
  /// The output of the previous layer.
  let previous: DarknetTensor
  /// The outputs of all earlier layers.
  let outputs: [DarknetTensor]

  /// The output of the previous layer; throws if it is a detection head.
  var input: DarknetTensor {
    get throws {
      guard !previous.isGrid else { throw unsupported("it reads the output of a detection head") }
      return previous
    }
  }

  /// The output of the previous layer as an image; throws if it has no height and width.
  var image: DarknetTensor {
    get throws {
      let input = try input
      guard input.isImage else {
        throw error("the layer before it returns \(input.count) numbers, not an image")
      }
      return input
    }
  }

  /// The output of layer `index`; negative indices count back from this one.
  func output(_ index: Int) throws -> DarknetTensor {
    let position = index < 0 ? self.index.addingReportingOverflow(index).partialValue : index
    guard position >= 0, position < self.index else {
      throw error(
        "it refers to layer \(index), which is not before it",
        hint: "layers count from 0; this one is \(self.index), and −1 is the one before it")
    }
    guard !outputs[position].isGrid else {
      throw unsupported("it reads the output of layer \(position), a detection head")
    }
    return outputs[position]
  }

  var layerClass: String { section.name }

  func located(_ message: String) -> String { "line \(section.line): \(message)" }
}
