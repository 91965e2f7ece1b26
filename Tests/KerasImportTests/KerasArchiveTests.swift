import ByteFormats
import CoreMLModel
import Foundation
import HDF5Library
import HDF5Reader
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Valid and hostile `.keras` archives.
struct KerasArchiveTests {
  private typealias Member = (name: String, contents: [UInt8])

  private static func network(_ name: String) -> String {
    Fixtures("networks").path(name)
  }

  private static func members(_ name: String) throws -> [Member] {
    let archive = try ZipArchive(Bytes(fileBytes(network(name))))
    return try archive.members.map { ($0.name, try archive.contents($0).array(of: UInt8.self)) }
  }

  private static func archive(_ members: [Member], deflated: Bool = false) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var writer = ZipWriter { bytes += $0 }
    for (name, contents) in members {
      try contents.withUnsafeBytes { try writer.add(name, [$0], deflated: deflated) }
    }
    try writer.finish()
    return bytes
  }

  /// Converts a file with these bytes, and returns the model's.
  private static func convert(_ bytes: [UInt8], as name: String = "m.keras") throws -> [UInt8] {
    try withTemporaryFolder { folder in
      try writeFile(bytes, to: "\(folder)/\(name)")
      return try convert(path: "\(folder)/\(name)")
    }
  }

  private static func convert(path: String, weights: String? = nil) throws -> [UInt8] {
    try KerasImporter.convert(KerasSource.load(path, weights: weights, access: .inProcess)).model
      .encoded()
  }

  private func error(_ bytes: [UInt8]) -> ModelError? {
    modelError { try Self.convert(bytes) }
  }

  // MARK: Valid archives

  @Test(arguments: ["2_12-nested.keras", "windows-nested.keras"])
  func variablesUnderTheNamesOfOtherVersions(_ name: String) throws {
    #expect(
      try Self.convert(path: Self.network(name))
        == Self.convert(path: Self.network("tfkeras-nested.keras")))
  }

  @Test func contentCountsAndNotTheName() throws {
    for (name, other) in [("keras3-nested.keras", "m.h5"), ("tfkeras-nested.h5", "m.keras")] {
      let path = Self.network(name)
      #expect(try Self.convert(fileBytes(path), as: other) == Self.convert(path: path))
    }
  }

  @Test func storedAndDeflatedMembersAreTheSame() throws {
    let members = try Self.members("keras3-nested.keras")
    #expect(
      try Self.convert(Self.archive(members)) == Self.convert(Self.archive(members, deflated: true))
    )
  }

  @Test func weightsOfAnotherArchive() throws {
    let weights = Self.network("keras3-nested.keras")
    #expect(
      try Self.convert(path: Self.network("keras3-nested.json"), weights: weights)
        == Self.convert(path: weights))
  }

  // MARK: Missing or misplaced members

  @Test func whatIsNoKerasModel() throws {
    let sound = try Self.members("keras3-sequential.keras")
    #expect(error(try Self.archive([]))?.hint == "it is empty")
    let noConfiguration = error(try Self.archive(sound.filter { $0.name != "config.json" }))
    #expect(
      noConfiguration?.message == "the archive has no 'config.json', so it is not a Keras model")
    #expect(noConfiguration?.hint?.contains("model.weights.h5") == true)
    let noWeights = error(try Self.archive(sound.filter { $0.name != "model.weights.h5" }))
    #expect(noWeights?.message == "the archive has no 'model.weights.h5'")
    let folder = error(try Self.archive(sound.map { ("m/" + $0.name, $0.contents) }))
    #expect(folder?.hint?.hasPrefix("'m/config.json' is one level too deep") == true)
    let program = error(try Self.archive([("m/saved_model.pb", [1])]))
    #expect(program?.code == .unsupported && program?.message.contains("SavedModel") == true)
  }

  @Test func membersOfTheWrongKind() throws {
    func with(_ name: String, _ contents: [UInt8]) throws -> ModelError? {
      error(
        try Self.archive(
          Self.members("keras3-sequential.keras").map {
            $0.name == name ? (name, contents) : $0
          }))
    }
    #expect(
      try with("config.json", Array("{".utf8))?.message
        .hasPrefix("the archive's member 'config.json' is not JSON") == true)
    #expect(try with("config.json", Array("[]".utf8))?.code == .malformed)
    let text = try with("model.weights.h5", Array("weights".utf8))
    #expect(text?.file?.hasSuffix("m.keras (model.weights.h5)") == true)
    #expect(text?.message == "is not an HDF5 file, but text")
  }

  @Test func weightsOfAnotherModelAreNamed() throws {
    let error = modelError {
      try Self.convert(
        path: Self.network("keras3-sequential.json"),
        weights: Self.network("keras3-nested.weights.h5"))
    }
    #expect(error?.code == .mismatch)
    #expect(error?.message.contains("'/layers/batch_normalization'") == true)
    let reverse = modelError {
      try Self.convert(
        path: Self.network("keras3-nested.json"),
        weights: Self.network("keras3-sequential.weights.h5"))
    }
    let message = reverse?.message ?? ""
    #expect(message.contains("the file has no weights for") && message.contains("'inner'"))
  }

  @Test func misshapenWeightsShowBothShapes() throws {
    let members = try Self.members("keras3-sequential.keras").map { member -> Member in
      guard member.name == "config.json" else { return member }
      let text = String(decoding: member.contents, as: UTF8.self)
      return (member.name, Array(text.replacing("\"units\": 3", with: "\"units\": 5").utf8))
    }
    let error = error(try Self.archive(members))
    #expect(error?.code == .malformed)
    #expect(
      error?.message.contains(
        "weight 'vars/0' has the shape (4, 3), but the configuration requires (4, 5)") == true)
  }

  // MARK: Hostile archives

  @Test(arguments: ["../config.json", "/config.json", "a/../../b", "a\\..\\b"])
  func namesThatLeaveTheArchive(_ name: String) throws {
    let members = try Self.members("keras3-sequential.keras") + [(name, [1])]
    let error = error(try Self.archive(members))
    #expect(error?.message == "the archive's member '\(name)' points outside the archive")
  }

  @Test func duplicates() throws {
    let members = try Self.members("keras3-sequential.keras")
    let twice = members + members.filter { $0.name == "config.json" }
    #expect(
      error(try Self.archive(twice))?.message
        == "the archive has two members named 'config.json'")
  }

  @Test func bombs() throws {
    let zeros = [UInt8](repeating: 0x20, count: 80 << 20)
    let members = try Self.members("keras3-sequential.keras") + [("assets/a", zeros)]
    let error = error(try Self.archive(members, deflated: true))
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("expands to") == true)
  }

  @Test func encryption() throws {
    var bytes = try Self.archive(Self.members("keras3-sequential.keras"))
    let entry = try #require(
      bytes.indices.first { bytes[$0...].starts(with: [0x50, 0x4B, 0x01, 0x02]) })
    bytes[entry + 8] |= 1
    #expect(error(bytes)?.message.hasSuffix("is encrypted") == true)
  }

  @Test func everyPieceOfAnArchiveIsAnError() throws {
    let bytes = try fileBytes(Self.network("keras3-sequential.keras"))
    for part in 1..<64 {
      let error = error(Array(bytes.prefix(bytes.count * part / 64)))
      #expect(error?.code == .malformed, "\(part)")
    }
  }

  @Test func damagedArchivesAreErrorsOrRead() throws {
    let bytes = try fileBytes(Self.network("keras3-sequential.keras"))
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var damaged = bytes
      let position = Int.random(in: damaged.indices, using: &generator)
      damaged[position] ^= UInt8.random(in: 1...255, using: &generator)
      do { _ = try Self.convert(damaged) } catch { #expect(error is ModelError) }
    }
  }
}

/// The assumed version of a file that does not state it.
struct KerasVersionTests {
  @Test(arguments: [
    ("keras3-nested.json", 3, 0), ("keras3-sequential.json", 3, 0), ("tfkeras-nested.json", 2, 12),
  ])
  func aVersionThatIsNotNamed(_ name: String, _ major: Int, _ minor: Int) throws {
    let path = Fixtures("networks").path(name)
    let json = try JSONValue(parsing: [UInt8](Data(contentsOf: URL(filePath: path))))
    let version = KerasVersion(text: nil, backend: nil, configuration: json)
    #expect(version.isAtLeast(major, minor) && !version.isAtLeast(major, minor + 1))
    #expect(!version.isKnown)
  }

  @Test func keras1IsKnownByItsNames() throws {
    let json = try JSONValue(
      parsing:
        #"{"class_name": "Sequential", "config": [{"class_name": "Dense", "config": {"output_dim": 3}}]}"#
    )
    #expect(KerasVersion(text: nil, backend: nil, configuration: json).isKeras1)
  }
}
