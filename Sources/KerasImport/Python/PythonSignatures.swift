import ByteFormats

/// A library function that a layer or operation of Keras computes, and the names of its parameters
/// in the library.
struct PythonSignature: Sendable {
  enum Target: Sendable {
    case operation(Operation)
    /// A layer class without weights.
    case layer(String)
  }

  struct Parameter: Sendable {
    /// The names of the parameter; the target uses the first one.
    var names: [Substring]
    /// The value of a missing argument, and the only supported value if `isFixed`.
    var standard: JSONValue?
    var isFixed = false
  }

  let target: Target
  let parameters: [Parameter]

  /// The signature of the function at a path such as `tf.nn.depth_to_space`; nil if it is unknown.
  static func of(_ path: String) -> PythonSignature? {
    if let found = table[path] { return found }
    for (from, to) in shortened where path.hasPrefix(from) {
      return table[to + path.dropFirst(from.count)]
    }
    return nil
  }

  private static let shortened = [
    ("tf.math.", "tf."), ("tf.nn.", "tf."), ("tf.linalg.", "tf."), ("tf.image1.", "tf.image."),
    ("keras.ops.numpy.", "keras.ops."), ("keras.ops.nn.", "keras.ops."),
  ]

  private static let table: [String: PythonSignature] = {
    var table: [String: PythonSignature] = [:]
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: "|").map {
        $0.split(separator: " ")
      }
      guard parts.count == 3, let name = parts[0].first else { continue }
      let target: Target
      if name.hasPrefix("@") {
        target = .layer(String(name.dropFirst()))
      } else {
        guard let operation = OperationTable.operation(named: String(name)) else { continue }
        target = .operation(operation)
      }
      let parameters = parts[2].map { text -> Parameter in
        let isFixed = text.contains("!")
        let halves = text.split(separator: isFixed ? "!" : "=", maxSplits: 1)
        return Parameter(
          names: halves[0].split(separator: ","),
          standard: halves.count > 1
            ? (try? JSONValue(parsing: Array(halves[1].utf8))) ?? .string(String(halves[1])) : nil,
          isFixed: isFixed)
      }
      for function in parts[1] {
        let path =
          function.hasPrefix("K.")
          ? "keras.backend." + function.dropFirst(2)
          : function.hasPrefix("ops.") ? "keras." + function : String(function)
        table[path] = PythonSignature(target: target, parameters: parameters)
      }
    }
    return table
  }()

  /// Operation or @layer | functions | parameters. A parameter lists its names, the operation's
  /// first, and = its default or ! the only value that is converted.
  private static let lines = """
    reshape | K.reshape tf.reshape ops.reshape | x,tensor,inputs shape,newshape
    transpose | K.permute_dimensions | x perm,pattern
    transpose | K.transpose | x
    transpose | tf.transpose ops.transpose | x,a perm,axes conjugate!false
    swapaxes | ops.swapaxes | x axis1 axis2
    moveaxis | ops.moveaxis | x source destination
    concat | K.concatenate ops.concatenate | values,tensors,xs axis=-1
    concat | tf.concat | values axis,concat_dim
    stack | K.stack tf.stack ops.stack tf.pack | values,x axis=0
    unstack | tf.unstack ops.unstack | x,value num axis=0
    split | tf.split | x,value num_or_size_splits axis=0 num
    split | ops.split | x indices_or_sections axis=0
    tile | K.tile tf.tile ops.tile | x,input multiples,n,repeats
    reverse | K.reverse tf.reverse tf.reverse_v2 ops.flip | x,tensor axis,axes
    flipleftright | tf.image.flip_left_right | x,image
    flipupdown | tf.image.flip_up_down | x,image
    tril | ops.tril | x k=0
    triu | ops.triu | x k=0
    roll | tf.roll ops.roll | x,input shift axis
    expanddims | K.expand_dims ops.expand_dims | x axis,dim=-1
    expanddims | tf.expand_dims | x,input axis,dim
    squeeze | K.squeeze tf.squeeze ops.squeeze | x,input axis,squeeze_dims
    flatten | K.batch_flatten | x
    repeat | K.repeat_elements | x repeats,rep axis
    repeat | tf.repeat ops.repeat | x,input repeats axis
    @RepeatVector | K.repeat | x n
    matmul | tf.matmul tf.batch_matmul | a,x b,y transpose_a,adjoint_a,adj_x=false transpose_b,adjoint_b,adj_y=false
    matmul | ops.matmul | a,x1 b,x2
    matmul | K.dot | a,x b,y
    @Dot | K.batch_dot | x y axes
    einsum | tf.einsum ops.einsum | *
    argmax | K.argmax ops.argmax | x axis=-1
    argmax | tf.argmax tf.arg_max | x,input axis,dimension=0 output_type
    argmin | K.argmin ops.argmin | x axis=-1
    argmin | tf.argmin tf.arg_min | x,input axis,dimension=0 output_type
    onehot | K.one_hot | indices num_classes
    onehot | tf.one_hot | indices depth on_value=1 off_value=0 axis=-1 dtype
    onehot | ops.one_hot | x num_classes axis=-1
    gather | K.gather | x,reference indices
    gather | tf.gather | x,params indices validate_indices axis=0
    gather | ops.take | x indices axis
    topk | tf.top_k ops.top_k | x,input k=1 sorted!true
    sort | tf.sort | x,values axis=-1 direction
    argsort | tf.argsort | x,values axis=-1 direction
    cumsum | K.cumsum ops.cumsum | x axis=0
    cumsum | tf.cumsum | x axis=0 exclusive=false reverse=false
    pad | tf.pad ops.pad | x,tensor paddings,pad_width mode=constant constant_values=0
    @ZeroPadding1D | K.temporal_padding | x padding=[1,1]
    @ZeroPadding2D | K.spatial_2d_padding | x padding=[[1,1],[1,1]] data_format,dim_ordering
    @UpSampling2D | K.resize_images | x height_factor width_factor data_format,dim_ordering interpolation=nearest
    resize | tf.image.resize | x,images size method=bilinear preserve_aspect_ratio!false antialias=false
    resizeimages | tf.image1.resize tf.image.resize_images | x,images size method=bilinear align_corners=false preserve_aspect_ratio!false
    resizebilinear | tf.image.resize_bilinear | x,images size align_corners=false half_pixel_centers=false
    resizenearestneighbor | tf.image.resize_nearest_neighbor | x,images size align_corners=false half_pixel_centers=false
    resize | ops.image.resize | x,images size interpolation=bilinear antialias=false
    depthtospace | tf.depth_to_space | x,input block_size data_format=NHWC
    spacetodepth | tf.space_to_depth | x,input block_size data_format=NHWC
    croptoboundingbox | tf.image.crop_to_bounding_box | x,image offset_height offset_width target_height target_width
    grayscaletorgb | tf.image.grayscale_to_rgb | x,images
    rgbtograyscale | tf.image.rgb_to_grayscale | x,images
    perimagestandardization | tf.image.per_image_standardization | x,image
    maxpool | tf.max_pool tf.max_pool2d ops.max_pool | x,value,input,inputs pool_size,ksize strides padding data_format
    averagepool | tf.avg_pool tf.avg_pool2d ops.average_pool | x,value,input,inputs pool_size,ksize strides padding data_format
    @MaxPooling2D | K.pool2d | x pool_size strides=[1,1] padding,border_mode=valid data_format,dim_ordering pool_mode=max
    localresponsenormalization | tf.local_response_normalization tf.lrn | x,input depth_radius=5 bias=1 alpha=1 beta=0.5
    extractpatches | tf.image.extract_patches | x,images sizes strides rates padding
    biasadd | K.bias_add | x bias data_format!channels_last
    biasadd | tf.bias_add | x,value bias data_format!NHWC
    logsoftmax | tf.log_softmax ops.log_softmax | x,logits axis=-1
    moments | tf.moments | x axes shift keepdims,keep_dims=false
    moments | ops.moments | x axes keepdims=false
    logsumexp | K.logsumexp tf.reduce_logsumexp ops.logsumexp | x,input_tensor axis keepdims,keep_dims=false
    norm | tf.norm ops.norm | x,tensor ord axis keepdims,keep_dims=false
    normalize | ops.normalize | x axis=-1 order=2 epsilon
    any | K.any tf.reduce_any ops.any | x,input_tensor axis keepdims,keep_dims=false
    all | K.all tf.reduce_all ops.all | x,input_tensor axis keepdims,keep_dims=false
    addn | tf.add_n | values,inputs
    zeroslike | K.zeros_like tf.zeros_like ops.zeros_like | x,input,tensor dtype
    oneslike | K.ones_like tf.ones_like ops.ones_like | x,input,tensor dtype
    cast | K.cast tf.cast ops.cast | x dtype
    identity | tf.identity K.identity tf.ensure_shape tf.to_float | x,input shape
    """
}
