import TensorCore
import TestSupport
import Testing

@testable import ByteFormats

/// File formats, according to their documents: `onnx.proto`, `graph.proto`, `saved_model.proto`,
/// `Model.proto`, `caffe.proto`, APPNOTE, and the signatures that file(1) lists.
@Suite struct FileFormatTests {
  private static func told(_ bytes: [UInt8]) -> FileFormat { FileFormat(Bytes(bytes)) }

  private static func told(_ text: String) -> FileFormat { told(Array(text.utf8)) }

  @Test func textsAreToldByTheirFirstWord() {
    let cases: [(String, FileFormat)] = [
      ("", .empty), ("name: \"net\"\nlayer {", .prototxt), ("# remark\n\nlayers {", .prototxt),
      ("# " + String(repeating: "remark ", count: 10_000), .prototxt), ("# remark", .text),
      ("\u{FEFF}[net]\nwidth=1", .darknet), ("# a\n; b\n[conv_lstm]", .darknet),
      ("# remark\n\n ; other\n [ convolutional ] \n", .darknet), ("[Gaussian_yolo]", .darknet),
      ("[", .json), (#"["net"]"#, .json), (#"[{"class": "Lambda"}]"#, .json),
      ("[1, 2]", .json), ("\u{FEFF} {\"class_name\": 1}", .json), ("1,2\n3,4", .text),
      ("<!DOCTYPE html><html>", .foreign(.markup)), ("\n<html>", .foreign(.markup)),
      (
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        .foreign(.largeFilePointer)
      ),
    ]
    for (text, format) in cases { #expect(Self.told(text) == format, "\(text.prefix(40))") }
  }

  @Test func binariesAreToldByTheirSignature() {
    let hdf5: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
    let cases: [([UInt8], FileFormat)] = [
      (hdf5, .hdf5), ([UInt8](repeating: 0, count: 512) + hdf5, .hdf5),
      // A .keras archive whose weights start where a user block may end.
      (Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 2044) + hdf5, .zip),
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png), ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
      ([0x93] + Array("NUMPY\u{1}\0".utf8), .numPy),
      ([0x1F, 0x8B, 8, 0], .foreign(.archive("gzip"))),
      ([0x80, 0x04, 0x95], .foreign(.pickle)),
      // torch.save before 1.6: a pickled magic number.
      (
        [0x80, 0x02, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19],
        .foreign(.pyTorch)
      ),
      ([0x40, 0, 0, 0, 0, 0, 0, 0] + Array("{\"__metadata__\"".utf8), .foreign(.tensors)),
      // The weights of Darknet 0.2.
      ([0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], .darknetWeights),
    ]
    for (bytes, format) in cases { #expect(Self.told(bytes) == format, "\(bytes)") }
  }

  @Test func messagesAreToldByTheirFields() {
    // ir_version 8, producer_name "pytorch", producer_version "2.1", graph, opset_import 14
    let onnx: [UInt8] =
      [0x08, 8, 0x12, 7] + Array("pytorch".utf8) + [0x1A, 3] + Array("2.1".utf8)
      + [0x3A, 3, 0x12, 1, 0x67, 0x42, 2, 0x10, 14]
    let cases: [([UInt8], FileFormat)] = [
      (onnx, .foreign(.onnx)),
      // Truncated within its graph.
      (Array(onnx.prefix(18)), .foreign(.onnx)),
      // specificationVersion 1, an empty description, neuralNetwork (500)
      ([0x08, 1, 0x12, 0, 0xA2, 0x1F, 0], .coreML),
      // The same without a version, and an ML Program (502)
      ([0x12, 0, 0xA2, 0x1F, 0], .coreML), ([0x08, 6, 0x12, 0, 0xB2, 0x1F, 0], .coreML),
      // name "net", layer (100), and layers (2)
      ([0x0A, 3] + Array("net".utf8) + [0xA2, 6, 0], .caffeBinary), ([0x12, 0], .caffeBinary),
      // The same fields with numbers.
      ([0x08, 3, 0xA2, 6, 0], .unknown),
    ]
    for (bytes, format) in cases { #expect(Self.told(bytes) == format, "\(bytes)") }
  }

  @Test func filesOfTensorFlow() throws {
    let fixtures = Fixtures("formats")
    let cases: [(String, ForeignFormat)] = [
      ("graph.pb", .frozenGraph), ("saved_model.pb", .savedModel), ("add.tflite", .tensorFlowLite),
    ]
    for (name, format) in cases {
      #expect(Self.told(try fixtures.bytes(name)) == .foreign(format), "\(name)")
    }
  }

  @Test func archivesAreToldByTheirMembers() throws {
    func archive(_ names: String...) throws -> [UInt8] {
      var bytes: [UInt8] = []
      var writer = ZipWriter { bytes += $0 }
      for name in names { try [UInt8](name.utf8).withUnsafeBytes { try writer.add(name, [$0]) } }
      try writer.finish()
      return bytes
    }
    // The format of torch.save since 1.6.
    #expect(
      Self.told(try archive("archive/data.pkl", "archive/data/0", "archive/version"))
        == .foreign(.pyTorch))
    #expect(
      Self.told(try archive("m.mlmodelc/coremldata.bin", "m.mlmodelc/model.espresso.net"))
        == .foreign(.compiledModel))
    #expect(Self.told(try archive("saved/saved_model.pb")) == .foreign(.savedModel))
    #expect(Self.told(try archive("config.json", "model.weights.h5")) == .zip)
    #expect(Self.told(Array("PK\u{3}\u{4}rest".utf8)) == .zip)
  }

  @Test func foldersAreToldByTheirFiles() throws {
    try withTemporaryFolder { folder in
      #expect(ForeignFormat(folder: folder) == nil)
      try writeFile([1], to: folder + "/coremldata.bin")
      #expect(ForeignFormat(folder: folder) == .compiledModel)
      let error = modelError { try FileFormat.read(folder) }
      #expect(error?.code == .unsupported && error?.file == folder)
    }
  }
}
