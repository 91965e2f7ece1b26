"""The networks that wild.py builds: for each package of PyPI the small variants of what it offers.

`NETWORKS[package][name]()` returns a model and the kinds of its inputs: "unit" for numbers in
[-1, 1], "byte" for those of images, a number N for indices below it, "ones"; or a dictionary with the
kinds by the names of the inputs. Nothing is pretrained.
"""
import os

os.environ.setdefault("SM_FRAMEWORK", "tf.keras")
os.environ.setdefault("TF_KERAS", "1")
os.environ.setdefault("KECAM_BACKEND", "tensorflow")

MODULES = {}
NETWORKS = {}


def package(name, module):
    MODULES[name] = module
    NETWORKS[name] = {}

    def add(network, build, *kinds):
        def made():
            model = build()
            if isinstance(model, tuple):
                model = next(part for part in model if hasattr(part, "inputs"))
            return model, kinds
        NETWORKS[name][network] = made
    return add


def attribute(path):
    """A function of a module, imported when it is used."""
    import importlib
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def functional(keras, model):
    """The layers of a model whose class only its package knows."""
    return keras.Model(model.inputs, model.outputs)


def old_names():
    """Names of Keras that packages of 2019 and 2020 import from where they were then."""
    import sys
    import keras
    import tensorflow as tf
    for module in (keras, tf.keras):
        if not hasattr(module.utils, "generic_utils"):
            module.utils.generic_utils = module.utils
    sys.modules.setdefault("keras.utils.generic_utils", keras.utils)
    return tf.keras


# Image networks of Keras 2

add = package("efficientnet", "efficientnet")
for letter, side in ("B0", 64), ("B1", 48), ("B3", 40), ("B5", 32):
    def build(letter=letter, side=side):
        old_names()
        make = attribute(f"efficientnet.tfkeras.EfficientNet{letter}")
        return make(weights=None, input_shape=(side, side, 3), classes=10)
    add(letter, build)

add = package("segmentation-models", "segmentation_models")
for kind, backbone, side in (
        ("Unet", "vgg16", 64), ("Unet", "resnet18", 64), ("Unet", "seresnet18", 64),
        ("Unet", "resnext50", 64), ("Unet", "seresnext50", 64), ("Unet", "mobilenetv2", 64),
        ("Unet", "efficientnetb0", 64), ("Unet", "densenet121", 64), ("FPN", "resnet18", 64),
        ("Unet", "inceptionv3", 96), ("FPN", "mobilenet", 64), ("FPN", "efficientnetb1", 64),
        ("Linknet", "resnet34", 64), ("Linknet", "vgg19", 64), ("Linknet", "mobilenetv2", 64),
        ("PSPNet", "resnet18", 96), ("PSPNet", "mobilenetv2", 96), ("PSPNet", "seresnet34", 48)):
    def build(kind=kind, backbone=backbone, side=side):
        old_names()
        make = attribute(f"segmentation_models.{kind}")
        return make(backbone, encoder_weights=None, input_shape=(side, side, 3), classes=3,
                    activation="softmax")
    add(f"{kind}-{backbone}", build)

add = package("image-classifiers", "classification_models")
for name in ("resnet18", "resnet34", "resnet50", "seresnet18", "seresnet50", "resnext50",
             "seresnext50", "senet154", "vgg16", "densenet121", "inceptionv3", "xception",
             "mobilenet", "mobilenetv2", "nasnetmobile", "inceptionresnetv2"):
    def build(name=name):
        old_names()
        make, _ = attribute("classification_models.tfkeras.Classifiers").get(name)
        side = {"inceptionv3": 80, "xception": 72, "inceptionresnetv2": 80, "nasnetmobile": 64,
                "senet154": 32}.get(name, 64)
        return make((side, side, 3), classes=10, weights=None)
    add(name, build)

