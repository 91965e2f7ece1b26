#include "CSpec.h"
#include "generated/Model.pb-c.h"

const ProtobufCMessageDescriptor *spec_model_descriptor(void) {
  return &spec__model__descriptor;
}
