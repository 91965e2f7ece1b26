import ByteFormats
import CoreMLModel
import TensorCore

/// A network as returned by an importer, before the user's options change its interface.
package struct ImportedNetwork: Sendable {
  package var inputs: [ImportedFeature] = []
  package var outputs: [ImportedFeature] = []
  package var layers: [NeuralNetworkLayer] = []
  /// Framework and version, such as `Keras 2.2.4`.
  package var source: String
  /// Whether the inputs have the source's axes instead of Core ML's five.
  package internal(set) var takesOwnAxes = false
  /// The number of trainable parameters, if the source states it.
  package var trainableParameterCount: Int?
  /// For each blob that is a tensor of the source, the letter of the axis in `[Seq, Batch, C, H,
  /// W]` (`TNCHW`) that holds each source axis, such as `NHWC` or `NTC`.
  package var blobLayouts: [String: String] = [:]

  /// The blob with the output of each source layer, by layer name; further tops of a Caffe layer
  /// are `LAYER:1`, `LAYER:2`, …
  package var sourceBlobs: [String: String] = [:]

  /// Whether an output's batch differs from the input's batch.
  package var hasOwnBatches = false
  /// Whether the interface keeps the batch size that the source declares.
  package var keepsBatch = false

  package init(source: String) { self.source = source }

  /// Whether arrays must match their declarations exactly: a layer requires it, a feature has all
  /// five axes, or an output has a batch of its own.
  package var needsExactMapping: Bool {
    hasOwnBatches || keepsBatch || layers.contains(where: \.needsExactMapping)
      || (inputs + outputs).contains { $0.shape.count == 5 }
  }

  /// Whether arrays are declared as `[Seq, Batch, C, H, W]`.
  var declaresBlobs: Bool { needsExactMapping && !takesOwnAxes }
}

/// An input or output of an imported network.
package struct ImportedFeature: Sendable {
  /// The blob's name.
  package var name: String
  /// `(C)` or `(C, H, W)`.
  package var shape: [Int]
  /// The source framework's axes, such as `NHWC`.
  package var layout: String
  /// Sizes of the axes in `layout`; nil for sizes that the source leaves open.
  package var sourceShape: [Int?] = []
  package var isOptional = false
  /// Whether its elements are integers in the source.
  package var hasIntegers = false
  /// Whether it is a recurrent layer's state, whose type the user cannot choose.
  package var isState = false

  package init(name: String, shape: [Int], layout: String) {
    self.name = name
    self.shape = shape
    self.layout = layout
  }
}

extension ImportedFeature {
  static let blobAxes = "TNCHW"
  /// The declared number of steps if the source accepts any number.
  static let typicalSteps = 16

  /// `[Seq, Batch, C, H, W]`, with nil for an unknown sequence length; nil if C, H and W are
  /// unknown.
  var blobShape: [Int?]? {
    let item: [Int]
    switch shape.count {
    case 1: item = shape + [1, 1]
    case 3: item = shape
    case 5: return shape
    default: return nil
    }
    let axis = Array(layout).firstIndex(of: "T")
    let steps = axis.map { $0 < sourceShape.count ? sourceShape[$0] : nil } ?? 1
    return [steps, 1] + item
  }

  /// A recurrent layer's state, which is optional.
  package static func state(_ name: String, units: Int, isInput: Bool) -> ImportedFeature {
    var feature = ImportedFeature(name: name, shape: [units], layout: "NC")
    feature.isState = true
    feature.isOptional = isInput
    return feature
  }
}

/// The result of converting one source layer.
package struct PlanEntry: Sendable, Equatable {
  package var layer: String
  package var layerClass: String
  /// The Core ML layers, each as `type 'name'`; empty if the layer needs none.
  package var becomes: [String]
  /// Whether one of the layers is a custom layer.
  package var isCustom: Bool
  /// Why the layer cannot be converted; nil if it can.
  package var refusal: LayerRefusal?

  package init(
    layer: String, layerClass: String, becomes: [String], isCustom: Bool = false,
    refusal: LayerRefusal? = nil
  ) {
    self.layer = layer
    self.layerClass = layerClass
    self.becomes = becomes
    self.isCustom = isCustom
    self.refusal = refusal
  }
}

/// The conversion of a network in one source format.
package protocol SourceConversion {
  associatedtype Source
  /// The results for the layers converted so far.
  var plan: [PlanEntry] { get }
  init(_ source: Source, _ options: ConversionOptions) throws
  mutating func run() throws -> ImportedNetwork
}

extension SourceConversion {
  /// The plan for all layers, including those that cannot be converted.
  package static func plan(_ source: Source, _ options: ConversionOptions) throws -> [PlanEntry] {
    var options = options
    options.isPlan = true
    var conversion = try Self(source, options)
    _ = try? conversion.run()
    return conversion.plan
  }
}

/// Why a layer cannot be converted, and what a rule for it can use.
package struct LayerRefusal: Sendable, Equatable {
  package var error: ModelError
  /// Whether the error may be a consequence of another one, because an input's shape depends on a
  /// layer that cannot be converted.
  package var isOpen = false
  /// The layer's settings.
  package var configuration = JSONObject()
  /// Names of the layer's weights, in file order.
  package var weights: [String] = []

  package init(_ error: ModelError) { self.error = error }
}

/// The result of a conversion.
public struct ConversionResult: Sendable {
  /// The Core ML document.
  public var model: Model
  package var plan: [PlanEntry]
  /// The blob with the output of each source layer, if the importer records it; see
  /// `ImportedNetwork`.
  package var sourceBlobs: [String: String] = [:]
  /// Notes for the user: assumptions and options without effect.
  public var notes: [String]

  package init(
    model: Model, plan: [PlanEntry], notes: [String], sourceBlobs: [String: String] = [:]
  ) {
    self.model = model
    self.plan = plan
    self.notes = notes
    self.sourceBlobs = sourceBlobs
  }
}
