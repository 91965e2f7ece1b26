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
      cannot be converted, one error lists everything in its way.

      A setting of a layer that BVLC's Caffe has not is an error, unless its layer below reads it or it is known
      to concern training, speed or storage alone.

      ## Layers

      \(MarkdownTable.layers("type", layers))

      ## Left out

      \(MarkdownTable(["type", "what it is"], left))

      ## Axes

      A blob with four axes is Core ML's (N, C, H, W), with two (N, C), with one (C), with three (C, H, W).
      The interface omits the batch: it declares one item, and any number can be passed. Inputs of
      recurrent layers and of Embed are sequences (T, N, C), those of one-dimensional convolutions
      (N, C, W). A layer along an axis other than Core ML's is wrapped in permutes.

      Networks with a layer of specification 4 or later use exact mapping: their features are arrays with
      Caffe's own axes and a batch of one. If a Reshape splits the batch, as LRCN's does into videos of
      several images, the inputs keep the batch that the file declares.

      ## Eight bits

      Intel's Caffe rounds `scale_in` times the input and `scale_params` times the weights of a layer with
      `quantization_param` to 8 bits, and divides the result by these scales (`mkldnn_convolution_layer.cpp`).
      Weights and biases are numbers of single precision in the file, and other engines compute with these.
      So does the converted layer, which a note says: the scales describe an approximation of the same
      network, whose results depend on the processor. Without VNNI, sums of two products saturate at 16
      bits, for which `first_conv_force_u8.py` halves the scales of the weights.

      ## Public networks

      `Tests/Tools/public_networks.txt` lists 267 networks for deployment without Python layers. 264 of them
      (98.9 %) convert. The other three contradict themselves: a Reshape does not match its bottom.

      ## Differences from coremltools 4.1

      * BatchNorm and the Scale after it become one batchnorm.
      * Recurrent layers respect `cont` and are unrolled; coremltools ignored `cont` and returned the last
        step only.
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

      The layers of regions become custom layers without a rule, since their classes are built in and
      `inspect --swift-stubs` writes them for an app. Their results have an item for each region, so that
      such a network has features with Caffe's own axes, and the regions that are pooled are an output.
      [Detection](detection.md#two-stage-detectors) has the details.

      """
  }
}
