import TensorCore

extension LayerConfiguration {
  /// Creates the layer, and checks that its class has read all fields.
  func layer(_ type: any KerasLayer.Type) throws -> ConfiguredLayer {
    let layer = try type.configured(self)
    if type != KerasOperationLayer.self { try requireRead() }
    return layer
  }

  /// Rejects fields that nothing has read, as Keras rejects unknown arguments, except fields that
  /// only affect training, speed or storage.
  func requireRead() throws {
    let harmless = Self.harmless.union(Self.ofClass(kind))
    for (name, value) in fields.members
    where !reads.names.contains(name) && !harmless.contains(name)
      && !Self.endings.contains(where: name.hasSuffix)
    {
      throw ModelError(
        .unsupported, "\(value.text.prefix(60)) is an argument that the class does not have",
        layer: self.name, layerClass: className, field: name,
        hint:
          "if the class is not Keras's, make it a custom layer with a rule: \(setting: "customLayers")"
      )
    }
  }

  private static func ofClass(_ kind: String) -> Set<String> {
    Dropout.classNames.contains(kind) ? ofDropout : ofClasses[kind] ?? []
  }

  private static func words(_ text: String) -> Set<String> {
    Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
  }

  private static let endings = ["init", "initializer", "regularizer", "constraint"]

  private static let harmless = words(
    """
    name trainable dtype dynamic autocast weights batch_input_shape batch_shape batch_size input_shape
    input_dim input_length input_dtype input_tensor shape sparse ragged optional type_spec
    build_input_shape keras_contrib quantization_config lora_rank lora_alpha
    gptq_unpacked_column_size
    dropout dropout_U dropout_W dropout_rate recurrent_dropout attention_dropout seed rng_type
    force_generator implementation consume_less unroll stateful num_constants unit_forget_bias
    use_cudnn
    adjustment fused momentum renorm_clipping renorm_momentum synchronized virtual_batch_size
    """)

  private static let ofDropout = words(
    """
    addition_factor all_ops alpha block_size bounding_box_format brightness_factor chain_depth
    contrast_factor data_format dim_ordering drop_path_rate factor fill_mode fill_value height_factor
    hp_lambda hue_factor interpolation keep_prob kernel_size l1 l2 mode noise_shape num_chains num_ops
    p rate saturation_factor scale sigma stddev sync_channels threshold_factor value_range
    width_factor x_factor y_factor
    """)

  private static let ofClasses: [String: Set<String>] = [
    "AutoContrast": "bounding_box_format data_format factor",
    "CategoryEncoding": "num_bins", "CenterCrop": "bounding_box_format data_format factor",
    "Conv1DTranspose": "groups", "Conv2DTranspose": "groups", "Conv3DTranspose": "groups",
    "DepthwiseConv1D": "groups filters", "DepthwiseConv2D": "groups filters",
    "Discretization": "epsilon num_bins", "EinsumDense": "output_shape",
    "EmbeddingSim": "stop_gradient", "EmbeddingSimilarity": "stop_gradient",
    "GroupQueryAttention": "flash_attention",
    "IntegerLookup":
      "idf_weights max_tokens oov_method oov_token pad_to_max_tokens salt vocabulary_dtype vocabulary_size",
    "LayerScale": "init_values projection_dim",
    "Merge":
      "arguments layers mode_type node_indices output_mask output_mask_type output_shape output_shape_type tensor_indices",
    "MultiHeadAttention":
      "flash_attention key_shape query_shape softmax_robust_masking value_shape",
    "MultiHeadRelativePositionalEmbedding": "num_heads",
    "PositionEmbedding": "mask_zero",
    "RandomCrop": "bounding_box_format data_format factor", "ReluWeightedSum": "epsilon",
    "ReversibleEmbedding": "reverse_dtype", "SeparableConv1D": "groups",
    "SeparableConv2D": "groups",
    "RotaryEmbedding": "beta_fast beta_slow original_max_position_embeddings truncate",
    "SeqSelfAttention": "attention_regularizer_weight",
    "STFTSpectrogram": "periodic scaling window", "Softmax": "robust_masking",
    "SpectralNormalization": "power_iterations",
    "SwinTransformerBlock": "attn_drop dim drop_path_prob mlp_drop proj_drop",
    "TransformerDecoder": "decoder_sequence_shape",
    "ViTPatchingAndEmbedding": "image_size num_channels num_patches num_positions",
  ].mapValues(words)
}
