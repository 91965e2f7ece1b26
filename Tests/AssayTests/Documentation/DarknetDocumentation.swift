import DarknetImport

/// The page `docs/darknet.md`, made from the importer's lists.
enum DarknetDocumentation {
  static var markdown: String {
    let layers = LayerCatalog.entries.map { row, options in
      [
        MarkdownTable.code(row.names.prefix(1)), MarkdownTable.code(row.names.dropFirst()),
        row.becomes, MarkdownTable.code(options), String(row.version), row.refused,
      ]
    }
    let functions = LayerCatalog.functions.map { ["`\($0.name)`", $0.becomes] }
    let impossible = LayerCatalog.impossible.map { [MarkdownTable.code($0.names), $0.reason] }
    return """
      # Darknet

      `make docs` writes this page: every section of a `.cfg`, what `assay convert` makes of it, the lowest
      version of the specification that has it, and what is refused. What it computes is what the source
      code of Darknet computes, Joseph Redmon's and Alexey Bochkovskiy's.

      ## Files

      ```sh
      assay convert yolov3-tiny.cfg yolov3-tiny.weights -o yolov3-tiny.mlmodel --image-input data
      ```

      * A `.cfg` begins with `[net]` or `[network]`. Names of sections and options may be in capitals. An
        option that the section does not know is reported and has no effect; of one that stands twice the
        first counts. A line that is neither a section, nor `key = value`, nor a remark is an error with its
        number, and so is a number that is none.
      * A `.weights` file has 32 or 64 bits for the pictures seen, told by its version; where version and
        length of the file disagree, the length decides. A version above 1000 means transposed matrices.
        Numbers that are missing, left over, or impossible as a variance are errors that name the layer.
      * Without `.weights`, `inspect` and `bench` take random ones.
      * The input is `data`, `[channels, height, width]`; `--input-shape data=1,3,608,608` takes other sizes than
        the `.cfg` has. As an image it is RGB and divided by 255, unless an option says otherwise.
      * Layers are named by section and index, the first after `[net]` being 0, as in `convolutional_3`.
        Outputs are the detection heads and the last layer.

      ## Batch normalisation

      y = scale · (x − mean) / √(variance + 10⁻⁵) + bias, as Joseph Redmon's GPU code and Alexey Bochkovskiy's
      Darknet have it, with which networks are trained. `normalize_cpu` of the former divides by
      √variance + 10⁻⁶, OpenCV by √(variance + 10⁻⁶); the three differ where a variance is small. A variance
      between −10⁻⁶ and 0, which rounding leaves, counts as 0. A section `[batchnorm]` has a bias in
      Alexey Bochkovskiy's files and none in Joseph Redmon's; the length of the file decides.

      ## Pooling

      `padding` is the sum of both sides, by default size − 1, and its smaller half is above and to the left:
      out = ⌊(in + padding − size) / stride⌋ + 1. With size 2 and stride 1 the output is as large as the input.

      ## Sections

      \(MarkdownTable.layers("section", layers))

      ## Functions

      A section without `activation` has `logistic` where it is convolutional, deconvolutional, local or
      connected, otherwise `linear`. A name that Darknet does not know, for which it would take `relu`, is refused.

      \(MarkdownTable(["`activation`", "becomes"], functions))

      ## Detection heads

      The output of `[region]`, `[yolo]` and `[Gaussian_yolo]` is the raw grid, the numbers of the convolution
      before it: no logistic function, no softmax, no `scale_x_y`. Box b begins at channel
      b · (coords + 1 + classes) with x, y, w, h, the confidence, then the classes. What finding the boxes needs
      is in the model's user-defined metadata, a key an option, with Darknet's name and value:

      | key | value |
      |---|---|
      | `assay.detect.OUTPUT.type` | `region`, `yolo`, `Gaussian_yolo` or `detection`: the section |
      | `assay.detect.OUTPUT.classes`, `.num` | numbers of classes and of anchors |
      | `assay.detect.OUTPUT.anchors` | all widths and heights, `w,h,w,h,…`: of `region` in cells of the grid, of `yolo` in pixels of the input |
      | `assay.detect.OUTPUT.mask` | `yolo`: the anchors of the grid's boxes, from 0 |
      | `assay.detect.OUTPUT.coords`, `.softmax`, `.background` | `region`: numbers of a box (4); whether the classes are a softmax; whether a background class replaces the confidence |
      | `assay.detect.OUTPUT.scale_x_y`, `.new_coords` | `yolo`: x = scale · σ(x) − (scale − 1) / 2; whether the numbers are logistic already and w = 4 · w² · anchor |
      | `assay.detect.OUTPUT.thresh`, `.ignore_thresh`, `.truth_thresh`, `.iou_thresh`, `.nms_kind`, `.beta_nms`, `.yolo_point`, `.tree`, `.map` | where the section has them |
      | `assay.detect.OUTPUT.coords`, `.num`, `.side`, `.softmax`, `.sqrt` | `detection` |
      | `assay.detect.letter_box` | of `[net]`, where it is there |

      Except for those of the last but two rows the default is written where the section is silent. `OUTPUT` is the output's name,
      also where `--output-name` gives it a new one.

      ## Not converted

      \(MarkdownTable(["section", "reason"], impossible))

      Any of these, and sections of one's own, become custom layers by `--custom-layers`, if they have no weights
      and keep the size of their input.

      """
  }
}
