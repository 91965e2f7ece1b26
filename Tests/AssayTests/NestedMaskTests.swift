import TestSupport
import Testing

/// Masks of sequences of sequences: TimeDistributed passes them to its layer since Keras 2.2, and
/// before Keras 3 also adopts the masks of the Embedding and Masking inside it.
@Suite struct NestedMaskTests {
  private static let names = ["words_", "embedding_", "masking_", "model_"].flatMap {
    CallFixtures.names($0)
  }

  @Test(arguments: names)
  func masksOfCharacters(_ name: String) throws {
    try CallFixtures.expectAgreement(CallFixtures.path(name))
  }

  @Test func networksAreThere() { #expect(Self.names.count == 10) }

  @Test(
    arguments: ["ner_word_char_tfk", "td_embedding_char_mask_tfk"].flatMap(CallFixtures.framework))
  func asKeras(_ file: String) throws { try CallFixtures.expectAgreement(file) }
}
