import Assay
import Foundation
import TestSupport
import Testing

@testable import ArgumentParser
@testable import AssayCommand

/// The length of the help, and examples that can be copied.
@Suite struct HelpTests {
  @Test func shortHelpIsShort() throws {
    let program = try Command.run("-h").output
      .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(program.count <= 26)
    let commands = program.drop { $0 != "SUBCOMMANDS:" }.dropFirst().prefix { !$0.isEmpty }
    #expect(commands.count == 13)
    #expect(
      commands.prefix(3).map { $0.split(separator: " ").first } == ["convert", "run", "diff"])
    let convert = try Command.run("convert", "-h").output
    #expect(convert.filter { $0 == "\n" }.count <= 40, "\(convert)")
    #expect(!convert.contains("--image-mean"))
    #expect(try Command.run("convert", "--help").output.contains("--image-mean"))
  }

  /// What ArgumentParser checks at each start of a debug build, unless the manifest turns it off.
  @Test func declarationsAreValid() {
    let validators: [any ParsableArgumentsValidator.Type] = [
      PositionalArgumentsValidator.self, CodingKeyValidator.self, UniqueNamesValidator.self,
      NonsenseFlagsValidator.self, AsyncCompletionsValidator.self,
    ]
    func errors(_ command: any ParsableCommand.Type) -> [String] {
      validators.compactMap { $0.validate(command, parent: nil) }.map { "\(command): \($0)" }
        + command.configuration.subcommands.flatMap(errors)
    }
    #expect(errors(AssayCommand.self) == [])
    #expect(errors(Invalid.self).count == 3)
  }

  /// An option and one of a group with the same name, a flag that cannot be turned off, and an argument
  /// after one that takes all.
  private struct Invalid: ParsableCommand {
    struct Group: ParsableArguments {
      @Option var same = ""
    }

    @Option var same = ""
    @Flag var on = true
    @Argument var all: [String]
    @Argument var last: String
    @OptionGroup var group: Group
  }

  /// A line break in an example would break the command.
  @Test(arguments: Help.commands)
  func examplesAreNotWrapped(_ command: [String]) throws {
    let lines = try Help.text(command).split(separator: "\n", omittingEmptySubsequences: false)
    let examples = lines.drop { $0 != "EXAMPLES:" }.dropFirst().prefix { !$0.isEmpty }
    for line in examples { #expect(line.hasPrefix("  "), "\(line)") }
  }

  /// There are at most 110 options, and a page uses each of them.
  @Test(.program("python3")) func everyOptionIsOnAPage() throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(["\(packageRoot)/Tests/Tools/options.py", Command.binary])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  /// Users of Swift, C and Python have no options, so messages of libraries name settings.
  @Test(.program("python3")) func onlyTheCommandNamesOptions() throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(["\(packageRoot)/Tests/Tools/settings.py", Command.binary])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
    #expect(result.output.hasPrefix("0 strings"), "\(result.output)")
  }

  /// Files with the names that examples use.
  private static let files = #"""
    set -e
    demo=$ROOT/Fixtures/demo caffe=$ROOT/Fixtures/caffe vision=$ROOT/Fixtures/detection/vision
    cp $demo/swish.h5 model.h5; cp $demo/labels.txt .; cp $demo/person.jpg photo.jpg
    for name in cat actual expected; do cp $demo/picture.png $name.png; done
    cp $caffe/v2.prototxt deploy.prototxt; cp $caffe/single.caffemodel net.caffemodel
    cp $vision/yolov2.cfg yolo.cfg; cp $vision/yolov2.weights yolo.weights
    mkdir -p images/blue images/green val
    cp cat.png images/blue/a.png; cp cat.png images/green/b.png; cp photo.jpg val
    printf 'file,label\nblue/a.png,blue\ngreen/b.png,green\n' >labels.csv
    printf '{"images": [{"id": 7, "file_name": "photo.jpg"}], "categories": [{"id": 1, "name": "a"}],
      "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [190, 98, 85, 280], "area": 1,
      "iscrowd": 0}]}' >coco.json
    printf 'input: "data" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
      layer { name: "features" type: "Power" bottom: "data" top: "features" power_param { scale: 2 } }
      layer { name: "prob" type: "Softmax" bottom: "features" top: "prob" }' >features.prototxt
    printf 'input: "data" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
      layer { name: "mine" type: "Mine" bottom: "data" top: "mine" }' >custom.prototxt
    for name in made old new; do
      assay convert model.h5 -o $name.mlmodel --preset keras-tf --labels labels.txt --input-name image
    done
    assay run made.mlmodel cat.png -o expected.npz; assay run made.mlmodel images -o predictions
    assay convert deploy.prototxt net.caffemodel -o net.mlmodel
    assay convert yolo.cfg yolo.weights -o yolo.mlmodel --image-input data
    assay convert custom.prototxt -o custom.mlmodel --custom-layers allow
    for name in features style classifier; do assay convert features.prototxt -o $name.mlmodel; done
    for name in features red green blue; do assay convert features.prototxt -o $name.mlpackage; done
    """#

  /// Makes a `model.mlmodel` that the example in `$1` can use.
  private static let model = #"""
    rm -rf model.mlmodel MyLayers layers
    case "$1" in
    *--detect*) cp yolo.mlmodel model.mlmodel ;;
    *data=image* | *features*) cp features.mlmodel model.mlmodel
      rm -rf model.mlpackage; cp -r features.mlpackage model.mlpackage ;;
    *plugin\ new*) cp custom.mlmodel model.mlmodel ;;
    *yolo.cfg*) rm yolo.mlmodel ;;
    *"assay convert "*) rm -f deploy.mlmodel ;;
    *) cp made.mlmodel model.mlmodel ;;
    esac
    """#

  /// The examples of `--help` and those in README.md for other networks run exactly as printed, in
  /// a folder with files of these names.
  @Test(.program("clang")) func examplesRun() throws {
    try withTemporaryFolder { folder in
      func run(_ script: String, _ line: String = "") throws {
        let path = "PATH=$(dirname \"$0\"):$PATH; ROOT='\(packageRoot)'\n"
        let result = try Program("/bin/sh")
          .run(["-c", path + script + "\n" + line, Command.binary, line], in: folder)
        #expect(result.code == 0, "\(line): \(result.output)\(result.errors)")
      }
      try run(Self.files)
      try FileManager.default.moveItem(
        atPath: try PluginFixture.compiled(in: folder), toPath: folder + "/libMyLayers.so")
      let examples = try Help.commands.map { try Help.text($0) }.flatMap {
        $0.split(separator: "\n").filter { $0.hasPrefix("  assay ") }
      }
      #expect(examples.count > 40)
      let readme = try Page("README.md").blocks.filter { $0.language == "sh" }.flatMap(\.lines)
        .filter { $0.hasPrefix("assay ") }
      #expect(readme.count > 3)
      for line in examples.map(String.init) + readme { try run(Self.model, line) }
    }
  }
}
