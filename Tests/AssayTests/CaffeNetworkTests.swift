import ByteFormats
import Foundation
import TestSupport
import Testing

/// Converts Caffe networks on the command line and compares them with other engines' predictions.
@Suite struct CaffeNetworkTests {
  private static let fixtures = packageRoot + "/Fixtures/caffe"

  /// OpenCV's predictions; see `Fixtures/caffe/make.py`.
  @Test(arguments: [
    "v2.prototxt single.caffemodel", "v0.prototxt v0.caffemodel", "whole.caffemodel",
  ])
  func answersAsOpenCVDoes(_ files: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/net.mlmodel"
      let paths = files.split(separator: " ").map { Self.fixtures + "/\($0)" }
      let converted = try Command.run(["convert"] + paths + ["-o", model])
      #expect(converted.code == 0, "\(converted.errors)")
      let compared = try Command.run(
        "diff", model, Self.fixtures + "/input.npy", "--expected", Self.fixtures + "/expected.npy",
        "--rtol", "1e-5")
      #expect(compared.code == 0, "\(compared.output) \(compared.errors)")
    }
  }

  /// The nine layers for which BVLC Caffe's outputs are known, within 1e-4 of the largest value.
  @Test(
    .shared("models/caffe"),
    arguments: [
      "convolution", "deconvolution", "inner_product", "lrn_channels", "lrn_spatial", "mvn",
      "pooling_ave", "pooling_max", "softmax",
    ])
  func answersAsCaffeDid(_ layer: String) throws {
    let shared = Shared.folder
    let folder = shared + "/models/caffe/opencv_contrib_dnn/layers"
    let weights = folder + "/layer_\(layer).caffemodel"
    let own = folder + "/layer_\(layer).input.npy"
    let files = FileManager.default
    try Self.compare(
      [folder + "/layer_\(layer).prototxt"] + (files.fileExists(atPath: weights) ? [weights] : []),
      input: files.fileExists(atPath: own) ? own : folder + "/blob.npy",
      expected: folder + "/layer_\(layer).npy")
  }

  /// Third-party networks, compared with OpenCV's predictions.
  @Test(
    .shared("models/caffe"),
    arguments: [
      ("face_mask_detection/face_mask_detection", "", "face_mask_detection__face_mask_detection"),
      ("lenet/lenet", "lenet/lenet_iter_10000", "lenet__lenet"),
      (
        "lenet_danielhers/lenet", "lenet_danielhers/lenet_rmsprop_iter_10000",
        "lenet_danielhers__lenet_rmsprop_iter_10000.caffemodel"
      ),
      ("mtcnn/det1", "", "mtcnn__det1"), ("mtcnn/det2", "", "mtcnn__det2"),
      ("mtcnn/det3", "", "mtcnn__det3"), ("ultraface/slim-320", "", "ultraface__slim-320"),
      (
        "waifu2x/anime_style_art/noise1_model", "waifu2x/anime_style_art/noise1_model.json",
        "waifu2x__anime_style_art__noise1_model"
      ),
      (
        "waifu2x/ukbench/scale2.0x_model", "waifu2x/ukbench/scale2.0x_model.json",
        "waifu2x__ukbench__scale2.0x_model"
      ),
    ])
  func networksAnswerAsOpenCVDoes(_ network: String, _ weights: String, _ reference: String) throws
  {
    let shared = Shared.folder
    let folder = shared + "/models/caffe/"
    let arrays = try ArraySet.read(folder + "_refs/\(reference).npz").arrays
    let input = try #require(arrays.first { $0.name == "input" })
    try withTemporaryFolder { scratch in
      try ArraySet([input]).write(to: scratch + "/input.npy")
      try ArraySet(arrays.filter { $0.name != "input" }).write(to: scratch + "/expected.npz")
      try Self.compare(
        [
          folder + network + ".prototxt",
          folder + (weights.isEmpty ? network : weights) + ".caffemodel",
        ],
        input: scratch + "/input.npy",
        expected: scratch + "/expected.npz")
    }
  }

  /// Networks without expected outputs are converted and run; layers that Core ML lacks become
  /// custom layers.
  @Test(
    .shared("models/caffe"),
    arguments: [
      (
        "cifar10_quick_hdf5/cifar10_quick.prototxt",
        "cifar10_quick_hdf5/cifar10_quick_iter_5000.caffemodel.h5"
      ),
      (
        "waifu2x/upresnet10/scale2.0x_model.prototxt",
        "waifu2x/upresnet10/scale2.0x_model.json.caffemodel"
      ),
      (
        "waifu2x/upresnet10/noise0_scale2.0x_model.prototxt",
        "waifu2x/upresnet10/noise0_scale2.0x_model.json.caffemodel"
      ),
      (
        "dogqiuqiu/darknet2caffe__sample__MobileNetV2-YOLOv3-Nano-voc.prototxt",
        "dogqiuqiu/darknet2caffe__sample__MobileNetV2-YOLOv3-Nano-voc.caffemodel"
      ),
    ])
  func networksConvertAndRun(_ network: String, _ weights: String) throws {
    let shared = Shared.folder
    let folder = shared + "/models/caffe/"
    try withTemporaryFolder { scratch in
      let model = scratch + "/net.mlmodel"
      let converted = try Command.run(
        "convert", folder + network, folder + weights, "-o", model)
      #expect(converted.code == 0, "\(converted.errors)")
      let run = try Command.run("bench", model, "--runs", "1", "--warmup", "0")
      #expect(run.code == 0, "\(run.errors)")
    }
  }

  /// An architecture can be inspected and timed without its weights.
  @Test(
    .shared("models/caffe"),
    arguments: [
      "mtcnn/det4.prototxt", "ultraface/RFB-320.prototxt",
      "dogqiuqiu/yoloface50k-landmark106__caffemodel__landmark106.prototxt",
    ])
  func textsAreInspectedAndTimed(_ network: String) throws {
    let shared = Shared.folder
    let path = shared + "/models/caffe/" + network
    let inspected = try Command.run("inspect", path)
    #expect(inspected.code == 0, "\(inspected.errors)")
    let timed = try Command.run("bench", path, "--runs", "1", "--warmup", "0")
    #expect(timed.code == 0, "\(timed.errors)")
  }

  /// Converts and compares; no element may be off by more than 1e-4 of its output's largest value.
  private static func compare(
    _ network: [String], input: String, expected: String
  ) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/net.mlmodel"
      let converted = try Command.run(["convert"] + network + ["-o", model])
      #expect(converted.code == 0, "\(converted.errors)")
      var tolerances = ["--rtol", "0"]
      for array in try ArraySet.read(expected).arrays {
        let largest = array.tensor.elements.reduce(0) { max($0, abs($1)) }
        tolerances += ["--atol", (array.name.map { $0 + "=" } ?? "") + "\(largest * 1e-4)"]
      }
      let compared = try Command.run(["diff", model, input, "--expected", expected] + tolerances)
      #expect(compared.code == 0, "\(compared.output) \(compared.errors)")
    }
  }
}