add = package("keras-unet-collection", "keras_unet_collection")
COLLECTION = {
    "unet_2d": dict(filter_num=[8, 16, 32], batch_norm=True, pool="max", unpool=False),
    "unet_2d-bilinear": dict(filter_num=[8, 16, 32], activation="PReLU", pool="ave", unpool="bilinear"),
    "unet_2d-gelu": dict(filter_num=[8, 16, 32], activation="GELU", output_activation="Sigmoid",
                         pool=False, unpool="nearest"),
    "unet_2d-snake": dict(filter_num=[8, 16], activation="Snake", stack_num_down=1),
    "unet_2d-vgg16": dict(filter_num=[8, 16, 32], backbone="VGG16", weights=None),
    "unet_2d-resnet50": dict(filter_num=[8, 16, 32, 64], backbone="ResNet50", weights=None),
    "vnet_2d": dict(filter_num=[16, 32, 64], res_num_max=2, batch_norm=True, activation="PReLU", pool=False),
    "unet_plus_2d": dict(filter_num=[8, 16, 32], batch_norm=True, deep_supervision=True),
    "r2_unet_2d": dict(filter_num=[8, 16, 32], recur_num=2, batch_norm=True),
    "att_unet_2d": dict(filter_num=[8, 16, 32], attention="add", batch_norm=True, atten_activation="ReLU"),
    "att_unet_2d-multiply": dict(filter_num=[8, 16, 32], attention="multiply", activation="LeakyReLU"),
    "resunet_a_2d": dict(filter_num=[8, 16, 32], dilation_num=[[1, 3], [1, 3], [1]], aspp_num_down=16,
                         aspp_num_up=8, batch_norm=True),
    "u2net_2d": dict(filter_num_down=[8, 16, 32, 32], batch_norm=True),
    "unet_3plus_2d": dict(filter_num_down=[8, 16, 32], batch_norm=True, deep_supervision=True),
    "transunet_2d": dict(filter_num=[8, 16, 32, 32], embed_dim=24, num_mlp=32, num_heads=3,
                         num_transformer=2, batch_norm=True),
    "swin_unet_2d": dict(filter_num_begin=8, depth=2, stack_num_down=2, stack_num_up=2, patch_size=(2, 2),
                         num_heads=[2, 2], window_size=[4, 2], num_mlp=32, shift_window=True),
}
for name, settings in COLLECTION.items():
    def build(name=name, settings=settings):
        old_names()
        size = (32, 32, 3)
        make = attribute("keras_unet_collection.models." + name.split("-")[0])
        return make(size, n_labels=3, **settings)
    add(name, build)

add = package("keras-unet", "keras_unet")
for name, settings in (("custom_unet", dict(num_layers=3, filters=8)),
                       ("custom_unet-attention", dict(num_layers=3, filters=8, use_attention=True)),
                       ("vanilla_unet", dict(filters=4, num_layers=2)),
                       ("satellite_unet", {})):
    def build(name=name, settings=settings):
        old_names()
        size = (92, 92, 3) if name == "vanilla_unet" else (64, 64, 3)
        make = attribute("keras_unet.models." + name.split("-")[0])
        return make(input_shape=size, **settings)
    add(name, build)

add = package("keras-segmentation", "keras_segmentation")
for name in ("unet_mini", "unet", "segnet", "fcn_8", "fcn_32", "pspnet"):
    def build(name=name):
        old_names()
        side = 192 if name == "pspnet" else 64
        return attribute("keras_segmentation.models.all_models.model_from_name")[name](
            4, input_height=side, input_width=side)
    add(name, build)

add = package("keras-resnet", "keras_resnet")
for name in ("ResNet2D18", "ResNet2D50", "TimeDistributedResNet18", "FPN2D18"):
    def build(name=name):
        keras = old_names()
        size = (2, 32, 32, 3) if name.startswith("Time") else (64, 64, 3)
        settings = {} if name.startswith("FPN") else dict(classes=5)
        return functional(keras, attribute("keras_resnet.models." + name)(keras.Input(size), **settings))
    add(name, build)

add = package("keras-retinanet", "keras_retinanet")
for name in ("resnet50", "mobilenet128_1.0", "vgg16", "densenet121"):
    def build(name=name):
        keras = old_names()
        backbone = attribute("keras_retinanet.models.backbone")(name)
        image = keras.Input((64, 64, 3))
        return backbone.retinanet(3, inputs=image)
    add(name, build)


def boxes():
    keras = old_names()
    model = attribute("keras_retinanet.models.backbone")("resnet50").retinanet(3, inputs=keras.Input((64, 64, 3)))
    return attribute("keras_retinanet.models.retinanet.retinanet_bbox")(model, nms=False)


