import Foundation
import TestSupport
import Testing

/// The output of `--prove` and `diff` for a second reading of a source network, which derives
/// masks, `training` and the version of Keras from the file by itself.
@Suite struct SecondReadingTests {
  /// All layers agree; those without a counterpart in Core ML are named.
  @Test(
    arguments: [
      ("bidirectional_tf_2.15_concat", "3 of 4 layers agree", "1 was not compared ('masking')"),
      ("bidirectional_keras_2.3_sum", "3 of 4 layers agree", "1 was not compared ('masking')"),
      ("words_tf_2.15", "4 of 4 layers agree", nil),
      ("words_keras_2.1", "4 of 4 layers agree", nil),
      ("words_keras_3", "4 of 4 layers agree", nil),
      ("embedding_keras_3", "2 of 2 layers agree", nil),
      ("masking_tf_2.15", "3 of 4 layers agree", "1 was not compared ('f')"),
      ("model_tf_2.15", "4 of 4 layers agree", nil), ("model_keras_3", "4 of 4 layers agree", nil),
      ("training", "1 of 1 layer agrees", nil), ("training_model", "1 of 1 layer agrees", nil),
      ("training_frozen", "1 of 1 layer agrees", nil),
      ("training_keras_3", "1 of 1 layer agrees", nil),
    ])
  func agreement(_ name: String, _ layers: String, _ open: String?) throws {
    try withTemporaryFolder { folder in
      let result = try Command.run([
        "convert", CallFixtures.path(name), "-o", folder + "/m.mlmodel", "--prove",
      ])
      #expect(result.code == 0, "\(result.errors)")
      let first = result.output.split(separator: "\n")[0]
      let file = "\(layers) with a second reading of \(name).h5"
      #expect(first == file + (open.map { "; " + $0 } ?? ""), "\(result.output)")
      #expect(!result.output.contains("proved"))
    }
  }

  /// A model from a file of a different Keras version, or with a different call: both networks have
  /// the same layers and weights.
  @Test(
    arguments: [
      ("bidirectional_tf_2.15_concat", "bidirectional_keras_2.3_concat", "b"),
      ("bidirectional_keras_2.3_concat", "bidirectional_tf_2.15_concat", "b"),
      ("words_tf_2.15", "words_keras_2.1", "t"), ("words_keras_3", "words_tf_2.15", "t"),
      ("embedding_tf_2.15", "words_keras_2.1", "t"),
      ("training", "training_false", "n"), ("training_frozen", "training", "n"),
      ("training_keras_3", "training", "n"),
    ])
  func otherReading(_ name: String, _ other: String, _ layer: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run(["convert", CallFixtures.path(other), "-o", model])
      let result = try Command.run(["diff", CallFixtures.path(name), model])
      #expect(result.code == 1, "\(result.output)\(result.errors)")
      #expect(
        result.output.contains(" with a second reading of \(name).h5; 1 differs"),
        "\(result.output)")
      #expect(result.output.contains("layer '\(layer)'"), "\(result.output)")
      #expect(result.output.contains("although its inputs agree"))
    }
  }

  /// The files that Keras wrote.
  @Test(
    arguments: [
      "att_bidir_gmp_realistic_tfk", "bi_mask_conv1d_tfk", "bi_mask_sum_tfk",
      "bi_mask_td_dense_tfk", "ner_word_char_tfk", "td_embedding_char_mask_tfk",
      "bn_training_true_tfk",
    ].flatMap(CallFixtures.framework))
  func framework(_ file: String) throws {
    try withTemporaryFolder { folder in
      let result = try Command.run(["convert", file, "-o", folder + "/m.mlmodel", "--prove"])
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.output.contains(" agree with a second reading of "), "\(result.output)")
      #expect(!result.output.contains("copied from the model"))
    }
  }

  /// Lambdas that are formulas are read a second time, too. The style network gets smaller images.
  @Test(arguments: [("swish.h5", "7 of 7"), ("style.h5", "55 of 55")])
  func lambdas(_ file: String, _ count: String) throws {
    try withTemporaryFolder { folder in
      var bytes = try Data(Fixtures("demo").bytes(file))
      if file == "style.h5" {
        let shape = try #require(bytes.range(of: Data("[null, 320, 320, 3]".utf8)))
        bytes.replaceSubrange(shape, with: Data("[null,  64,  64, 3]".utf8))
      }
      let (source, model) = ("\(folder)/\(file)", "\(folder)/m.mlmodel")
      try bytes.write(to: URL(filePath: source))
      let result = try Command.run("convert", source, "-o", model, "--lambda", "auto", "--prove")
      #expect(
        result.output.hasPrefix("\(count) layers agree with a second reading of \(file)\n"),
        "\(result.output)")
    }
  }

  /// The Lambda is x · sigmoid(x); layers that the second reading lacks are named with their class.
  @Test func aLambdaThatIsAnotherFormula() throws {
    try withTemporaryFolder { folder in
      let (rules, model) = (folder + "/rules.json", folder + "/m.mlmodel")
      let text = #"[{"class": "Lambda", "expression": "x * sigmoid(2 * x)"}]"#
      try writeFile(Array(text.utf8), to: rules)
      let source = Fixtures("demo").path("swish.h5")
      let converted = try Command.run("convert", source, "-o", model, "--custom-layers", rules)
      #expect(converted.code == 0, "\(converted.errors)")
      let result = try Command.run("diff", source, model)
      #expect(result.code == 1 && result.output.contains("layer 'swish'"), "\(result.output)")
      let lacking = Fixtures("keras/lambdas").path("einsum.h5")
      let open = try Command.run("convert", lacking, "-o", model, "--prove")
      #expect(open.output.contains("1 was not compared (Lambda)\n"), "\(open.output)")
    }
  }

  @Test func json() throws {
    try withTemporaryFolder { folder in
      let (file, model) = (
        CallFixtures.path("bidirectional_tf_2.15_concat"), folder + "/m.mlmodel"
      )
      try Command.run(["convert", file, "-o", model])
      let result = try Command.run(["diff", file, model, "--json"])
      #expect(result.output.contains("\"proved\": true"), "\(result.output)")
      #expect(result.output.contains("\"layersNotCompared\": [\"masking\"]"), "\(result.output)")
    }
  }
}
