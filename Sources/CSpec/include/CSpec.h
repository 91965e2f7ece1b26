#ifndef CSPEC_H
#define CSPEC_H

#include <protobuf-c/protobuf-c.h>

/// The message `Model`. Every other message of the specification is reached from it.
const ProtobufCMessageDescriptor *spec_model_descriptor(void);

/// Caffe's message `NetParameter`.
const ProtobufCMessageDescriptor *caffe_network_descriptor(void);

/// ONNX's message `ModelProto`.
const ProtobufCMessageDescriptor *onnx_model_descriptor(void);

#endif
