// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "NetworksInSwift",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(url: "https://example.com/assay.git", from: "0.1.0")
  ],
  targets: [
    .executableTarget(
      name: "NetworksInSwift",
      dependencies: [
        .product(name: "NetworkBuilder", package: "assay")
      ])
  ]
)
