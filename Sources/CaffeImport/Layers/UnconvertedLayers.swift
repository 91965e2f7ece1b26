/// Types of Caffe layers that Core ML's layers cannot express, with the reasons. On request, all
/// become custom layers.
package enum UnconvertedLayers {
  package static let reasons: [(names: [String], reason: String)] = [
    (
      ["Filter"], "the number of items in its outputs changes from run to run"
    ),
    (
      ["ROIPooling"],
      "it takes the maximum over windows of any size; cropResize interpolates instead"
    ),
    (["ROIAlign"], "forks sample at different positions, none of them like cropResize"),
    (["PSROIPooling"], "it averages windows of any size, each over other channels"),
    (
      ["Proposal"],
      "it generates and suppresses anchors; the number of boxes changes from run to run"
    ),
    (
      ["Correlation", "Warp", "FlowWarp", "Resample"],
      "Core ML has no layer that shifts by computed amounts"
    ),
    (["Python"], "its code is in another file"),
    (["ImResize", "Nms"], "OpenPose's bicubic resizing and its heat map maxima"),
    (["Resize"], "its fields have different meanings in different forks"),
    (
      ["Region", "YoloDetectionOutput", "Yolov3DetectionOutput"],
      "the number of boxes changes from run to run; without the layer the network returns the raw "
        + "grid, which `run --detect` reads"
    ),
    (["Argsort"], "no public fork defines its fields"),
  ]

  /// The reason why the type is not converted; nil if it has none.
  static func reason(of type: String) -> String? {
    reasons.first { $0.names.contains(type) }?.reason
  }
}
