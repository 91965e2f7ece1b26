import TensorCore

/// The first section, which describes the input.
struct NetworkOptions: Sendable {
  let section: ConfigurationSection
  /// The image's `[channels, height, width]`; nil if the section has only `inputs`.
  let image: [Int]?
  let inputs: Int

  static let sections = ["net", "network"]
  static let options = ["height", "width", "channels", "inputs", "letter_box"]
  static let trainingOptions = """
    B1 B2 adam adversarial_lr angle aspect attention augment_speed badlabels_rejection_percentage
    batch blur burn_in center clip contrastive contrastive_color contrastive_jit_flip cutmix decay
    dynamic_minibatch ema_alpha eps equidistant_point exposure flip gamma gaussian_noise hue
    label_smooth_eps learning_rate learning_rate_min loss_scale max_batches max_chart_loss max_crop
    max_ratio min_crop min_ratio mixup momentum mosaic mosaic_bound notruth
    num_sigmas_reject_badlabels optimized_memory policy power random resize_step saturation scale
    scales seq_scales sequential_subdivisions sgdr_cycle sgdr_mult show_receptive_field step steps
    subdivisions time_steps track try_fix_nan unsupervised use_cuda_graph weights_reject_freq
    workspace_size_limit_MB
    """.split { $0 == " " || $0 == "\n" }.map(String.init)

  init(_ file: ConfigurationFile) throws {
    guard let first = file.sections.first, Self.sections.contains(first.kind) else {
      let name = file.sections.first.map { "line \($0.line): [\($0.name)]" } ?? "nothing"
      throw ModelError(.malformed, "\(name) comes first; expected [net] or [network]")
    }
    section = first
    let sizes = try ["channels", "height", "width"].map { try first.int($0, default: 0) }
    let isImage = sizes.allSatisfy { $0 > 0 }
    image = isImage ? sizes : nil
    let count = isImage ? try checkedProduct(sizes, limit: Limits.tensorElements) : 0
    inputs = try first.int("inputs", default: count)
    guard isImage || inputs > 0 else {
      throw ModelError(
        .malformed, "line \(first.line): [\(first.name)] does not state the size of the input",
        hint: "give height, width and channels, or inputs")
    }
    guard !isImage || inputs == count else {
      throw ModelError(
        .malformed,
        "line \(first.line): inputs \(inputs) differs from \(sizes[0]) × \(sizes[1]) × \(sizes[2])")
    }
  }
}
