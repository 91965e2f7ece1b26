import HDF5Library
import HDF5Reader
import LibC
import TensorCore
import TestSupport

let fixtures = Fixtures("hdf5")

/// Passes the path of a file, which is removed after `body`.
func withFile<Result>(
  _ bytes: [UInt8], mode: mode_t = 0o600, _ body: (String) throws -> Result
) throws -> Result {
  try withTemporaryFolder { folder in
    let path = "\(folder)/file"
    try writeFile(bytes, to: path)
    chmod(path, mode)
    return try body(path)
  }
}

/// The ramp of `make.py`: i / 4 - 3.
func ramp(_ count: Int) -> [Float] { (0..<count).map { Float($0) / 4 - 3 } }

/// Both ways of reading, by name, for parameterized tests.
enum Way: String, CaseIterable {
  case isolated
  case inProcess

  var access: HDF5Access { self == .isolated ? .isolated : .inProcess }

  func open(_ fixture: String) throws -> HDF5File {
    try HDF5File.open(fixtures.path(fixture), access: access)
  }
}
