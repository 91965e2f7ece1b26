import ImportSupport
import TensorCore

/// The parts of a layer that a conversion has read.
final class LayerUsage: @unchecked Sendable {
  // `@unchecked`: a conversion runs on one thread.
  /// Indices of weights.
  private(set) var blobs: Set<Int> = []
  /// Paths of fields, such as `pooling_param.stride`.
  private(set) var fields: Set<String> = []

  func use(_ index: Int) { blobs.insert(index) }
  func read(_ field: String) { fields.insert(field) }
}

extension LayerCall {
  /// Rejects unread settings of Caffe forks, unless they are known not to affect the result.
  func requireSettingsRead() throws { try requireRead(message, path: "") }

  /// Whether Intel's Caffe computes the layer with integers: `mkldnn_convolution_layer.cpp` rounds
  /// `scale_in` · input and `scale_params` · weights, stored in single precision in the file, to 8
  /// bits, and divides by the scales afterward. Apart from rounding, the layer is the same.
  var isQuantized: Bool { message.has("quantization_param") }

  private func requireRead(_ message: CaffeMessage, path: String) throws {
    for field in message.fields {
      let name = path.isEmpty ? field.name : "\(path).\(field.name)"
      let isRead = usage.fields.contains(name)
      let inner = field.values.compactMap(\.message)
      if isRead, !inner.isEmpty {
        for (index, value) in inner.enumerated() {
          let indexed = "\(name)[\(index)]"
          try requireRead(value, path: field.type?.isRepeated == true ? indexed : name)
        }
      } else if !isRead, !path.isEmpty, field.type == nil,
        !Self.isHarmless(field.name, field.values.last)
      {
        throw unreadError(name, field, in: message)
      }
    }
  }

  private static func isHarmless(_ field: String, _ value: CaffeValue?) -> Bool {
    if let neutral = neutralValues[field] { return value?.text == neutral }
    return harmlessFields.contains(field) || field.hasSuffix("_filler")
  }

  private func unreadError(
    _ path: String, _ field: CaffeMessage.Field, in message: CaffeMessage
  ) -> ModelError {
    let hint: String
    if let neutral = Self.neutralValues[field.name] {
      hint = "only \(neutral) is supported"
    } else if let similar = message.type?.fieldName(similarTo: field.name) {
      hint = "did you mean '\(similar)'?"
    } else if field.name.hasPrefix("#") {
      hint = "give the .prototxt, which has its name, before the .caffemodel"
    } else {
      hint = "remove it to get the layer of BVLC's Caffe"
    }
    return unsupported(
      "\(field.values.last?.text ?? "") is a setting that BVLC's Caffe lacks, and it is not used",
      field: path, hint: hint)
  }

  /// Settings of forks, with the value that makes no difference from BVLC's Caffe.
  private static let neutralValues = [
    // Intel
    "relu": "false", "pixelshuffler": "1", "avg_include_pad": "true", "fusion_type": "NONE_FUSION",
    // NVIDIA
    "torch_pooling": "false", "lambda": "1",
    // Cambricon; DeepLab
    "scale_train": "true", "upper_limit": "0", "same_mode": "false", "yuv_input": "false",
    "sparse_mode": "false", "use_alpha_beta": "false", "nearestneighbor_mode": "false",
    // happynear
    "disable_mean": "false", "disable_variance": "false", "normalize": "false",
    "sqrt_scale": "false", "hard_ratio": "1",
  ]

  /// Settings of forks for training, speed and storage.
  private static let harmlessFields: Set<String> = [
    // Device and speed: NVIDIA, Intel, Cambricon
    "engine", "cudnn_convolution_algo_seeker", "conv_algos_override", "cudnn_math_override",
    "conv_algorithm", "forward_type", "forward_math", "backward_type", "backward_math",
    "use_faster_roipooling", "per_fla_fuse", "share_mem", "workspace_limit", "debug",
    // Only `relu` uses Intel's negative slope; `fuse` merges a ReLU into the layer before it.
    "negative_slope", "fuse", "use_weight_bias", "coeff",
    // Training
    "moving_average_fraction", "momentum", "update_global_stats", "stats_batch_size", "frozen",
    "freeze", "random_seed", "fix_gradient", "bp_norm", "class_weight",
    "hard_mining_label", "label_smooth_factor", "lr_mult", "decay_mult", "normalization",
    "loss_weight", "ignore_label",
  ]
}
