import HDF5Library
import LibC
import TensorCore
import Testing

@testable import HDF5Reader

/// Every HDF5 file of the corpus and of the collected models opens and can be read to the end.
struct SharedFileTests {
  @Test func collectedFilesCanBeRead() throws {
    let folder =
      getenv("ASSAY_SHARED").map { String(cString: $0) } ?? "\(Fixture.packageRoot)/../shared"
    let paths = files(in: folder).filter { $0.hasSuffix(".h5") || $0.hasSuffix(".hdf5") }.sorted()
    if paths.isEmpty {
      print("skipped: no shared files at \(folder)")
      return
    }
    for (index, path) in paths.enumerated() {
      // Starting a thousand workers takes long: every twentieth is enough to see that they agree.
      let file = try HDF5File.open(path, access: .inProcess)
      let isolated = index % 20 == 0 ? try HDF5File.open(path) : nil
      let datasets = file.root.allDatasets
      #expect(isolated == nil || isolated?.root.allDatasets.map(\.path) == datasets.map(\.path))
      for dataset in datasets where dataset.originalType.kind != .string {
        let values = try dataset.values()
        #expect(values.count == dataset.count)
        if let isolated {
          #expect(try isolated.root.dataset(dataset.path).values() == values, "\(dataset.path)")
        }
      }
    }
  }

  private func files(in folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var paths: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(".") { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) {
        paths += files(in: "\(folder)/\(name)")
      } else {
        paths.append("\(folder)/\(name)")
      }
    }
    return paths
  }
}