def anchors():
    keras = old_names()
    layers = keras.layers
    image = keras.Input((32, 48, 3))
    x = layers.Conv2D(8, 3, 8, padding="same", activation="relu")(image)
    module = "keras_retinanet.layers."
    places = attribute(module + "Anchors")(size=32, stride=8, name="anchors")(x)
    shifts = layers.Reshape((-1, 4))(layers.Conv2D(36, 3, padding="same")(x))
    found = attribute(module + "RegressBoxes")(name="boxes")([places, shifts])
    return keras.Model(image, attribute(module + "ClipBoxes")()([image, found]))


add("anchors and boxes", anchors)
add("resnet50 with detections", boxes)

add = package("vit-keras", "vit_keras")
for name, settings in (("small", {}), ("representation", dict(representation_size=24, activation="softmax")),
                       ("headless", dict(include_top=False))):
    def build(settings=settings):
        old_names()
        make = attribute("vit_keras.vit.build_model")
        return make(image_size=32, patch_size=8, num_layers=2, hidden_size=32, num_heads=4, name="vit",
                    mlp_dim=48, classes=5, **settings)
    add(name, build)

add = package("mlp-mixer-keras", "mlp_mixer_keras")
add("MlpMixerModel", lambda: attribute("mlp_mixer_keras.MlpMixerModel")(
    input_shape=(32, 32, 3), num_classes=5, num_blocks=2, patch_size=8, hidden_dim=16, tokens_mlp_dim=12,
    channels_mlp_dim=24))

add = package("keras-efficientnets", "keras_efficientnets")
for letter in ("B0", "B2"):
    def build(letter=letter):
        old_names()
        return attribute(f"keras_efficientnets.EfficientNet{letter}")((64, 64, 3), classes=10, weights=None)
    add(letter, build)

add = package("keras-wrn", "keras_wrn")
add("WRN-10-2", lambda: (old_names(), attribute("keras_wrn.build_model")((32, 32, 3), 10, 10, 2))[1])

add = package("keras-ocr", "keras_ocr")


def craft():
    keras = old_names()
    module = "keras_ocr.detection."
    image = keras.Input((64, 64, 3))
    layers = keras.layers
    s = attribute(module + "build_vgg_backbone")(image)
    x = layers.Conv2D(64, 3, padding="same", dilation_rate=6)(s[3])
    y = attribute(module + "UpsampleLike")()([x, s[1]])
    y = layers.Concatenate()([y, s[1]])
    return keras.Model(image, attribute(module + "upconv")(y, n=1, filters=16))


add("CRAFT's parts", craft)

# Sequences

add = package("keras-tcn", "tcn")
for name, settings in (
        ("causal", {}), ("sequence", dict(return_sequences=True)), ("same", dict(padding="same")),
        ("batch normalization", dict(use_batch_norm=True)), ("stacks", dict(nb_stacks=2)),
        ("layer normalization", dict(use_layer_norm=True, activation="elu")),
        ("no skips", dict(use_skip_connections=False, return_sequences=True))):
    def build(settings=settings):
        import keras
        layer = attribute("tcn.TCN")(nb_filters=8, kernel_size=3, dilations=(1, 2, 4), **settings)
        sequence = keras.Input((24, 5))
        return keras.Model(sequence, keras.layers.Dense(3)(layer(sequence)))
    add(name, build)

add = package("keras-self-attention", "keras_self_attention")
for name, settings in (("additive", {}), ("multiplicative", dict(attention_type="multiplicative")),
                       ("local", dict(attention_width=3, attention_activation="sigmoid")),
                       ("scaled", None)):
    def build(settings=settings):
        keras = old_names()
        tokens = keras.Input((12,))
        x = keras.layers.Embedding(30, 8)(tokens)
        x = keras.layers.LSTM(8, return_sequences=True)(x)
        if settings is None:
            x = attribute("keras_self_attention.ScaledDotProductAttention")()(x)
        else:
            kind = dict(attribute("keras_self_attention.SeqSelfAttention").__dict__)
            settings = dict(settings)
            if settings.get("attention_type"):
                settings["attention_type"] = kind["ATTENTION_TYPE_MUL"]
            x = attribute("keras_self_attention.SeqSelfAttention")(**settings)(x)
        return keras.Model(tokens, keras.layers.Dense(4)(x))
    add(name, build, 30)


