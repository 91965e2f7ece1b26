import CustomLayers
import Foundation
import TensorCore
import TestSupport
import Testing

/// A file that is not a plug-in, or a broken plug-in, causes one error that says so.
@Suite struct PluginLoadingTests {
  private func failure(_ path: String) -> ModelError? {
    #expect(throws: ModelError.self, "\(path)") { try PluginLibrary(path: path) }
  }

  @Test(arguments: [
    ("NO_ENTRY", "it lacks the function assay_plugin_entry"),
    ("CRASH_IN_CONSTRUCTOR", "crashed while it was loaded (SIGABRT): about to fall"),
    ("CRASH_IN_ENTRY", "crashed while it was loaded (SIGSEGV)"),
    ("EXITS", "ended the process while it was loaded"),
    ("OTHER_VERSION", "uses version 77 of the interface"),
    ("NO_MAGIC", "its table does not start like one"),
    ("NO_CLASSES", "has no classes"),
    ("REFUSES", "does not work with version 1 of the interface"),
  ])
  func brokenPlugins(_ mistake: String, _ text: String) throws {
    try withTemporaryFolder { folder in
      let path = try PluginFixture.compiled(in: folder, mistake: mistake)
      let error = failure(path)
      #expect(error?.file == path)
      #expect(error?.code == .unsupported)
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
  }

  @Test(arguments: [
    ("WRONG_RANK", "a shape of rank 99"), ("NEGATIVE_SIZE", "-3"),
    ("TOO_MANY_SHAPES", "40 output shapes, but the layer has 2 outputs"),
    ("FAILS", "evaluate failed: the moon is not in the right phase"),
    ("FAILS_SILENTLY", "evaluate failed: the plug-in gave no reason"),
  ])
  func brokenLayers(_ mistake: String, _ text: String) throws {
    try withTemporaryFolder { folder in
      let registry = try PluginFixture.registry(
        PluginFixture.compiled(in: folder, mistake: mistake))
      let tensor = Tensor(shape: [3], [1, 2, 3])
      let error = #expect(throws: ModelError.self) {
        try PluginLayerTests.predict(
          PluginLayerTests.model(
            PluginLayerTests.custom("SumAndDifference"), inputs: [[3], [3]], outputCount: 2,
            isExact: true), [tensor, tensor], registry)
      }
      #expect(error?.layer == "layer" && error?.layerClass == "custom layer SumAndDifference")
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
  }

  @Test func aLayerThatCannotBeMade() throws {
    try withTemporaryFolder { folder in
      let registry = try PluginFixture.registry(PluginFixture.compiled(in: folder))
      let error = #expect(throws: ModelError.self) {
        try PluginLayerTests.predict(
          PluginLayerTests.model(PluginLayerTests.custom("Affine"), inputs: [[1, 1, 1, 2, 2]]),
          [Tensor(shape: [1, 1, 1, 2, 2], [1, 2, 3, 4])], registry)
      }
      #expect(error?.message == "init(parameters:) failed: scale is missing or no double")
    }
  }

  @Test func filesThatAreNoLibraries() throws {
    try withTemporaryFolder { folder in
      #expect(failure(folder + "/none.so")?.code == .missingFile)
      #expect(failure(folder)?.message.contains("a folder") == true)
      let path = folder + "/x.so"
      func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }
      try write(Array("int main;".utf8))
      #expect(failure(path)?.message == "the file is not a library")
      // An ELF header: 64 bits, little-endian, a shared object for machine 243, RISC-V.
      let elf: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
      try write(elf + [3, 0, 243, 0] + [UInt8](repeating: 0, count: 100))
      #expect(failure(path)?.message.contains("ELF machine 243") == true)
      #if os(Linux)
        // Mach-O for arm64.
        try write([0xcf, 0xfa, 0xed, 0xfe, 0x0c] + [UInt8](repeating: 0, count: 100))
        #expect(failure(path)?.message.contains("arm64 (Mach-O)") == true)
        // Only a header, for this architecture.
        #if arch(x86_64)
          try write(elf + [3, 0, 62, 0] + [UInt8](repeating: 0, count: 100))
          #expect(failure(path)?.message.contains("cannot be loaded") == true)
        #endif
      #endif
    }
  }
}
