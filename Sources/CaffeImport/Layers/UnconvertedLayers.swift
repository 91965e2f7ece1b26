/// Types of Caffe layers that Core ML's layers cannot express, and why. All become custom layers
/// where that is asked for.
package enum UnconvertedLayers {
  package static let reasons: [(names: [String], reason: String)] = [
    (
      ["Filter"], "its outputs have as many items as a selector says, which differs from run to run"
    ),
    (["ROIPooling"], "the maximum of windows of any extents; cropResize interpolates instead"),
    (["ROIAlign"], "forks differ in their samples, and none of them lies as those of cropResize"),
    (["PSROIPooling"], "the average of windows of any extents, of other channels each"),
    (["Proposal"], "anchors, their suppression and a number of boxes that differs from run to run"),
    (["Correlation", "Warp", "FlowWarp", "Resample"], "no layer shifts by what is computed"),
    (["Python"], "its class is a program in another file"),
    (["ImResize", "Nms"], "OpenPose's bicubic resizing, and its maxima of heat maps"),
    (["Resize"], "forks differ in what its fields mean"),
    (
      ["Region", "YoloDetectionOutput", "Yolov3DetectionOutput"],
      "a number of boxes that differs from run to run; without the layer the network gives the raw "
        + "grid, which `run --detect` reads"
    ),
    (["Argsort"], "no fork that is public defines its fields"),
  ]

  /// Why the type is not converted; nil where there is nothing to say.
  static func reason(of type: String) -> String? {
    reasons.first { $0.names.contains(type) }?.reason
  }
}
