import ImportSupport

extension CaffeConversion {
  /// Describes the boxes in user-defined metadata, keyed by the outputs' final names: the rows of
  /// DetectionOutput, or the regions of Faster R-CNN with their scores and offsets.
  func detectionMetadata(_ imported: ImportedNetwork) -> [String: String] {
    var metadata = gridMetadata(imported)
    for (position, version) in graph.outputs.enumerated() {
      guard imported.outputs.indices.contains(position),
        let layer = graph.nodes.first(where: { $0.outputs.contains(version) })?.layer
      else { continue }
      let name = options.outputNames[position]
      switch layer.type {
      case "DetectionOutput":
        let parameters = layer.parameters("detection_output_param")
        let prefix = "assay.detect.\(name)."
        metadata[prefix + "type"] = layer.type
        metadata[prefix + "classes"] = (try? parameters.int("num_classes")).map(String.init)
        metadata[prefix + "background"] = (try? parameters.int("background_label_id"))
          .map(String.init)
      case "Proposal", "Python":
        guard network.hasRegions, metadata["assay.detect.regions"] == nil, layer.tops.count > 0,
          layer.tops[0] == graph.versions[version].blob
        else { continue }
        metadata["assay.detect.type"] = "faster-rcnn"
        metadata["assay.detect.regions"] = name
        metadata["assay.detect.image_info"] = imageInfo(of: layer)
      default: continue
      }
    }
    return metadata
  }

  /// The anchors and classes of grids that are outputs instead of YOLO's boxes.
  private func gridMetadata(_ imported: ImportedNetwork) -> [String: String] {
    var metadata: [String: String] = [:]
    for node in graph.nodes where LayerRole.gridTypes.contains(node.layer.type) {
      let isThird = node.layer.type == "Yolov3DetectionOutput"
      let parameters = node.layer.parameters(
        isThird ? "yolov3_detection_output_param" : "yolo_detection_output_param")
      guard let anchors = try? parameters.doubles("biases"),
        let classes = try? parameters.int("num_classes"),
        let count = try? parameters.int("num_box", atLeast: 1),
        (try? parameters.bool("gaussian_box", default: false)) != true,
        let masks = try? (isThird ? parameters.ints("mask", atLeast: 0) : [])
      else { continue }
      for (index, version) in node.inputs.enumerated() {
        guard let position = graph.outputs.firstIndex(of: version),
          imported.outputs.indices.contains(position)
        else { continue }
        let prefix = "assay.detect.\(options.outputNames[position])."
        metadata[prefix + "type"] = isThird ? "yolo" : "region"
        metadata[prefix + "classes"] = "\(classes)"
        metadata[prefix + "num"] = "\(count)"
        metadata[prefix + "anchors"] = anchors.map { "\(Float($0))" }.joined(separator: ",")
        if isThird {
          metadata[prefix + "mask"] = masks.dropFirst(index * count).prefix(count)
            .map(String.init).joined(separator: ",")
        }
      }
    }
    return metadata
  }

  /// The name of the input from which the layer gets the image's size and scale.
  private func imageInfo(of layer: LayerCall) -> String? {
    let position = inputs.firstIndex { input in
      graph.readers(of: input.version).contains { $0.layer.index == layer.index && $0.bottom == 2 }
    }
    return position.map { options.inputNames[$0] }
  }
}
