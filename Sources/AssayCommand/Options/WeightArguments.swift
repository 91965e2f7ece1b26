/// The format of weights in files.
struct WeightArguments: ParsableArguments {
  @Option(
    name: .customLong("weight-files"),
    help: .advanced(
      "How weights files look: format=\(names(WeightFiles.Format.self)), per=\(names(WeightFiles.Grouping.self)) (what a file contains), layout=\(names(ExportLayout.self)) (the order of the axes), or suffix=_W,_b (instead of the names of a layer's weights); repeatable.",
      "K=V"))
  var settings: [WeightFileSetting] = []

  var files: WeightFiles { settings.reduce(into: WeightFiles()) { $1.change(&$0) } }

  private static func names<T: CaseIterable & RawRepresentable<String>>(_: T.Type) -> String {
    T.allCases.map(\.rawValue).joined(separator: "|")
  }
}

struct WeightFileSetting: ExpressibleByArgument {
  let change: (inout WeightFiles) -> Void

  init?(argument: String) {
    guard let pair = KeyValue(argument: argument) else { return nil }
    switch pair.key {
    case "format":
      guard let format = WeightFiles.Format(rawValue: pair.value) else { return nil }
      change = {
        $0.format = format
        if format == .swift { $0.grouping = .all }
      }
    case "per":
      guard let grouping = WeightFiles.Grouping(rawValue: pair.value) else { return nil }
      change = { $0.grouping = grouping }
    case "layout":
      guard let layout = ExportLayout(rawValue: pair.value) else { return nil }
      change = { $0.layout = layout }
    case "suffix": change = { $0.suffixes = pair.value.split(separator: ",").map(String.init) }
    default: return nil
    }
  }
}
