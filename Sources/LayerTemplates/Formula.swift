/// The source of a class's code.
enum Formula {
  /// The file of a built-in class.
  case builtIn(BuiltInClass)
  /// The expressions of the class's layers.
  case expressions([ClassExpression])
  /// To be written by the user.
  case none

  init(_ layerClass: LayerClass) {
    if let builtIn = BuiltInClass(layerClass.name) {
      self = .builtIn(builtIn)
    } else {
      self = ClassExpression.all(of: layerClass).map(Formula.expressions) ?? .none
    }
  }
}
