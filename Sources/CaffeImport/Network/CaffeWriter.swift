import CoreMLModel
import Formulas
import ImportSupport

/// Collects the Core ML layers of the converted Caffe layers.
struct CaffeWriter: LayerWriting {
  var writer: LayerWriter
  /// Whether inputs keep the batch size that the file declares.
  var keepsBatch = false
  /// Whether blobs have an item for each region of the image.
  var hasRegions = false
  /// The blob with the result of each layer; see `ImportedNetwork`.
  private(set) var sourceBlobs: [String: String] = [:]
  /// The current and former keys in `sourceBlobs` of each blob.
  private var sourceTops: [String: [String]] = [:]

  init(onVisit: (@Sendable (String) -> Void)?) {
    writer = LayerWriter(onVisit: onVisit)
  }

  /// Records the blobs with a layer's results. A blob that passes through still belongs to the
  /// layer before; a Scale folded into a BatchNorm shares its blob.
  mutating func noteBlobs(of layer: LayerCall, _ outputs: [CaffeTensor]) {
    for (index, tensor) in outputs.enumerated() {
      let isBottom = layer.inputs.contains { $0.blob == tensor.blob }
      // An argmax mask is stored as planes of zeros and ones, unlike Caffe's.
      if isBottom && layer.type != "Scale" || tensor.maxima != nil { continue }
      for other in sourceTops.removeValue(forKey: tensor.blob) ?? []
      where sourceBlobs[other] == tensor.blob { sourceBlobs[other] = nil }
      noteBlob(tensor.blob, top: index, of: layer)
    }
  }

  mutating func noteBlob(_ blob: String, top index: Int, of layer: LayerCall) {
    let top = index == 0 ? layer.name : "\(layer.name):\(index)"
    sourceBlobs[top] = blob
    sourceTops[blob, default: []].append(top)
  }

  /// Adds the layer that computes the top of `layer` from `input`.
  mutating func add(
    _ parameters: any LayerParameters, _ input: CaffeTensor, as layer: LayerCall,
    shape: [Int]? = nil
  ) -> CaffeTensor {
    input.with(add(layer.name, parameters, [input.blob], to: layer.tops[0]), shape: shape)
  }

  /// The tensor as `[Seq, Batch, C, H, W]` with Caffe's axes on the given Core ML axes, by default
  /// the standard ones. If data has to move, a permute layer moves it, or layers of specification 4
  /// if the batch moves or the blob has its exact rank.
  ///
  /// - Parameter name: the layer that needs the tensor; added layers are named after it.
  mutating func placed(
    _ tensor: CaffeTensor, axes target: [Int]? = nil, for name: String
  ) -> CaffeTensor {
    let target = target ?? CaffeTensor.standardAxes(tensor.shape.count)
    if tensor.rank == 5, tensor.axes == target { return tensor }
    var result = tensor
    result.axes = target
    result.rank = 5
    guard tensor.rank == 5 else {
      result.blob = moved(tensor.blob, tensor.axes + target) {
        // Caffe's axes by their Core ML axes; the missing axes of length 1 are inserted below.
        let order = tensor.axes.indices.sorted { target[$0] < target[$1] }
        let blob = $0.ordered($0.exact(tensor, for: name).blob, order, name)
        let missing = (0..<5).filter { !target.contains($0) }
        if missing.isEmpty { return blob }
        var expand = ExpandDims()
        expand.axes = missing
        return $0.add("\(name)_expand", expand, [blob], to: "\(tensor.blob)_expanded")
      }
      return result
    }
    // Moving an axis of length 1 changes nothing.
    let long = tensor.axes.indices.filter { tensor.shape[$0] != 1 }
    let order = Placement.permutation(
      from: long.map { tensor.axes[$0] }, to: long.map { target[$0] })
    if order == Array(order.indices) { return result }
    result.blob = moved(tensor.blob, order) {
      guard order[Placement.batch] == Placement.batch else {
        return $0.ordered(tensor.blob, order, name)
      }
      return $0.permuted(
        tensor.blob, [0, 2, 3, 4].map { order[$0] == 0 ? 0 : order[$0] - 1 }, "\(name)_permute",
        to: "\(tensor.blob)_permuted")
    }
    return result
  }

  /// The tensor with exactly Caffe's axes, which requires layers of specification 4.
  mutating func exact(_ tensor: CaffeTensor, for name: String) -> CaffeTensor {
    if tensor.isExact { return tensor }
    var result = tensor
    result.axes = Array(tensor.shape.indices)
    result.rank = tensor.shape.count
    result.blob = moved(tensor.blob, tensor.axes) {
      var blob = tensor.blob
      let unused = (0..<tensor.rank).filter { !tensor.axes.contains($0) }
      if !unused.isEmpty {
        blob = $0.add(
          "\(name)_squeeze", Squeeze().with(\.axes, unused), [blob], to: "\(tensor.blob)_squeezed")
      }
      let kept = tensor.axes.sorted()
      return $0.ordered(blob, tensor.axes.compactMap { kept.firstIndex(of: $0) }, name)
    }
    return result
  }

  private mutating func ordered(_ blob: String, _ order: [Int], _ name: String) -> String {
    order == Array(order.indices)
      ? blob : transposed(blob, order, "\(name)_transpose", to: "\(blob)_transposed")
  }
}
