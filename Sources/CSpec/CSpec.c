#include "CSpec.h"
#include "generated/Model.pb-c.h"
#include "generated/caffe.pb-c.h"
#include "generated/onnx.pb-c.h"

const ProtobufCMessageDescriptor *spec_model_descriptor(void) {
  return &spec__model__descriptor;
}

const ProtobufCMessageDescriptor *caffe_network_descriptor(void) {
  return &caffe__net_parameter__descriptor;
}

const ProtobufCMessageDescriptor *onnx_model_descriptor(void) {
  return &onnx__model_proto__descriptor;
}
