// swift-tools-version: 6.2
import PackageDescription

let isRoot = !Context.packageDirectory.contains("/checkouts/")

// The kernels need compiler flags, which SwiftPM before 6.3 refuses in a versioned dependency.
#if compiler(>=6.3) && os(Linux)
  let takesFlags = true
#else
  let takesFlags = isRoot
#endif

/// One section for each function: the linker leaves out what is unused and keeps equal functions once.
/// Objects contain no hashes for incremental code generation.
let sections: [SwiftSetting] =
  isRoot
  ? [
    .unsafeFlags(
      ["-Xfrontend", "-function-sections", "-Xfrontend", "-disable-incremental-llvm-codegen"],
      .when(platforms: [.linux], configuration: .release))
  ] : []

// What is slow without optimization is optimized in a debug build, too: `make test` runs one.
let fastDebug: [SwiftSetting] =
  isRoot
  ? [
    .unsafeFlags(
      ["-O", "-whole-module-optimization", "-num-threads", "2"], .when(configuration: .debug))
  ] : []
let optimized = sections + fastDebug

/// Swift's own removal of repeated loads and stores takes a quarter of the time that kernels take to
/// compile, and LLVM repeats it: a debug build does without.
let withoutRepeatedPasses: [SwiftSetting] =
  isRoot
  ? [
    .unsafeFlags(
      ["early-redundant-load-elimination", "redundant-load-elimination", "dead-store-elimination"]
        .flatMap { ["-Xllvm", "-sil-disable-pass=\($0)"] }, .when(configuration: .debug))
  ] : []

/// What does not compute takes a fifth less space so, and as much time.
let small: [SwiftSetting] =
  sections + (isRoot ? [.unsafeFlags(["-Osize"], .when(configuration: .release))] : [])

/// `make arm64`: the tests of the kernels, with arm64's in an emulated program.
let emulatesARM = Context.environment["ASSAY_ARM64"] != nil

/// Tests/Tools/release/cross.sh: the manifest runs on x86-64, the programs on arm64.
let forARM = Context.environment["ASSAY_CROSS"] != nil

/// Kernels beyond what every processor of the architecture supports. On arm64 there are none: its
/// baseline has fused multiply-adds and half precision.
#if arch(x86_64)
  let hasVectorKernels = takesFlags && !emulatesARM && !forARM
#else
  let hasVectorKernels = false
#endif

/// The same sources for one instruction set.
func kernels(_ name: String, define: String, flags: [String] = []) -> Target {
  // Beside kernels for newer processors, a debug build saves the time for the oldest.
  let unrolls: BuildSettingCondition? =
    hasVectorKernels && flags.isEmpty ? .when(configuration: .release) : nil
  return .target(
    name: name, dependencies: ["KernelInterface", "CVector", "LibC"],
    // A tile stays in registers only where the loops over it are unrolled whole.
    swiftSettings: [.define(define)] + optimized + withoutRepeatedPasses
      + (takesFlags
        ? [
          .define("UNROLLS_TILES"),
          .unsafeFlags(
            flags.flatMap { ["-Xcc", $0] } + ["-Xllvm", "-unroll-threshold=1000"], unrolls),
        ] : []))
}

/// Beside `KernelsBaseline`.
let vectorKernels =
  hasVectorKernels
  ? [
    kernels("KernelsAVX2", define: "KERNELS_AVX2", flags: ["-mavx2", "-mfma", "-mf16c"]),
    kernels(
      "KernelsAVX512", define: "KERNELS_AVX512",
      flags: [
        "-mavx2", "-mfma", "-mf16c", "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq",
        "-mprefer-vector-width=512",
      ]),
  ] : []

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  resources: [Resource] = [], settings: [SwiftSetting] = small
) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: exclude, resources: resources,
    swiftSettings: settings)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name), "TestSupport"] + dependencies,
    swiftSettings: settings)
}

/// ArgumentParser's `ParsableArguments._validate(parent:)`, which `validate()` replaces: it does nothing.
let checkOfDeclarations =
  "$s14ArgumentParser17ParsableArgumentsPAAE9_validate6parentyAA8InputKeyVSg_tKFZ"

