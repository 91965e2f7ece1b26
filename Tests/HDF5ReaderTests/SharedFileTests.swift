import HDF5Library
import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// Every HDF5 file in the corpus and among the collected models can be opened and read to the end.
struct SharedFileTests {
  @Test(.shared("corpus"), .shared("models")) func collectedFilesCanBeRead() throws {
    let paths = Shared.files(endingIn: ".h5", ".hdf5").filter { !$0.contains("/hostile/") }
    for (index, path) in paths.enumerated() {
      // Starting a thousand workers takes too long; every twentieth file is enough to show that
      // both ways agree.
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
}
