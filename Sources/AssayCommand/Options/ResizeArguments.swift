/// How images are resized to the model's size; the model's recorded options are the defaults.
struct ResizeArguments: ParsableArguments {
  @Option(
    help: .advanced(
      "Resize and crop like another program; convert can record this in the model.", "NAME"))
  var recipe: ImageRecipe?

  @Option(
    help: "How to resize an image to the model's size; default: exact, which refuses other sizes.")
  var resize: Fitting?

  @Option(help: .advanced("The filter for resizing; default: bilinear, equal to Pillow's.", "NAME"))
  var interpolation: Interpolation?

  @Option(help: .advanced("Whether to rotate images by their Exif orientation; default: ignore."))
  var exif: Exif?

  enum Exif: String, ExpressibleByArgument, CaseIterable { case ignore, apply }

  func options(for model: Model) throws -> ImageOptions {
    var options = try recipe?.options ?? ImageOptions(recordedIn: model)
    if let resize { options.bring(into: resize) }
    if let interpolation { options.interpolation = interpolation }
    if let exif { options.appliesOrientation = exif == .apply }
    return options
  }

  /// A description of where the options come from.
  func origin(for model: Model) -> String {
    let given = resize != nil || interpolation != nil || exif != nil
    let base =
      recipe.map { "recipe \($0.rawValue)" }
      ?? (ImageOptions.isRecorded(in: model) ? "recorded in the model" : "")
    if base.isEmpty { return given ? "as given" : "default" }
    return base + (given ? ", changed by options" : "")
  }
}

extension ImageRecipe: ExpressibleByArgument {}

extension Fitting: ExpressibleByArgument {}

extension Interpolation: ExpressibleByArgument {}

extension Shard: ExpressibleByArgument {
  /// Parses `N/COUNT`: `2/4` is the second of four.
  package init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]) else {
      return nil
    }
    self.init(number: number, of: count)
  }

  package var defaultValueDescription: String { "\(index + 1)/\(count)" }
}