def weighted():
    keras = old_names()
    sequence = keras.Input((12, 6))
    return keras.Model(sequence, attribute("keras_self_attention.SeqWeightedAttention")()(sequence))


add("weighted", weighted)

add = package("keras-multi-head", "keras_multi_head")
add("MultiHeadAttention", lambda: (lambda keras, x: keras.Model(x, attribute(
    "keras_multi_head.MultiHeadAttention")(head_num=2)(x)))(old_names(), old_names().Input((6, 8))))

add = package("keras-layer-normalization", "keras_layer_normalization")
add("LayerNormalization", lambda: (lambda keras, x: keras.Model(x, attribute(
    "keras_layer_normalization.LayerNormalization")()(x)))(old_names(), old_names().Input((6, 8))))

add = package("keras-position-wise-feed-forward", "keras_position_wise_feed_forward")
add("FeedForward", lambda: (lambda keras, x: keras.Model(x, attribute(
    "keras_position_wise_feed_forward.FeedForward")(units=12)(x)))(old_names(), old_names().Input((6, 8))))

add = package("keras-pos-embd", "keras_pos_embd")
for name, settings in (("trigonometric", dict(mode="add")), ("position", None)):
    def build(settings=settings):
        keras = old_names()
        x = keras.Input((6, 8))
        if settings is None:
            layer = attribute("keras_pos_embd.PositionEmbedding")(input_dim=10, output_dim=8, mode="add")
        else:
            layer = attribute("keras_pos_embd.TrigPosEmbedding")(output_dim=8, **settings)
        return keras.Model(x, layer(x))
    add(name, build)

add = package("keras-octave-conv", "keras_octave_conv")


def octave():
    keras = old_names()
    layer = attribute("keras_octave_conv.OctaveConv2D")
    image = keras.Input((16, 16, 3))
    high, low = layer(filters=8, kernel_size=3)(image)
    high, low = layer(filters=8, kernel_size=3)([high, low])
    return keras.Model(image, layer(filters=8, kernel_size=3, ratio_out=0.0)([high, low]))


add("OctaveConv2D", octave)

# keras-cv-attention-models, of either Keras

add = package("keras-cv-attention-models", "keras_cv_attention_models")
for name, side in (
        ("beit.ViTTinyPatch16", 64), ("botnet.BotNet26T", 64), ("caformer.CAFormerS18", 64),
        ("coatnet.CoAtNet0", 64), ("convnext.ConvNeXtTiny", 64), ("convnext.ConvNeXtV2Atto", 64),
        ("cotnet.CotNet50", 64), ("cmt.CMTTiny", 64), ("cspnext.CSPNeXtTiny", 64),
        ("davit.DaViT_T", 64), ("edgenext.EdgeNeXt_XX_Small", 64), ("efficientformer.EfficientFormerL1", 64),
        ("efficientnet.EfficientNetV1B0", 64), ("efficientnet.EfficientNetV2B0", 64),
        ("efficientvit.EfficientViT_B0", 64), ("efficientvit.EfficientViT_M0", 64),
        ("fasternet.FasterNetT0", 64), ("gcvit.GCViT_XXTiny", 64), ("ghostnet.GhostNet_050", 64),
        ("ghostnet.GhostNetV2_100", 64), ("hornet.HorNetTiny", 64), ("inceptionnext.InceptionNeXtTiny", 64),
        ("levit.LeViT128S", 64), ("maxvit.MaxViT_Tiny", 64), ("mlp_family.MLPMixerS16", 64),
        ("mlp_family.ResMLP12", 64), ("mlp_family.GMLPTiny16", 64), ("mobilenetv3_family.MobileNetV3Small050", 64),
        ("mobilenetv3_family.LCNet050", 64), ("mobilenetv3_family.TinyNetE", 64), ("mobilevit.MobileViT_XXS", 64),
        ("mobilevit.MobileViT_V2_050", 64), ("moganet.MogaNetXtiny", 64), ("nfnets.NFNetF0", 64),
        ("pvt.PVT_V2B0", 64), ("repvit.RepViT_M09", 64), ("resnest.ResNest50", 64),
        ("resnet_family.RegNetY040", 64), ("resnet_family.RegNetZB16", 64), ("resnet_family.ResNet50D", 64),
        ("resnet_family.ResNeXt50", 64), ("swin_transformer_v2.SwinTransformerV2Tiny_window8", 64),
        ("tinyvit.TinyViT_5M", 64), ("uniformer.UniformerSmall32", 64), ("vanillanet.VanillaNet5", 64),
        ("fastvit.FastViT_T8", 64), ("iformer.IFormerSmall", 64), ("halonet.HaloNet26T", 64),
        ("efficientdet.EfficientDetD0", 128), ("yolox.YOLOXNano", 128), ("yolov7.YOLOV7_Tiny", 128),
        ("yolov8.YOLOV8_N", 128), ("yolor.YOLOR_CSP", 64)):
    def build(name=name, side=side):
        make = attribute("keras_cv_attention_models." + name)
        heads = {} if any(part in name for part in ("yolo", "det.")) else dict(num_classes=10)
        if "yolo" in name or "det." in name:
            heads = dict(num_classes=4)
        return make(input_shape=(side, side, 3), pretrained=None, **heads)
    add(name, build)

