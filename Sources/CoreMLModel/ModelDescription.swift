/// Interface and metadata of a model.
public struct ModelDescription: SpecificationMessage {
  public var input: [FeatureDescription] = []
  public var output: [FeatureDescription] = []
  public var predictedFeatureName = ""
  public var predictedProbabilitiesName = ""
  public var trainingInput: [FeatureDescription] = []
  public var metadata: Metadata?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// A named input or output.
public struct FeatureDescription: SpecificationMessage {
  public var name = ""
  public var shortDescription = ""
  public var type: FeatureType?
  public var unknownFields = UnknownFields()

  public init() {}

  public init(name: String, kind: FeatureType.Kind, isOptional: Bool = false) {
    self.name = name
    var type = FeatureType()
    type.kind = kind
    type.isOptional = isOptional
    self.type = type
  }
}

public struct Metadata: SpecificationMessage {
  public var shortDescription = ""
  public var versionString = ""
  public var author = ""
  public var license = ""
  /// Written in ascending order of the keys.
  public var userDefined: [String: String] = [:]
  public var unknownFields = UnknownFields()

  public init() {}
}