let package = Package(
  name: "Assay",
  platforms: [.macOS("26.0")],
  products: [
    .executable(name: "assay", targets: ["AssayCommand"]),
    .executable(name: "assay-hdf5", targets: ["HDF5Worker"]),
    .library(name: "Assay", targets: ["Assay"]),
    // `make library` makes libassay of it.
    .library(name: "AssayLibrary", type: .dynamic, targets: ["AssayLibrary"]),
    .library(name: "NetworkBuilder", targets: ["NetworkBuilder"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    .systemLibrary(
      name: "CHDF5", pkgConfig: "hdf5", providers: [.apt(["libhdf5-dev"]), .brew(["hdf5"])]),
    .systemLibrary(
      name: "CProtobufC", pkgConfig: "libprotobuf-c",
      providers: [.apt(["libprotobuf-c-dev"]), .brew(["protobuf-c"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"]), .brew(["libpng"])]),
    .systemLibrary(
      name: "CJPEG", pkgConfig: "libjpeg",
      providers: [.apt(["libjpeg62-turbo-dev"]), .brew(["jpeg-turbo"])]),

    .target(
      name: "CSpec", dependencies: ["CProtobufC"], exclude: ["generate.sh", "proto"]),
    .target(name: "CSystem"),
    .target(name: "CCodecs", dependencies: ["CPNG", "CJPEG", "CZlib"]),

    .target(name: "LibC"),
    library("TensorCore", ["CSystem", "LibC"], settings: optimized),
    library("Files", ["TensorCore", "CSystem", "LibC"]),
    library("ByteFormats", ["Files", "TensorCore", "LibC", "CZlib"], settings: optimized),
    library("HDF5Reader", ["ByteFormats", "Files", "TensorCore", "CSystem"]),
    library("HDF5Library", ["HDF5Reader", "ByteFormats", "TensorCore", "CHDF5", "CSystem"]),
    kernels("KernelsBaseline", define: "KERNELS_BASELINE"),
    .systemLibrary(name: "CVector"),
    // Kernels exports it, but SwiftPM compiles anew for declared dependencies alone: who uses it,
    // declares it. Built without testing enabled, so that nothing of it is emitted into the kernel modules.
    library("KernelInterface", settings: optimized),
    library(
      "Kernels",
      ["KernelsBaseline", "KernelInterface", "CSystem", "TensorCore"]
        + vectorKernels.map { .byName(name: $0.name) },
      exclude: ["Source"],
      settings: optimized + (hasVectorKernels ? [.define("HAS_VECTOR_KERNELS")] : [])),
    library("Formulas", ["Kernels", "KernelInterface", "TensorCore"], settings: optimized),
    library(
      "CoreMLModel",
      ["TensorCore", "Files", "ByteFormats", "CSpec", "CProtobufC"]),
    .systemLibrary(name: "CAssayPlugin"),
    library(
      "CustomLayers",
      ["Formulas", "TensorCore", "Kernels", "KernelInterface", "CAssayPlugin", "CSystem"],
      settings: optimized),
    library(
      "ModelTransforms", ["CoreMLModel", "ByteFormats", "TensorCore"],
      settings: sections),
    library(
      "Engine",
      [
        "CoreMLModel", "CustomLayers", "Formulas", "Kernels", "KernelInterface", "CSystem",
        "TensorCore",
      ],
      settings: optimized),
    library("MILImport", ["Engine", "CoreMLModel", "TensorCore"]),
    library(
      "MILExport",
      [
        "ModelPrediction", "ModelTransforms", "MILImport", "Engine", "CustomLayers", "Formulas",
        "CoreMLModel", "TensorCore",
      ]),
    library(
      "ONNXExport",
      ["MILImport", "CoreMLModel", "ByteFormats", "Files", "TensorCore", "CSpec"]),
    .target(name: "PluginSupport", exclude: ["Support", "Layers", "embed.sh"]),
    library(
      "LayerTemplates",
      [
        "CoreMLModel", "Engine", "CustomLayers", "Formulas", "PluginSupport", "ByteFormats",
        "Files",
        "TensorCore",
      ]),
    library(
      "ImportSupport",
      [
        "ModelTransforms", "CoreMLModel", "Formulas", "ByteFormats", "Files",
        "TensorCore",
      ]),
    library(
      "Reports", ["Verification", "Imaging", "ByteFormats", "TensorCore", "LibC"],
      resources: [
        .embedInCode("report.css"), .embedInCode("report.js"), .embedInCode("graph.css"),
      ]),
    library("PythonSource", ["TensorCore"]),
    // What importers and interpreters share: the files themselves.
    library("KerasFormat", ["HDF5Reader", "ByteFormats", "TensorCore"]),
    library(
      "CaffeFormat",
      ["HDF5Reader", "ByteFormats", "TensorCore", "CSpec", "CProtobufC"],
      settings: small + fastDebug),
    library(
      "DarknetFormat", ["ByteFormats", "Files", "TensorCore"],
      settings: small + fastDebug),
    library(
      "KerasImport",
      [
        "KerasFormat", "ImportSupport", "CoreMLModel", "Formulas", "HDF5Reader", "ByteFormats",
        "Files",
        "PythonSource", "TensorCore",
      ],
      resources: [.embedInCode("Recipes")]),
    library(
      "CaffeImport",
      [
        "CaffeFormat", "ImportSupport", "CoreMLModel", "Formulas", "ByteFormats",
        "TensorCore",
      ]),
    library(
      "DarknetImport",
      [
        "DarknetFormat", "ImportSupport", "CoreMLModel", "Formulas", "ByteFormats",
        "TensorCore",
      ]),
    // The source networks once more, by the frameworks' semantics, for comparison: `diff` and
    // `convert --prove`.
    library("Interpretation", ["TensorCore"], settings: optimized),
    library(
      "CaffeInterpretation", ["Interpretation", "CaffeFormat", "TensorCore", "LibC"],
      settings: optimized),
    library(
      "KerasInterpretation",
      ["Interpretation", "KerasFormat", "ByteFormats", "HDF5Reader", "TensorCore", "LibC"],
      settings: optimized),
    library(
      "DarknetInterpretation", ["Interpretation", "DarknetFormat", "TensorCore", "LibC"],
      settings: optimized),
    library("Imaging", ["ByteFormats", "Files", "TensorCore", "CCodecs"], settings: optimized),
    library("Detection", ["Imaging", "ByteFormats", "Files", "TensorCore"]),
    library("Verification", ["Engine", "TensorCore"], settings: small + fastDebug),
    library("FeatureModels", ["CoreMLModel", "Imaging", "TensorCore", "LibC"]),
    library(
      "ModelPrediction",
      [
        "FeatureModels", "Engine", "MILImport", "ModelTransforms", "CustomLayers", "Imaging",
        "CoreMLModel", "TensorCore",
      ], settings: small + fastDebug),
    library(
      "NetworkBuilder",
      [
        "ModelPrediction", "Engine", "CustomLayers", "Imaging", "CoreMLModel", "Files",
        "TensorCore", "CSpec", "CProtobufC",
      ]),
    library(
      "Assay",
      [
        "ModelPrediction", "Reports", "Verification", "Detection", "Imaging", "KerasImport",
        "CaffeImport",
        "DarknetImport", "Interpretation", "CaffeInterpretation",
        "DarknetInterpretation", "KerasInterpretation",
        "ImportSupport", "Engine", "MILImport", "MILExport", "ONNXExport",
        "ModelTransforms",
        "CustomLayers", "LayerTemplates", "CoreMLModel", "HDF5Reader", "ByteFormats", "Files",
        "TensorCore",
      ]),
    .systemLibrary(name: "CAssay"),
    library("AssayLibrary", ["Assay", "CAssay"], settings: optimized),
    .executableTarget(
      name: "AssayCommand",
      dependencies: [
        "Assay", "CSystem", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], exclude: ["NoUnwindTables.ld"], swiftSettings: small,
      linkerSettings: isRoot
        ? [
          .unsafeFlags(
            [
              "-use-ld=lld", "-Xlinker", "-O2", "-Xlinker", "--icf=all", "-Xlinker",
              "--no-eh-frame-hdr", "-Xlinker", "-T", "-Xlinker",
              Context.packageDirectory + "/Sources/AssayCommand/NoUnwindTables.ld",
            ],
            .when(platforms: [.linux], configuration: .release)),
          // In a debug build, ArgumentParser checks the declared options several times at each start, in
          // 50 to 700 ms. HelpTests.declarationsAreValid checks them once.
          .unsafeFlags(
            [
              "-Xlinker", "--wrap=" + checkOfDeclarations, "-Xlinker",
              "--defsym=__wrap_\(checkOfDeclarations)=$s14ArgumentParser17ParsableArgumentsPAAE8validateyyKF",
            ], .when(platforms: [.linux], configuration: .debug)),
        ] : []),
    .executableTarget(name: "HDF5Worker", dependencies: ["HDF5Library", "Files"]),

    // `make benchmark`
    .executableTarget(
      name: "KernelBenchmarks",
      dependencies: [
        "Engine", "CoreMLModel", "CustomLayers", "Kernels", "KernelInterface", "TensorCore",
      ],
      path: "Tests/Benchmarks"),

    .target(
      name: "FuzzSupport", dependencies: ["ByteFormats", "LibC", "TensorCore"],
      path: "Tests/Fuzz/Support", swiftSettings: optimized),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "FuzzSupport", "Assay", "AssayLibrary", "CAssay", "ModelPrediction", "ModelTransforms",
        "LayerTemplates", "ImportSupport", "Engine", "CustomLayers", "CoreMLModel", "HDF5Reader",
        "Imaging",
        "Formulas", "ByteFormats", "TensorCore",
      ], path: "Tests/Fuzz/Targets"),
    .target(
      name: "TestSupport", dependencies: ["FuzzSupport", "TensorCore"], path: "Tests/TestSupport",
      swiftSettings: optimized),
    tests("TensorCore"),
    tests("Files", ["TensorCore"]),
    tests("ByteFormats", ["Files", "TensorCore"]),
    tests("HDF5Reader", ["HDF5Library", "TensorCore"]),
    // They compute every result again by definition.
    tests("Kernels", ["KernelInterface", "TensorCore"], settings: optimized),
    tests("Formulas", ["Kernels", "TensorCore"]),
    tests("CoreMLModel", ["ByteFormats", "CProtobufC", "TensorCore"]),
    tests("CustomLayers", ["TensorCore"]),
    tests("LayerTemplates"),
    tests("ModelTransforms", ["CoreMLModel", "TensorCore"]),
    tests("ImportSupport", ["CoreMLModel", "TensorCore", "ByteFormats"]),
    tests(
      "KerasImport",
      [
        "ImportSupport", "HDF5Library", "ByteFormats", "CoreMLModel", "Formulas", "TensorCore",
        "Files", "HDF5Reader",
      ]),
    tests(
      "CaffeImport",
      [
        "CaffeFormat", "ImportSupport", "HDF5Library", "ByteFormats", "CoreMLModel", "TensorCore",
        "Files",
      ]),
    tests(
      "CaffeInterpretation",
      ["CaffeFormat", "Interpretation", "HDF5Library", "ByteFormats", "TensorCore"]),
    tests(
      "KerasInterpretation",
      ["Interpretation", "HDF5Library", "ByteFormats", "TensorCore"]),
    tests(
      "DarknetInterpretation",
      ["DarknetFormat", "Interpretation", "ByteFormats", "TensorCore"]),
    tests(
      "DarknetImport",
      ["DarknetFormat", "ImportSupport", "CoreMLModel", "TensorCore", "ByteFormats"]),
    tests(
      "Engine",
      [
        "CSystem", "ImportSupport", "Formulas", "ByteFormats", "CoreMLModel", "CustomLayers",
        "Files",
        "Kernels", "ModelPrediction", "MILExport", "TensorCore",
      ]),
    tests("MILImport", ["CoreMLModel", "TensorCore"]),
    tests(
      "MILExport",
      ["MILImport", "ModelPrediction", "ModelTransforms", "CoreMLModel", "TensorCore"]),
    tests("PythonSource", ["TensorCore"]),
    tests("ONNXExport", ["CoreMLModel", "ByteFormats", "TensorCore"]),
    tests("Imaging", ["Files", "TensorCore"], settings: optimized),
    tests("Detection", ["ByteFormats", "Imaging", "TensorCore", "Files"]),
    tests(
      "NetworkBuilder",
      [
        "Assay", "Engine", "KerasImport", "ImportSupport", "HDF5Library", "ByteFormats",
        "CoreMLModel", "TensorCore",
      ]),
    tests("Verification", ["Engine", "TensorCore"]),
    tests("Reports", ["Verification", "TensorCore"]),
    // A program in C tests the product.
    .testTarget(name: "AssayLibraryTests", dependencies: ["TestSupport"]),
    tests("FuzzTargets", ["HDF5Worker", "FuzzSupport", "TensorCore"]),
    tests(
      "Assay",
      [
        "AssayCommand", "HDF5Worker", "FuzzSupport", "KerasImport", "Engine", "CustomLayers",
        "CoreMLModel", "CaffeInterpretation", "DarknetInterpretation", "KerasInterpretation",
        "ByteFormats", "CaffeImport", "DarknetImport", "Files", "Imaging", "ImportSupport",
        "LayerTemplates", "ModelPrediction", "MILImport", "TensorCore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ]
)

// `make fuzz` and `make mutants`
if Context.environment["ASSAY_FUZZ"] != nil {
  package.targets += [
    .executableTarget(
      name: "assay-mutants",
      dependencies: ["FuzzTargets", "FuzzSupport", "TensorCore", "LibC"],
      path: "Tests/Fuzz/Mutants"),
    // Tests/Tools/fuzz.sh links libFuzzer.
    .executableTarget(
      name: "assay-fuzz", dependencies: ["FuzzTargets", "FuzzSupport", "TensorCore", "LibC"],
      path: "Tests/Fuzz/Fuzzer"),
  ]
}

package.targets += vectorKernels

if emulatesARM {
  let tested = [
    "KernelsTests", "Kernels", "KernelInterface", "TestSupport", "FuzzSupport", "ByteFormats",
    "Files", "TensorCore", "CSystem", "CZlib", "LibC",
  ]
  package.targets.removeAll { !tested.contains($0.name) }
  package.targets.append(
    .target(
      name: "KernelsBaseline", dependencies: ["KernelInterface", "LibC"], path: "Tests/Emulation",
      exclude: ["Guest"]))
  package.products = []
  package.dependencies = []
}
