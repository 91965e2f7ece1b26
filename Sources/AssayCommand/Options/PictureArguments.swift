import ArgumentParser
import Imaging

/// How pictures are brought into the model's size.
struct PictureArguments: ParsableArguments {
  @Option(help: "What to do with a picture of another size than the model's.")
  var resize = Fitting.exact

  @Option(help: "The filter with which pictures are resized, equal to Pillow's.")
  var interpolation = Interpolation.bilinear

  @Option(help: "Whether pictures are turned as their Exif orientation says.")
  var exif = Exif.ignore

  enum Exif: String, ExpressibleByArgument, CaseIterable {
    case ignore, apply
  }

  var options: PictureOptions {
    var options = PictureOptions()
    options.fitting = resize
    options.interpolation = interpolation
    options.appliesOrientation = exif == .apply
    return options
  }
}

extension Fitting: ExpressibleByArgument {}

extension Interpolation: ExpressibleByArgument {}
