/// Types of Caffe layers that Core ML's layers cannot express, with the reasons. On request, they
/// all become custom layers.
package enum UnconvertedLayers {
  package static let reasons: [(names: [String], reason: String)] =
    ([
      ["Filter"]: "the number of items in its outputs changes from run to run",
      ["ROIAlign"]: "forks sample at different positions, none of them like cropResize",
      ["Correlation", "Warp", "FlowWarp", "Resample"]:
        "Core ML has no layer that shifts by computed amounts",
      ["ImResize", "Nms"]: "OpenPose's bicubic resizing and its heat map maxima",
      ["Resize"]: "its fields have different meanings in different forks",
      ["Region"]:
        "the number of boxes changes from run to run; without the layer the network returns the raw "
        + "grid, in which a detector finds boxes",
      ["Argsort"]: "no public fork defines its fields",
    ] as KeyValuePairs).map { ($0, $1) }

  /// The reason why the type is not converted; nil for other types.
  static func reason(of type: String) -> String? {
    reasons.first { $0.names.contains(type) }?.reason
  }
}
