import CaffeImport

/// The page `docs/caffe.md`, generated from the importer's lists.
enum CaffeDocumentation {
  static var markdown: String {
    let layers = CaffeImporter.supportedTypes.map { row in
      [
        MarkdownTable.code(row.names.prefix(1)), MarkdownTable.code(row.names.dropFirst()),
        row.becomes, row.options, String(row.version), row.refused,
      ]
    }
    let left = CaffeImporter.leftOutTypes.map { [MarkdownTable.code($0.names), $0.becomes] }
    let impossible = UnconvertedLayers.reasons.map { [MarkdownTable.code($0.names), $0.reason] }
    return """
      # Caffe

      `make docs` generates this page: every layer type of BVLC's Caffe and its forks, what `assay convert`
      turns it into, the lowest specification version that supports it, and what is refused. If a network
      cannot be converted, one error lists all obstacles.

      A layer setting that BVLC's Caffe does not have is an error, unless the layer below supports it or it is
      known to affect only training, speed or storage.

      ## Layers

      \(MarkdownTable.layers("type", layers))

      ## Removed layers

      \(MarkdownTable(["type", "what it is"], left))

      ## Axes

      A blob with four axes becomes (N, C, H, W) in Core ML, with two (N, C), with one (C), with three (C, H, W).
      The interface omits the batch: it declares one item, and you can pass any number of items. Inputs of
      recurrent layers and of Embed are sequences (T, N, C), those of one-dimensional convolutions
      (N, C, W). A layer along an axis other than Core ML's is wrapped in permutes.

      Networks with a layer of specification 4 or later use exact mapping: their features are arrays with
      Caffe's own axes and a batch of one. If the file declares a larger batch and a layer works across it, the
      inputs keep the whole batch: a Reshape that splits it, as in LRCN, whose batch is a set of videos;
      Softmax, Reduction, Slice, Concat, Tile or InnerProduct along the first axis; BatchReindex; a Scale or
      Eltwise with other values for each item. Such an input cannot be an image. Layers that find regions
      refuse several images.

      ## Eight bits

      Intel's Caffe rounds `scale_in` times the input and `scale_params` times the weights of a layer with
      `quantization_param` to 8 bits, and divides the result by these scales (`mkldnn_convolution_layer.cpp`).
      Weights and biases are stored in single precision, and other engines compute with these values. So does
      the converted layer, and a note says so: the scales only describe an approximation of the network, whose
      results depend on the processor. Without VNNI, sums of two products saturate at 16 bits, so
      `first_conv_force_u8.py` halves the scales of the weights.

      ## Public networks

      `Tests/Tools/public_networks.txt` lists 267 deployment networks without Python layers. 264 of them
      (98.9%) convert. The other three are inconsistent: a Reshape does not match its bottom.

      ## Differences from coremltools 4.1

      * BatchNorm and the Scale after it become one batchnorm.
      * Recurrent layers respect `cont` and are unrolled; coremltools ignored `cont` and returned only
        the last step.
      * Reduction applies `coeff`.
      * Output features have shapes.
      * A classifier names the layer of its probabilities.

      ## Differences from OpenCV

      If OpenCV's importer and Caffe's sources disagree, Assay follows the sources: Axpy is a · X + Y, where
      X is the second bottom; PriorBox clips only if `clip` is set; DetectionOutput's rows are sorted by
      class, then by score; Log, Exp and Power apply `scale` and `shift`, Swish applies `beta`, LRN applies
      `k`; a dilated Deconvolution is dilated; MVN adds `eps` to the deviation.

      ## Not converted

      \(MarkdownTable(["type", "reason"], impossible))

      Any of these, and custom types, become custom layers with `--custom-layers`. `ROIAlign` and `ImResize`
      then run without a plug-in: their classes are built in.

      ## Two-stage detectors

      Region layers become custom layers without a rule, because their classes are built in and
      `inspect --swift-stubs` writes them for an app. Their results have one item per region, so the features
      of such a network have Caffe's own axes, and the pooled regions are an output.
      [Detection](detection.md#two-stage-detectors) has the details.

      """
  }
}
