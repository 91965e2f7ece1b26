import Files
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// The classes in `Sources/KerasImport/Recipes`; `Fixtures/keras/collections` has the predictions
/// of their packages.
@Suite struct RecipeTests {
  @Test func everyFileIsEmbedded() throws {
    let folder = packageRoot + "/Sources/KerasImport/Recipes"
    let lines = try fileNames(in: folder).flatMap { name in
      String(
        decoding: try MappedFile.read(folder + "/" + name, limit: 1 << 20).array(of: UInt8.self),
        as: UTF8.self
      ).split(separator: "\n")
    }
    let classes = lines.filter { $0.hasPrefix("class ") && $0.hasSuffix("):") }
      .map { String($0.dropFirst(6).prefix { $0 != "(" }) }.filter {
        !$0.hasPrefix("keras_layers_")
      }
    #expect(classes.count > 40)
    #expect(Set(classes) == Set(Recipes.entries.map(\.name)))
  }

  @Test func everyClassIsDescribedAndParsed() throws {
    for entry in Recipes.entries {
      #expect(!entry.becomes.isEmpty, "\(entry.name)")
      #expect(try Recipes.files(defining: entry.name).files.count == 1)
    }
  }

  @Test(arguments: [
    ("TCN", #""nb_filters": 2, "dilations": [1]"#, "kernel_size: required field is missing"),
    ("SeqWeightedAttention", #""return_attention": true"#, "return_attention: is not supported"),
    ("SeqWeightedAttention", #""heads": 3"#, "heads: 3 is an argument"),
    (
      "MultiHeadRelativePositionalEmbedding", #""attn_height": 3"#,
      "its input is not a grid of positions"
    ),
  ])
  func faultsNameTheLayer(_ name: String, _ fields: String, _ message: String) {
    let text = single(name, input: "[null, 2, 5, 5]", fields)
    let error = modelError { try convert(text) }
    #expect(error?.layer == "layer")
    #expect(error?.layerClass == name)
    #expect(error?.description.contains(message) == true, "\(String(describing: error))")
  }
}
