import CoreMLModel
import ImportSupport

/// Collects the Core ML layers of the converted Keras layers.
struct KerasWriter: LayerWriting {
  var writer: LayerWriter
  /// The states of recurrent layers that become inputs and outputs of the model, and their sizes.
  private(set) var stateInputs: [(blob: String, units: Int)] = []
  private(set) var stateOutputs: [(blob: String, units: Int)] = []
  let version: KerasVersion
  let rules: CustomLayerRules
  /// The latest specification version whose layers may be used.
  let maximumVersion: Int
  /// Whether GRU's reset gate may apply after the product, which only ML Programs support.
  let resetsAfter: Bool
  /// Whether any layer depends on the lengths of sequences of images.
  var fixesSequences = false
  /// Whether layers run on each step of a sequence, which occupies Core ML's sequence axis.
  var isStepwise = false
  /// The batch sizes that the inputs declare; nil for an input that declares none.
  var batches: Set<Int?> = []
  /// The batch size that all inputs declare; operations may state it as a number.
  var declaredBatch: Int? { batches.count == 1 ? batches.first ?? nil : nil }
  /// The masks computed so far.
  var masks: [String: KerasTensor] = [:]
  /// The names of layers that are trainable in the source and that Core ML can train.
  private(set) var trainableLayers: Set<String> = []
  var maskCount = 0
  /// The error of a layer whose input has the wrong rank.
  private var misfit: String?
  /// Layer names in this model that tf.keras gives to the first layer of a class, such as `lstm`.
  var numberedFromZero: [String] = []

  init(
    version: KerasVersion, rules: CustomLayerRules,
    maximumVersion: Int = SpecificationVersion.newest, resetsAfter: Bool = false,
    onVisit: (@Sendable (String) -> Void)?
  ) {
    self.version = version
    self.maximumVersion = maximumVersion
    self.resetsAfter = resetsAfter
    self.rules = rules
    writer = LayerWriter(onVisit: onVisit)
  }

  /// Records the layers added since the last entry in the plan, and whether they are trainable.
  mutating func finish(_ name: String, _ className: String, isTrainable: Bool) {
    for layer in finish(name, className) where isTrainable {
      let weights =
        (layer.parameters as? Convolution)?.kernel ?? (layer.parameters as? InnerProduct)?.matrix
      if let weights, weights.quantization == nil { trainableLayers.insert(layer.name) }
    }
  }

  /// Discards the layers of a failed attempt and all references to them.
  mutating func forget() {
    abandon()
    masks = [:]
    isStepwise = false
    misfit = nil
  }

  /// The prefix of a layer's state names: the layer's name, as in coremltools, which reads only
  /// networks of Keras 2.2. Keras numbers unnamed layers from 1, as in `lstm_1`; tf.keras names the
  /// first one `lstm` and the second `lstm_1`, which become `lstm_1` and `lstm_2`.
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

  /// Adds an optional input to the model.
  mutating func addStateInput(_ name: String, units: Int) -> String {
    let blob = reserve(name)
    stateInputs.append((blob, units))
    return blob
  }

  /// Adds a recurrent layer with one output, and with its states as outputs of the model.
  mutating func add(
    _ name: String, _ parameters: any LayerParameters, _ inputs: [String], states: [String],
    units: Int
  ) -> [String] {
    let outputs = add(name, parameters, inputs, outputs: [name + "_output"] + states)
    stateOutputs += outputs.dropFirst().map { ($0, units) }
    return outputs
  }

  /// Makes a computed state an output of the model.
  mutating func addStateOutput(_ blob: String, _ name: String, units: Int) {
    let copy = add(name, Activation(.linear(alpha: 1, beta: 0)), [blob], to: name)
    stateOutputs.append((copy, units))
  }

  /// - Throws: an error if `relaid` has received a tensor with the wrong rank.
  mutating func requireRanks(_ call: LayerCall) throws {
    guard let misfit else { return }
    self.misfit = nil
    throw call.error(misfit)
  }

  /// The tensor in another layout, with a permute layer if the layouts differ. A tensor with the
  /// wrong rank makes `requireRanks` throw.
  mutating func relaid(
    _ tensor: KerasTensor, to layout: TensorLayout, for name: String
  ) -> KerasTensor {
    if tensor.layout == layout { return tensor }
    var result = tensor
    result.layout = layout
    guard tensor.layout.axes.count == layout.axes.count else {
      let rank = layout.axes.count + 1
      misfit = misfit ?? "its input \(tensor.shapeText) must have \(rank) axes, with the batch"
      result.shape = (tensor.shape + Array(repeating: 1, count: rank)).prefix(rank).map { $0 }
      return result
    }
    let axes = tensor.layout.permutation(to: layout)
    if axes == [0, 1, 2, 3] { return result }
    let moving = (0..<4).filter { axes[$0] != $0 }
    // If all moving axes have size 1, no element moves.
    let sizes = BlobAxis.allCases.map { axis in
      tensor.index(of: axis).map { tensor.shape[$0] } ?? 1
    }
    if !tensor.isShapeAssumed, moving.allSatisfy({ sizes[$0] == 1 }) { return result }
    result.blob = moved(tensor.blob, axes) {
      let origin = tensor.blob.hasSuffix("_output") ? tensor.blob.dropLast(7) : tensor.blob[...]
      return $0.permuted(tensor.blob, axes, "\(origin)_permute_\(name)")
    }
    return result
  }

  /// Adds a layer that works along the channels, applied to `axis` instead.
  mutating func add(
    _ name: String, _ layer: any LayerParameters, to tensor: KerasTensor, along axis: Int
  ) -> KerasTensor {
    withChannelAxis(axis, of: [tensor], for: name) { network, tensors in
      tensors[0].with(network.add(name, layer, [tensors[0].blob]))
    }
  }

  /// Moves `axis` (Keras's index, counting the batch) to Core ML's channels for `body`, and back
  /// afterward.
  mutating func withChannelAxis(
    _ axis: Int, of inputs: [KerasTensor], for name: String,
    _ body: (inout KerasWriter, [KerasTensor]) throws -> KerasTensor
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