# Keras 3

add = package("keras-vision", "keras_vision")
for name in ("MobileViT_v1", "MobileViT_v2"):
    def build(name=name):
        make = attribute(f"keras_vision.{name}.build_{name}")
        return make("XXS" if name.endswith("1") else "0.5", pretrained=False, num_classes=5,
                    input_shape=(64, 64, 3)) if name.endswith("1") else make(
            width_multiplier=0.5, pretrained=False, num_classes=5, input_shape=(64, 64, 3))
    add(name, build)

add = package("classification-models-3d", "classification_models_3D")
for name in ("resnet18", "seresnet18", "densenet121", "mobilenet", "efficientnetb0"):
    def build(name=name):
        make, _ = attribute("classification_models_3D.kkeras.Classifiers").get(name)
        return make(input_shape=(32, 32, 32, 1), classes=5, weights=None)
    add(name, build)

add = package("keras-hub", "keras_hub")
HUB = {
    "ResNetBackbone": dict(input_conv_filters=[64], input_conv_kernel_sizes=[7], stackwise_num_filters=[64, 64, 64],
                           stackwise_num_blocks=[2, 2, 2], stackwise_num_strides=[1, 2, 2],
                           block_type="basic_block"),
    "ResNetV2": dict(input_conv_filters=[64], input_conv_kernel_sizes=[7], stackwise_num_filters=[64, 64, 64],
                     stackwise_num_blocks=[2, 2, 2], stackwise_num_strides=[1, 2, 2],
                     block_type="bottleneck_block", use_pre_activation=True),
    "DenseNetBackbone": dict(stackwise_num_repeats=[2, 3, 2], growth_rate=8),
    "VGGBackbone": dict(stackwise_num_repeats=[1, 2, 2], stackwise_num_filters=[8, 16, 24]),
    "XceptionBackbone": dict(stackwise_conv_filters=[[8, 16], [16, 16]], stackwise_pooling=[True, False]),
    "ViTBackbone": dict(patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=24),
}
for name, settings in HUB.items():
    def build(name=name, settings=settings):
        import keras
        size = (32, 32, 3) if name == "ViTBackbone" else (64, 64, 3)
        make = attribute("keras_hub.models." + name.replace("ResNetV2", "ResNetBackbone"))
        return functional(keras, make(image_shape=size, **settings))
    add(name, build)
for name, settings in {
        "BertBackbone": dict(max_sequence_length=16), "RobertaBackbone": dict(max_sequence_length=16),
        "DistilBertBackbone": dict(max_sequence_length=16), "AlbertBackbone": dict(embedding_dim=8, max_sequence_length=16),
        "GPT2Backbone": dict(max_sequence_length=16), "FNetBackbone": dict(max_sequence_length=16)}.items():
    def build(name=name, settings=settings):
        import keras
        backbone = attribute("keras_hub.models." + name)(
            vocabulary_size=40, num_layers=2, hidden_dim=16, intermediate_dim=24,
            **({} if name == "FNetBackbone" else dict(num_heads=2)), **settings)
        inputs = {key: keras.Input((12,), dtype="int32", name=key) for key in backbone.input}
        flat = functional(keras, backbone)
        return keras.Model(list(inputs.values()), flat([inputs[tensor.name] for tensor in backbone.inputs]))
    add(name, build, {"token_ids": 40, "segment_ids": 2, "padding_mask": "ones"})
