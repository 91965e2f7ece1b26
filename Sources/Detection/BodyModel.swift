/// The parts of a body that a network finds, and the limbs between them: OpenPose's bodies of COCO,
/// MPI and with feet.
package struct BodyModel: Sendable, Equatable {
  package struct Limb: Sendable, Equatable {
    package let from: Int
    package let to: Int
    /// The first of its two channels among those of the part affinity fields; y follows x.
    let field: Int
    /// Whether it only confirms parts that other limbs connect.
    let isRedundant: Bool
  }

  package let parts: [String]
  package let limbs: [Limb]

  /// Heat maps of the parts and of the background, then the fields.
  package var channels: Int { parts.count + 1 + 2 * limbs.count }

  private init(_ parts: String, _ pairs: [(Int, Int)], fields: [Int], redundant: Set<Int> = []) {
    self.parts = parts.split(separator: " ").map(String.init)
    limbs = zip(pairs, fields).enumerated().map { index, limb in
      Limb(
        from: limb.0.0, to: limb.0.1, field: limb.1, isRedundant: redundant.contains(index))
    }
  }

  /// The body whose network has this number of channels.
  package init?(channels: Int) {
    guard let body = [Self.coco, Self.mpi, Self.feet].first(where: { $0.channels == channels })
    else { return nil }
    self = body
  }

  /// The body with this number of parts.
  package init?(parts: Int) {
    guard let body = [Self.coco, Self.mpi, Self.feet].first(where: { $0.parts.count == parts })
    else { return nil }
    self = body
  }

  package static let coco = BodyModel(
    "nose neck r-shoulder r-elbow r-wrist l-shoulder l-elbow l-wrist r-hip r-knee r-ankle l-hip "
      + "l-knee l-ankle r-eye l-eye r-ear l-ear",
    [
      (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12),
      (12, 13), (1, 0), (0, 14), (14, 16), (0, 15), (15, 17), (2, 16), (5, 17),
    ], fields: [12, 20, 14, 16, 22, 24, 0, 2, 4, 6, 8, 10, 28, 30, 34, 32, 36, 18, 26],
    redundant: [17, 18])

  package static let mpi = BodyModel(
    "head neck r-shoulder r-elbow r-wrist l-shoulder l-elbow l-wrist r-hip r-knee r-ankle l-hip "
      + "l-knee l-ankle chest",
    [
      (0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 6), (6, 7), (1, 14), (14, 8), (8, 9), (9, 10),
      (14, 11), (11, 12), (12, 13),
    ], fields: (0..<14).map { 2 * $0 })

  package static let feet = BodyModel(
    "nose neck r-shoulder r-elbow r-wrist l-shoulder l-elbow l-wrist mid-hip r-hip r-knee r-ankle "
      + "l-hip l-knee l-ankle r-eye l-eye r-ear l-ear l-big-toe l-small-toe l-heel r-big-toe "
      + "r-small-toe r-heel",
    [
      (1, 8), (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (8, 9), (9, 10), (10, 11), (8, 12),
      (12, 13), (13, 14), (1, 0), (0, 15), (15, 17), (0, 16), (16, 18), (2, 17), (5, 18),
      (14, 19), (19, 20), (14, 21), (11, 22), (22, 23), (11, 24),
    ],
    fields: [
      0, 14, 22, 16, 18, 24, 26, 6, 2, 4, 8, 10, 12, 30, 32, 36, 34, 38, 20, 28, 40, 42, 44, 46, 48,
      50,
    ], redundant: [18, 19])
}
