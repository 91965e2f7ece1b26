/// Where the code of a class comes from.
enum Formula {
  /// A file: the class is built in.
  case builtIn(BuiltInClass)
  /// The expressions of its layers.
  case expressions([ClassExpression])
  /// Its author.
  case none

  init(_ layerClass: LayerClass) {
    if let builtIn = BuiltInClass(layerClass.name) {
      self = .builtIn(builtIn)
    } else {
      self = ClassExpression.all(of: layerClass).map(Formula.expressions) ?? .none
    }
  }
}
