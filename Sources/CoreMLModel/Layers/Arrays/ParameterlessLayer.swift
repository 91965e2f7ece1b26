/// A type of layer whose message has no fields.
protocol ParameterlessLayer: LayerParameters, EncodedMessage {}

extension ParameterlessLayer {
  static var fields: [Field<Self>] { [] }
}
