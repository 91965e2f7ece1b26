import TestSupport
import Testing

/// Masked steps are 0 in the output of Bidirectional since TensorFlow 2.1; before, and in Keras
/// without TensorFlow, they repeat the previous step.
@Suite struct BidirectionalMaskTests {
  @Test(arguments: CallFixtures.names("bidirectional_"))
  func maskedSteps(_ name: String) throws {
    let comment = name.contains("tf_2.0") ? "masked steps repeat the step before" : ""
    try CallFixtures.expectAgreement(CallFixtures.path(name), comment: comment)
  }

  @Test func networksAreThere() {
    #expect(CallFixtures.names("bidirectional_").count == 16)
  }

  @Test(
    arguments: [
      "att_bidir_gmp_realistic_tfk", "bi_mask_conv1d_tfk", "bi_mask_sum_tfk",
      "bi_mask_td_dense_tfk",
    ].flatMap(CallFixtures.framework))
  func asKeras(_ file: String) throws { try CallFixtures.expectAgreement(file) }
}
