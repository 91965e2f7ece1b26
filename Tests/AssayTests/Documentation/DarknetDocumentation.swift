import DarknetImport

/// The page `docs/darknet.md`, generated from the importer's lists.
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

      `make docs` generates this page: every section of a `.cfg`, what `assay convert` turns it into, the lowest
      specification version that supports it, and what is refused. The reference is the source code of
      Darknet, Joseph Redmon's and Alexey Bochkovskiy's.

      ## Files

      ```sh
      assay convert yolov3-tiny.cfg yolov3-tiny.weights -o yolov3-tiny.mlmodel --image-input data
      ```

      * A `.cfg` starts with `[net]` or `[network]`. Section and option names may be in capitals. An unknown
        option is reported and ignored; if an option is repeated, the first one counts. A line that is not a
        section, `key = value` or a comment, or an invalid number, is an error with a line number.
      * A `.weights` file stores the number of images seen in 32 or 64 bits, depending on its version; if
        the version and the length of the file disagree, the length decides. A version above 1000 means transposed
        matrices. Missing or extra numbers, and invalid variances, are errors that name the layer.
      * Without `.weights`, `inspect` and `bench` use random weights.
      * The input is `data`, `[channels, height, width]`; `--input-shape data=1,3,608,608` overrides the sizes in
        the `.cfg`. As an image, it is RGB and divided by 255, unless an option overrides that.
      * Layers are named by section and index, such as `convolutional_3`; the first after `[net]` has index 0.
        Outputs are the detection heads and the last layer.

      ## Batch normalization

      y = scale · (x − mean) / √(variance + 10⁻⁵) + bias, as in Joseph Redmon's GPU code and Alexey
      Bochkovskiy's Darknet, which train networks. The former's `normalize_cpu` divides by √variance + 10⁻⁶,
      OpenCV by √(variance + 10⁻⁶); the three differ if a variance is small. A variance between −10⁻⁶ and 0,
      a result of rounding, counts as 0. A section `[batchnorm]` has a bias in
      Alexey Bochkovskiy's files but not in Joseph Redmon's; the length of the file decides.

      ## Signs

      With `binary`, a weight is its sign times the mean magnitude of its filter's weights. With `xnor`, the
      input values are also replaced by their signs: 1 above 0, −1 otherwise. The padding is 0. This is how
      networks are trained. When Darknet runs them with single bits, the padding counts as −1, and `bin_output`
      omits the activation, which does not change the signs that the next such layer uses.

      ## Pooling

      `padding` is the sum of both sides, by default size − 1; the smaller half is added above and to the left:
      out = ⌊(in + padding − size) / stride⌋ + 1. With size 2 and stride 1, the output is as large as the input.

      ## Routes

      `[route2]`, `[route3]` and `[route_lhalf]`, which takes the first half of each layer's channels, come
      from WongKinYiu: his PyTorch code defines them, not Darknet.

      ## Sections

      \(MarkdownTable.layers("section", layers))

      ## Functions

      Without `activation`, a convolutional, deconvolutional, local or connected section uses `logistic`, any
      other section `linear`. For an unknown name, Darknet would use `relu`; Assay refuses it.

      \(MarkdownTable(["`activation`", "becomes"], functions))

      ## Detection heads

      The output of `[region]`, `[yolo]` and `[Gaussian_yolo]` is the raw grid, as the convolution before it
      computes it: no logistic function, no softmax, no `scale_x_y`. Box b starts at channel
      b · (coords + 1 + classes) with x, y, w, h, the confidence, then the classes. The model's user-defined
      metadata describes how to decode the boxes, with one key per option and Darknet's name and value:

      | key | value |
      |---|---|
      | `assay.detect.OUTPUT.type` | `region`, `yolo`, `Gaussian_yolo` or `detection`: the section |
      | `assay.detect.OUTPUT.classes`, `.num` | numbers of classes and of anchors |
      | `assay.detect.OUTPUT.anchors` | all widths and heights, `w,h,w,h,…`: of `region` in cells of the grid, of `yolo` in pixels of the input |
      | `assay.detect.OUTPUT.mask` | `yolo`: the anchors of the grid's boxes, from 0 |
      | `assay.detect.OUTPUT.coords`, `.softmax`, `.background` | `region`: the number of values per box (4); whether the classes are a softmax; whether a background class replaces the confidence |
      | `assay.detect.OUTPUT.scale_x_y`, `.new_coords` | `yolo`: x = scale · σ(x) − (scale − 1) / 2; whether the values are already logistic, and w = 4 · w² · anchor |
      | `assay.detect.OUTPUT.thresh`, `.ignore_thresh`, `.truth_thresh`, `.iou_thresh`, `.nms_kind`, `.beta_nms`, `.yolo_point`, `.tree`, `.map` | if the section has them |
      | `assay.detect.OUTPUT.coords`, `.num`, `.side`, `.softmax`, `.sqrt` | `detection` |
      | `assay.detect.letter_box` | of `[net]`, if set |

      Defaults are written, except for the entries in the third row from the end. `OUTPUT` is the name of the output,
      even if `--output-name` changes it.

      ## Recurrent sections

      `rnn`, `gru`, `lstm`, `crnn` and `conv_lstm` keep a state from one image to the next. It becomes an
      input, `SECTION_state_in`, and an output, `SECTION_state_out`; pass the output of one prediction as the
      input of the next, starting with zeros. An `lstm` or `conv_lstm` has `SECTION_cell_in` and `_out`, too. A
      prediction is one step, regardless of `time_steps`. A `conv_lstm` follows Darknet's GPU code: its CPU
      code has neither `lstm_activation` nor `bottleneck`. The two Darknets store the matrices of `gru` and `lstm` in
      different orders: revision 5 in the header of the weights means Alexey Bochkovskiy's, a lower one
      Joseph Redmon's.

      A `softmax` with a `tree` reads the file of classes and parents, next to the `.cfg` or where Darknet
      looks for it if the `.cfg` is in `cfg`, and applies a softmax to each group.

      ## Not converted

      \(MarkdownTable(["section", "reason"], impossible))

      Any of these, and custom sections, become custom layers with `--custom-layers`, if they have no weights
      and keep the size of their input.

      """
  }
}
