/// The layer types that the conversion itself handles, in addition to `CaffeLayerRegistry`.
enum LayerRole: Sendable {
  /// Provides the network's data.
  case input
  /// Passes its first bottom on to every top.
  case passing
  /// Reads blobs without producing any, so that they do not become outputs.
  case silencing
  /// Measures or stores results in training and its tests.
  case measuring
  case computing

  init(_ type: String) {
    self =
      if Self.inputTypes.contains(type) {
        .input
      } else if Self.passingTypes.contains(type) {
        .passing
      } else if type == "Silence" {
        .silencing
      } else if Self.measuringTypes.contains(type) || Self.gridTypes.contains(type)
        || type.hasSuffix("Loss")
      {
        .measuring
      } else {
        .computing
      }
  }

  /// The role of a layer. Without bottoms and a conversion, it reads external data, as Python's
  /// data layers do; with a loss weight, it is for training.
  init(_ layer: LayerCall) {
    self.init(layer.type)
    if layer.type == "Dropout", !CaffeLayerType.dropoutScales(layer) { self = .passing }
    guard case .computing = self,
      layer.type == "Python" || CaffeLayerRegistry.type(named: layer.type) == nil
    else { return }
    if layer.bottoms.isEmpty, !layer.tops.isEmpty { self = .input }
    if layer.message.has("loss_weight") { self = .measuring }
  }

  static let inputTypes = [
    "Input", "Data", "ImageData", "ImageDataMultiLabel", "HDF5Data", "MemoryData", "WindowData",
    "DummyData", "AnnotatedData", "VideoData", "DenseImageData", "CPMData",
  ]
  /// Boxes from grids; since their number varies, `run --detect` decodes the grids instead.
  static let gridTypes = ["YoloDetectionOutput", "Yolov3DetectionOutput"]
  static let passingTypes = ["Split", "SeLuDropout"]
  static let measuringTypes = [
    "SoftmaxWithLoss", "EuclideanLoss", "HingeLoss", "HingeLossMultiLabel",
    "SigmoidCrossEntropyLoss", "InfogainLoss", "ContrastiveLoss", "MultinomialLogisticLoss",
    "MultiBoxLoss", "SmoothL1Loss", "Loss", "Accuracy", "HDF5Output", "DetectionEvaluate",
  ]
}
