import CoreMLModel
import ImportSupport

/// Collects the Core ML layers that Keras layers become.
struct NetworkWriter: LayerWriting {
  var writer: LayerWriter
  /// States that recurrent layers take from and give to the model's user, with their sizes.
  private(set) var stateInputs: [(blob: String, units: Int)] = []
  private(set) var stateOutputs: [(blob: String, units: Int)] = []
  let version: KerasVersion
  let rules: CustomLayerRules
  /// The latest version of the specification whose layers may be written.
  let maximumVersion: Int
  /// Whether layers count on the lengths of sequences of images.
  var fixesSequences = false
  /// Masks that have been computed already.
  var masks: [String: KerasTensor] = [:]
  /// Names of the layers that Core ML can train and the source trains.
  private(set) var trainableLayers: Set<String> = []
  var maskCount = 0
  /// Names that tf.keras gives the first layer of a kind, as far as the model has them.
  var numberedFromZero: [String] = []

  init(
    version: KerasVersion, rules: CustomLayerRules,
    maximumVersion: Int = SpecificationVersion.newest, onVisit: (@Sendable (String) -> Void)?
  ) {
    self.version = version
    self.maximumVersion = maximumVersion
    self.rules = rules
    writer = LayerWriter(onVisit: onVisit)
  }

  /// Notes in the plan what was added since the last entry.
  mutating func finish(_ name: String, _ className: String, isTrainable: Bool) {
    for layer in finish(name, className) where isTrainable {
      if layer.parameters is Convolution || layer.parameters is InnerProduct {
        trainableLayers.insert(layer.name)
      }
    }
  }

  /// Forgets the layers of an attempt that failed, and what refers to them.
  mutating func forget() {
    abandon()
    masks = [:]
  }

  /// What the names of a layer's states begin with: the layer's name, as the reference has it, which
  /// reads networks of Keras 2.2 alone. That numbers layers without a name from 1, as in `lstm_1`;
  /// tf.keras calls the first `lstm` and the second `lstm_1`, which become `lstm_1` and `lstm_2`.
  func stateName(_ layer: String) -> String {
    for kind in numberedFromZero where layer.hasPrefix(kind) {
      if layer == kind { return kind + "_1" }
      let number = layer.dropFirst(kind.count + 1)
      if layer == "\(kind)_\(number)", let number = Int(number), number < 1 << 20 {
        return "\(kind)_\(number + 1)"
      }
    }
    return layer
  }

  /// An optional input of the model.
  mutating func addStateInput(_ name: String, units: Int) -> String {
    let blob = reserve(name)
    stateInputs.append((blob, units))
    return blob
  }

  /// Adds a recurrent layer: its output, and its states, which are outputs of the model.
  mutating func add(
    _ name: String, _ parameters: some LayerParameters, _ inputs: [String], states: [String],
    units: Int
  ) -> [String] {
    let outputs = add(name, parameters, inputs, outputs: [name + "_output"] + states)
    stateOutputs += outputs.dropFirst().map { ($0, units) }
    return outputs
  }

  /// Gives a state that layers have computed to the model's user.
  mutating func addStateOutput(_ blob: String, _ name: String, units: Int) {
    let copy = add(name, Activation(.linear(alpha: 1, beta: 0)), [blob], to: name)
    stateOutputs.append((copy, units))
  }

  /// The same tensor in another layout, through a permute layer where the two differ.
  mutating func relaid(
    _ tensor: KerasTensor, to layout: TensorLayout, for name: String
  ) -> KerasTensor {
    if tensor.layout == layout { return tensor }
    var result = tensor
    result.layout = layout
    let axes = tensor.layout.permutation(to: layout)
    if axes == [0, 1, 2, 3] { return result }
    let moving = (0..<4).filter { axes[$0] != $0 }
    // Where all the axes that move have one element, nothing moves.
    let sizes = BlobAxis.allCases.map { axis in
      tensor.index(of: axis).map { tensor.shape[$0] } ?? 1
    }
    if !tensor.isGuess, moving.allSatisfy({ sizes[$0] == 1 }) { return result }
    result.blob = moved(tensor.blob, axes) {
      let origin = tensor.blob.hasSuffix("_output") ? tensor.blob.dropLast(7) : tensor.blob[...]
      return $0.permuted(tensor.blob, axes, "\(origin)_permute_\(name)")
    }
    return result
  }

  /// Puts `axis` (Keras's index, batch 0) into Core ML's channels for `body`, and back afterwards.
  mutating func withChannelAxis(
    _ axis: Int, of inputs: [KerasTensor], for name: String,
    _ body: (inout NetworkWriter, [KerasTensor]) throws -> KerasTensor
  ) rethrows -> KerasTensor {
    let layout = inputs[0].layout
    let place = layout.axes[axis - 1]
    if place == .channel { return try body(&self, inputs) }
    var swapped = layout
    if let channel = layout.axes.firstIndex(of: .channel) { swapped.axes[channel] = place }
    swapped.axes[axis - 1] = .channel
    let moved = inputs.map { relaid($0, to: swapped, for: name) }
    return relaid(try body(&self, moved), to: layout, for: name + "_back")
  }
}
