import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// Valid content that the reader rejects.
struct RefusalTests {
  private func refusal(_ fixture: String, _ path: String, _ way: Way) throws -> ModelError? {
    let root = try way.open(fixture).root
    #expect(root[path] == nil)
    return #expect(throws: ModelError.self) { try root.dataset(path) }
  }

  @Test(arguments: Way.allCases) func followsNoSoftOrExternalLinks(way: Way) throws {
    let root = try way.open("links.h5").root
    #expect(root.datasetNames == ["also", "real"])
    #expect(try root.dataset("also").values().array() == ramp(3))
    for (name, words) in [
      ("soft", "soft link"), ("dangling", "soft link"), ("external", "external link"),
      ("external/secret", "external link"),
    ] {
      let error = try refusal("links.h5", name, way)
      #expect(error?.code == .unsupported)
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
  }

  @Test(arguments: Way.allCases) func visitsEachGroupOnce(way: Way) throws {
    let root = try way.open("links.h5").root
    // The group has the name that sorts first.
    #expect(root.groupNames == ["again"])
    #expect(try root.dataset("again/values").values().array() == ramp(2))
    for path in ["again/cycle", "again/self", "group"] {
      let error = #expect(throws: ModelError.self) { try root.group(path) }
      #expect(error?.message.contains("linked twice") == true)
    }
  }

  @Test(arguments: Way.allCases) func readsNothingOutsideTheFile(way: Way) throws {
    let external = try refusal("foreign.h5", "external", way)
    #expect(external?.code == .unsupported)
    #expect(external?.message.contains("another file") == true)
    let virtual = try refusal("virtual.h5", "virtual", way)
    #expect(virtual?.message.contains("virtual dataset") == true, "\(virtual?.message ?? "")")
    for fixture in ["foreign.h5", "virtual.h5", "filters.h5"] {
      #expect(try way.open(fixture).root.dataset("good").values().array() == ramp(3))
    }
  }

  @Test(arguments: Way.allCases) func namesForeignFilters(way: Way) throws {
    let lzf = try refusal("filters.h5", "lzf", way)
    #expect(lzf?.message.contains("filter 32000 (lzf)") == true, "\(lzf?.message ?? "")")
    let scale = try refusal("filters.h5", "scaleoffset", way)
    #expect(scale?.message.contains("scaleoffset") == true)
  }

  @Test(arguments: Way.allCases) func refusesMoreThanIsStored(way: Way) throws {
    let start = ContinuousClock.now
    for name in ["shape", "large", "unallocated", "zeros", "rank"] {
      let error = try refusal("bomb.h5", name, way)
      #expect(error?.code == .limitExceeded, "\(name): \(error?.message ?? "")")
    }
    #expect(try way.open("bomb.h5").root.dataset("good").values().array() == ramp(3))
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test(arguments: Way.allCases) func limitsTheDepth(way: Way) throws {
    let root = try way.open("deep.h5").root
    let deepest = [String](repeating: "g", count: 40).joined(separator: "/")
    let error = #expect(throws: ModelError.self) { try root.group(deepest) }
    #expect(error?.code == .limitExceeded)
    let allowed = [String](repeating: "g", count: 31).joined(separator: "/")
    #expect(try root.group(allowed).groupNames == [])
  }

  @Test func saysWhatExistsInstead() throws {
    let root = try HDF5File.open(fixtures.path("keras.h5")).root
    let error = #expect(throws: ModelError.self) { try root.dataset("model_weights/dense_2/x") }
    #expect(error?.message == "there is no 'dense_2' in the group '/model_weights'")
    #expect(error?.hint == "it contains conv2d_1, dense_1, flatten")
    #expect(throws: ModelError.self) { try root.dataset("model_weights") }
    #expect(throws: ModelError.self) { try root.group("model_weights/dense_1/dense_1/bias:0") }
  }
}
