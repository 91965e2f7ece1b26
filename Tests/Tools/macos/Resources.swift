/// What SwiftPM generates for the resources of `Reports`.
// swift-format-ignore-file
enum PackageResources {
  static let report_css: [UInt8] = []
  static let report_js: [UInt8] = []
  static let graph_css: [UInt8] = []
}
