import Foundation
import TensorCore
import TestSupport
import Testing

@testable import ByteFormats

@Suite struct NumPyFileTests {
  @Test func readsWhatNumPyReads() throws {
    let expected = try fixtures.expected()
    #expect(expected.count == 33)
    for (file, arrays) in expected {
      let set = try ArraySet.read(fixtures.path(file))
      #expect(set.arrays.map(\.name) == arrays.map(\.name), "\(file)")
      #expect(set.arrays.map(\.tensor.shape) == arrays.map(\.shape), "\(file)")
      for (array, expected) in zip(set.arrays, arrays) {
        let bits = array.tensor.elements.map { $0.isNaN ? Float.nan.bitPattern : $0.bitPattern }
        #expect(bits == expected.bits, "\(file)")
      }
    }
  }

  @Test func keepsTheFilesType() throws {
    for type in NumericType.allCases {
      #expect(try ArraySet.read(fixtures.path("\(type.rawValue).npy")).arrays[0].type == type)
    }
  }

  @Test func writesWhatNumPyWrites() throws {
    for name in ["f4.npy", "u1.npy", "scalar.npy", "empty.npy", "long.npy", "extremes.npy"] {
      let file = try fixtures.bytes(name)
      var written: [UInt8] = []
      try ArraySet.parse(Bytes(file)).write(.npy) { written += $0 }
      #expect(written == file, "\(name)")
    }
  }

  private func file(_ header: String, elements: [UInt8] = []) -> Bytes {
    let text = Array(header.utf8)
    let length = [UInt8(text.count & 0xFF), UInt8(text.count >> 8)]
    return Bytes(NumPyHeader.magic.array(of: UInt8.self) + [1, 0] + length + text + elements)
  }

  @Test func refusesBadHeaders() {
    let cases: [(String, ModelError.Code?)] = [
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", nil),
      ("{\"shape\": ( 1 , ), 'fortran_order':True,'descr':'<u1'}", nil),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (1L,), }", nil),
      ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", .unsupported),
      ("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", .unsupported),
      ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", .unsupported),
      ("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", .unsupported),
      ("{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }", .unsupported),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }", .malformed),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", .malformed),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }", .malformed),
      ("{'descr': '|u1', 'fortran_order': 0, 'shape': (1,), }", .malformed),
      ("{'descr': '|u1', 'fortran_order': False}", .malformed),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': True}", .malformed),
      ("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", .malformed),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} 1", .malformed),
      ("{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}", .malformed),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}", .malformed),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296,)}", .limitExceeded),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (65536, 65536)}", .limitExceeded),
      (
        "{'descr': '|u1', 'fortran_order': True, 'shape': (0, 2147483647, 2147483647, 9)}",
        .limitExceeded
      ),
      ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", .limitExceeded),
      ("{'descr': '<f8', 'fortran_order': False, 'shape': (2147483647,)}", .malformed),
      ("", .malformed), ("{", .malformed), ("{'", .malformed), ("{'a", .malformed),
    ]
    for (header, expected) in cases {
      #expect(
        errorCode { try NumPyFile.parse(file(header, elements: [7])) } == expected, "\(header)")
    }
  }

  @Test func survivesEveryTruncation() throws {
    for name in ["f4.npy", "fortran.npy", "version2.npy"] {
      let bytes = try fixtures.bytes(name)
      for length in bytes.indices {
        #expect(
          errorCode { try ArraySet.parse(Bytes(Array(bytes[..<length]))) } == .malformed,
          "\(name), \(length) bytes")
      }
      #expect(errorCode { try NumPyFile.parse(Bytes(bytes + [0])) } == .malformed)
    }
  }

  @Test func survivesMutations() throws {
    for name in ["f4.npy", "i2_big.npy", "fortran.npy", "version3.npy"] {
      for bytes in damaged(try fixtures.bytes(name), count: 1500, seed: 1) {
        do { _ = try NumPyFile.parse(Bytes(bytes)) } catch is ModelError {}
      }
    }
  }
}
