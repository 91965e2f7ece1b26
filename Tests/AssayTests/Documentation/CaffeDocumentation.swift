import CaffeImport

/// The page `docs/caffe.md`, made from the importer's lists.
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

      `make docs` writes this page: every type of layers, BVLC's and those of forks, what
      `assay convert` makes of it, the lowest version of the specification that has it, and what is
      refused. All that stands in the way of a network is named in one message.

      A setting of a layer that BVLC's Caffe has not is an error, unless its layer below reads it or it is known
      to concern training, speed or storage alone.

      ## Layers

      \(MarkdownTable.layers("type", layers))

      ## Left out

      \(MarkdownTable(["type", "what it is"], left))

      ## Axes

      A blob of four axes is Core ML's (N, C, H, W), one of two (N, C), one of one (C), one of three
      (C, H, W). The interface leaves the batch out: of a batch in the file one item is declared, and
      any number can be given. Inputs of recurrent layers and of Embed are sequences (T, N, C), those
      of convolutions of one axis (N, C, W). A layer along another axis than Core ML's has permutes
      round it.

      Networks with a layer of specification 4 or later have exact mapping: their features are arrays
      with Caffe's own axes, a batch of one.

      ## Where this is not what coremltools 4.1 writes

      * BatchNorm and the Scale behind it are one batchnorm.
      * Recurrent layers heed `cont` and are written out step by step; coremltools left `cont` out
        and gave the last step only.
      * `coeff` of Reduction counts.
      * Features of outputs have shapes.
      * A classifier names the layer of its probabilities.

      ## Where this is not what OpenCV computes

      Where OpenCV's importer and Caffe's sources differ, the sources count: Axpy is a · X + Y with X
      the second bottom; PriorBox does not clip unless `clip` says so; DetectionOutput's rows are in
      order of class, then of score; Log, Exp and Power have their `scale` and `shift`, Swish its
      `beta`; LRN has its `k`; a dilated Deconvolution has its gaps; MVN adds `eps` to the deviation.

      ## Not converted

      \(MarkdownTable(["type", "reason"], impossible))

      Any of these, and types of one's own, become custom layers by `--custom-layers`. `ROIPooling`,
      `ROIAlign`, `PSROIPooling` and `ImResize` then run without a plug-in: their classes are built in.

      """
  }
}
