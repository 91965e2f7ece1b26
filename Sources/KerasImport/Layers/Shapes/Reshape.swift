import CoreMLModel
import ImportSupport
import TensorCore

extension TensorLayout {
  /// The layout in which a blob's elements are in Keras's order; nil if there are more axes than a
  /// blob has besides the batch.
  static func inOrder(axes count: Int) -> TensorLayout? {
    switch count {
    case 1: .vector
    case 2: .sequence
    case 3: .imageChannelsFirst
    case 4: .imageSequenceChannelsFirst
    default: nil
    }
  }
}

extension KerasWriter {
  /// Reshapes the elements, in Keras's order, to sizes that exclude the batch; −1 is an unknown
  /// size.
  ///
  /// - Parameters:
  ///   - preferred: the image layout that the layers downstream prefer.
  ///   - name: the layer's name, if it differs from the call's.
  mutating func reshaped(
    _ tensor: KerasTensor, to sizes: [Int],
    preferred: LayerConfiguration.DataFormat = .channelsFirst, name: String? = nil,
    _ call: LayerCall
  ) throws -> KerasTensor {
    let name = name ?? call.name
    var input = standard(tensor, for: name)
    let ordered = try TensorLayout.inOrder(axes: sizes.count).orThrow(
      call.unsupported(
        "\(sizes) has \(sizes.count) axes; Core ML's blobs have at most four besides the batch"))
    var output = input
    output.shape = [input.shape[0]] + sizes.map { $0 == -1 ? nil : $0 }
    output.layout = ordered
    output.mask = nil
    var reshape = Reshape()
    if input.layout.axes.count > 3 || sizes.count > 3 {
      fixesSequences = true
      let order = try TensorLayout.inOrder(axes: input.layout.axes.count).orThrow(
        call.unsupported("its input \(input.shapeText) has too many axes"))
      input = relaid(input, to: order, for: name)
      reshape.mode = .channelFirst
      reshape.targetShape =
        switch sizes.count {
        case 1: [1, sizes[0], 1, 1]
        case 2: [sizes[0], sizes[1], 1, 1]
        case 3: [1] + sizes
        default: sizes
        }
      output.blob = add(name, reshape, [input.blob])
      return output
    }
    let isTargetFirst = preferred == .channelsFirst
    switch sizes.count {
    case 1: reshape.targetShape = [1, sizes[0], 1, 1]
    case 2: reshape.targetShape = [sizes[0], sizes[1], 1, 1]
    default:
      output.layout = isTargetFirst ? .imageChannelsFirst : .image
      reshape.targetShape = isTargetFirst ? [1] + sizes : [1, sizes[2], sizes[0], sizes[1]]
    }
    // The channel-last mode reads and writes H, W, C. If only one side is in that order, the other
    // one needs a layout for which both orders are the same.
    if input.layout.axes.count == 3, input.layout != .image, input.layout != .imageChannelsFirst {
      input = relaid(input, to: .image, for: name)
    }
    let wantsLast = input.layout == .image || output.layout == .image
    if wantsLast {
      reshape.mode = .channelLast
      if input.layout == .imageChannelsFirst { input = relaid(input, to: .image, for: name) }
      if output.layout == .imageChannelsFirst {
        output.layout = .image
        reshape.targetShape = [1, sizes[2], sizes[0], sizes[1]]
      }
    } else {
      reshape.mode = .channelFirst
    }
    output.blob = add(name, reshape, [input.blob])
    return output
  }
}

/// Reshapes the elements in Keras's order; one size may be −1.
struct ReshapeLayer: KerasLayerSettings {
  static let classes = [SourceLayer](
    "Reshape", becomes: "reshape", options: "`target_shape`, with one −1",
    refused: "more than four axes besides the batch, which Core ML's blobs cannot have")

  private let target: [Int]

  static let leadingAxes = LeadingAxesPolicy.decides

  init(_ configuration: LayerConfiguration) throws {
    let target = try configuration.ints("target_shape", "dims").orThrow(
      configuration.missing(["target_shape"]))
    guard target.filter({ $0 == -1 }).count <= 1, target.allSatisfy({ $0 > 0 || $0 == -1 }),
      !target.isEmpty
    else { throw configuration.unsupported("target_shape", "\(target) is not a shape") }
    self.target = target
  }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let input = try call.input
    if !input.isShapeAssumed, let count = input.itemCount, input.leading != nil || target.count > 4
    {
      let windows = input.leading?.windows ?? 1
      let sizes = try resolved(count / windows, call)
      return [try network.regrouped(input, windows: windows, sizes, call.name, call)]
    }
    let sizes = try resolved(input, call)
    return [try network.reshaped(input, to: sizes, preferred: call.preferredImage, call)]
  }

  private func resolved(_ input: KerasTensor, _ call: LayerCall) throws -> [Int] {
    guard let count = input.itemCount, !input.isShapeAssumed || target.contains(-1) else {
      return target
    }
    return try resolved(count, call)
  }

  /// The shape of the result without the batch.
  func sizes(ofEach item: KerasTensor, _ call: LayerCall) throws -> [Int] {
    try resolved(item, call)
  }

  /// The shape of the result for `count` elements.
  private func resolved(_ count: Int, _ call: LayerCall) throws -> [Int] {
    let known = try checkedProduct(target.filter { $0 > 0 }, limit: Limits.tensorElements)
    let isOpen = target.contains(-1)
    try call.require(
      isOpen ? count % known == 0 : count == known,
      "\(count) elements cannot have the shape \(target)")
    return target.map { $0 == -1 ? count / known : $0 }
  }
}
