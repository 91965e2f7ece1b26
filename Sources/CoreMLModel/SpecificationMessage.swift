/// A message of the Core ML specification as a Swift value.
///
/// Properties carry the names and the raw values of the file: zero or empty means "not written".
/// Effective values, with the specification's defaults, are computed properties beside them.
package protocol SpecificationMessage: Sendable, Equatable {
  init()
  /// Fields that this program's schema does not know, kept as they were read.
  var unknownFields: UnknownFields { get set }
}
