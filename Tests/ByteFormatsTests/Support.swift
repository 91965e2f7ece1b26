import Files
import Foundation
import TensorCore
import TestSupport

@testable import ByteFormats

let fixtures = Fixtures("arrays")

extension Fixtures {
  struct Expected: Decodable {
    let name: String?
    let shape: [Int]
    let bits: [UInt32]
  }

  /// The values that NumPy reads from each file; see `make.py`.
  func expected() throws -> [String: [Expected]] {
    let json = try Data(contentsOf: URL(filePath: path("expected.json")))
    return try JSONDecoder().decode([String: [Expected]].self, from: json)
  }
}
