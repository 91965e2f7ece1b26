import ArgumentParser
import Assay

/// Options for Caffe networks.
struct CaffeArguments: ParsableArguments {
  @Option(
    name: .customLong("mean"),
    help: ArgumentHelp(
      "Mean image of all image inputs or of one: .binaryproto or .npy; repeatable.",
      valueName: "[NAME=]FILE"),
    completion: .file())
  var means: [NamedFile] = []

  @Option(help: "Include the layers of this phase; default: test.")
  var phase: NetworkState.Phase?

  @Option(help: "Include the layers of this level.")
  var level: Int?

  @Option(
    name: .customLong("stage"), help: "Include the layers of this stage; repeatable.")
  var stages: [String] = []

  var networkState: NetworkState {
    var state = NetworkState()
    state.phase = phase ?? .test
    state.level = level
    state.stages = Set(stages)
    return state
  }

  var meanImages: PerFeature<MeanImage> {
    get throws {
      var images = PerFeature<MeanImage>()
      for mean in means {
        let image = try MeanImage(contentsOf: mean.file)
        if let name = mean.name { images.named[name] = image } else { images.all = image }
      }
      return images
    }
  }

  /// Without the mean images.
  var givenStates: [String] {
    [("--phase", phase != nil), ("--level", level != nil), ("--stage", !stages.isEmpty)].given
  }

  var given: [String] { [("--mean", !means.isEmpty)].given + givenStates }
}

extension NetworkState.Phase: ExpressibleByArgument {}

/// `FILE` for all features, or `NAME=FILE` for one; a file's own name may have the sign after the
/// first.
struct NamedFile: ExpressibleByArgument {
  let name: String?
  let file: String

  init?(argument: String) {
    let pair = KeyValue(argument: argument)
    name = pair?.key
    file = pair?.value ?? argument
    if file.isEmpty { return nil }
  }
}
