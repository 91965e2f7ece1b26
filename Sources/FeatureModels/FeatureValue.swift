import Imaging

/// The value of an input or output.
public enum FeatureValue: Sendable {
  /// An image of any size; the options say how it is brought to the input's size.
  case image(Image)
  /// Numbers.
  case array(Tensor)
  /// Numbers in double precision, for a model that is not a network.
  case numbers(NumberArray)
  /// A whole number.
  case int(Int)
  /// A number.
  case double(Double)
  /// A text.
  case string(String)
  /// Numbers by texts or whole numbers.
  case dictionary([FeatureKey: Double])
}
