import ArgumentParser
import Assay

/// How pictures are brought into the model's size. What is not given here is as the model records it.
struct PictureArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Resize and crop as another program does; convert can record it in the model.",
      valueName: "NAME"))
  var recipe: PictureRecipe?

  @Option(
    help:
      "What to do with a picture of another size than the model's; exact, that is an error, by default."
  )
  var resize: Fitting?

  @Option(
    help: ArgumentHelp(
      "The filter with which pictures are resized; bilinear, equal to Pillow's, by default.",
      valueName: "NAME"))
  var interpolation: Interpolation?

  @Option(help: "Whether pictures are turned as their Exif orientation says; ignore by default.")
  var exif: Exif?

  enum Exif: String, ExpressibleByArgument, CaseIterable {
    case ignore, apply
  }

  func options(for model: Model) throws -> PictureOptions {
    var options = try recipe?.options ?? PictureOptions(recordedIn: model)
    if let resize { options.bring(into: resize) }
    if let interpolation { options.interpolation = interpolation }
    if let exif { options.appliesOrientation = exif == .apply }
    return options
  }

  /// Where the options come from, for a reader.
  func origin(for model: Model) -> String {
    let given = resize != nil || interpolation != nil || exif != nil
    let base =
      recipe.map { "recipe \($0.rawValue)" }
      ?? (PictureOptions.isRecorded(in: model) ? "recorded in the model" : "")
    if base.isEmpty { return given ? "as given" : "default" }
    return base + (given ? ", changed by options" : "")
  }
}

extension PictureRecipe: ExpressibleByArgument {}

extension Fitting: ExpressibleByArgument {}

extension Interpolation: ExpressibleByArgument {}

extension Shard: ExpressibleByArgument {
  /// `2/4` is the second of four.
  package init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]) else {
      return nil
    }
    self.init(number: number, of: count)
  }

  package var defaultValueDescription: String { "\(index + 1)/\(count)" }
}
