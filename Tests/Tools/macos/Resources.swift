/// SwiftPM generates this for the resources of `Reports` and `KerasImport`.
// swift-format-ignore-file
enum PackageResources {
  static let report_css: [UInt8] = []
  static let report_js: [UInt8] = []
  static let graph_css: [UInt8] = []
  static let collections_py: [UInt8] = []
  static let functions_py: [UInt8] = []
  static let kecam_py: [UInt8] = []
  static let keras_hub_py: [UInt8] = []
  static let patches_py: [UInt8] = []
  static let retinanet_py: [UInt8] = []
  static let sequences_py: [UInt8] = []
  static let ssd_py: [UInt8] = []
}
