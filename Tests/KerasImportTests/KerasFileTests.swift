import CoreMLModel
import HDF5Library
import HDF5Reader
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Files in the layouts of several versions of Keras; see `Fixtures/keras/make.py`.
struct KerasFileTests {
  private func convert(_ name: String, weights: String? = nil) throws -> Converted {
    Converted(
      result: try KerasImporter.convert(
        KerasSource.load(
          fixtures.path(name), weights: weights.map(fixtures.path), access: .inProcess)))
  }

  private func error(_ name: String, weights: String? = nil) -> ModelError? {
    modelError { try convert(name, weights: weights) }
  }

  @Test(arguments: [
    ("sequential.h5", nil), ("chunked_attributes.h5", nil),
    ("architecture.json", "weights_only.h5"),
    ("architecture.json", "other_names_weights.h5"), ("architecture.json", "sequential.h5"),
    ("sequential.h5", "weights_only.h5"),
  ])
  func theSameNetworkFromEveryFile(_ name: String, _ weights: String?) throws {
    let converted = try convert(name, weights: weights)
    #expect(converted.names == ["dense_1", "dense_1__activation__", "dense_2"])
    let first = try #require(converted.layer("dense_1", as: InnerProduct.self))
    #expect(try first.matrix?.floatValue.array() == [0, 0.5, 1, 0.25, 0.75, 1.25])
    #expect(try first.bias?.floatValue.array() == [100, 100.25])
    let second = try #require(converted.layer("dense_2", as: InnerProduct.self))
    #expect(try second.matrix?.floatValue.array() == [0, 0.25])
    #expect(converted.inputShape() == [3] && converted.outputShape() == [1])
    #expect(converted.metadata("assay.trainable") == "11")
    #expect(converted.metadata("assay.source") == "Keras 2.2.4")
  }

  @Test func keras1() throws {
    let converted = try convert("keras1.h5")
    #expect(converted.types == ["convolution", "flatten", "innerProduct"])
    let convolution = try #require(converted.layer("convolution2d_1", as: Convolution.self))
    #expect(convolution.padding == .same(SamePadding()))
    // [h, w, in, out] to [out, in, h, w]
    #expect(try Array(convolution.kernel?.floatValue.array().prefix(3) ?? []) == [0, 0.5, 1])
    #expect(converted.layer("dense_1", as: InnerProduct.self)?.hasBias == false)
    #expect(converted.metadata("assay.source") == "Keras 1.2.2")
  }

  @Test func weightsOfNestedModelsAreTrainableFirst() throws {
    let converted = try convert("nested.h5")
    #expect(converted.names == ["nested_bn", "nested_inner"])
    let batchnorm = try #require(converted.layer("nested_bn", as: Batchnorm.self))
    // gamma 1, 1¼; beta 2, 2¼; mean 4, 4¼; variance 1, 4; epsilon 0
    #expect(try batchnorm.gamma?.floatValue.array() == [1, 0.625])
    #expect(try batchnorm.beta?.floatValue.array() == [2 - 4, 2.25 - 0.625 * 4.25])
    let inner = try #require(converted.layer("nested_inner", as: InnerProduct.self))
    #expect(try inner.matrix?.floatValue.array() == [0, 0.25])
    #expect(try inner.bias?.floatValue.array() == [9])
    #expect(converted.metadata("assay.trainable") == "7")
  }

  @Test func weightsAloneAreNoModel() throws {
    let error = error("weights_only.h5")
    #expect(error?.message == "the file contains weights but no architecture")
    #expect(error?.hint?.hasPrefix("give the architecture (.json) first") == true)
    #expect(
      self.error("architecture.json")?.message == "the architecture has no weights")
  }

  @Test func leftOverWeightsAreNamed() throws {
    let error = error("architecture.json", weights: "left_over_weights.h5")
    #expect(error?.message == "the file has extra weights for 'dense_3'")
  }

  @Test func misshapenWeightsShowBothShapes() throws {
    let error = error("architecture.json", weights: "misshapen_weights.h5")
    #expect(error?.layer == "dense_2")
    #expect(
      error?.message
        == "weight 'dense_2/kernel:0' has the shape (3, 1), but the configuration requires (2, 1)")
  }

  @Test func missingWeightsAreNamed() throws {
    let json = #"""
      {"class_name": "Sequential", "config": [
        {"class_name": "Dense", "config": {"name": "a", "batch_input_shape": [null, 3], "units": 2}},
        {"class_name": "Dense", "config": {"name": "b", "units": 2}}]}
      """#
    let error = modelError {
      try KerasImportTests.convert(json, ["a": [.init("kernel:0", [3, 2]), .init("bias:0", [2])]])
    }
    #expect(error?.message.hasPrefix("the file has no weights for 'b'") == true)
    let fewer = modelError {
      try KerasImportTests.convert(
        json,
        [
          "a": [.init("kernel:0", [3, 2])],
          "b": [.init("kernel:0", [2, 2]), .init("bias:0", [2])],
        ])
    }
    #expect(fewer?.layer == "a")
    #expect(
      fewer?.message
        == "the configuration requires 2 weights (kernel, bias), but the file has 1 weight "
        + "(kernel:0 (3, 2))")
  }
}
