// swift-tools-version: 6.0
import PackageDescription

// On Linux, modules with the names of Apple's frameworks provide what custom layers need.
#if os(Linux)
  let frameworks: [Target] = [
    .target(name: "CoreML", path: "Support/CoreML"),
    .systemLibrary(name: "Accelerate", path: "Support/Accelerate"),
  ]
  let frameworkModules: [Target.Dependency] = ["CoreML", "Accelerate"]
#else
  let frameworks: [Target] = []
  let frameworkModules: [Target.Dependency] = []
#endif

let package = Package(
  name: "Layers",
  products: [
    .library(name: "AccelerateLayers", type: .dynamic, targets: ["AccelerateLayers"]),
    .library(name: "LoopLayers", type: .dynamic, targets: ["LoopLayers"]),
  ],
  targets: [
    .target(name: "CAssayPlugin", path: "Support/CAssayPlugin"),
    .target(
      name: "AssayPlugin", dependencies: ["CAssayPlugin"] + frameworkModules,
      path: "Support/AssayPlugin"),
    .target(
      name: "AccelerateLayers", dependencies: ["AssayPlugin", "CAssayPlugin"] + frameworkModules),
    .target(
      name: "LoopLayers", dependencies: ["AssayPlugin", "CAssayPlugin"] + frameworkModules),
  ] + frameworks,
  swiftLanguageModes: [.v5]
)
