#include "CCodecs.h"

#include <zlib.h>

size_t zlibExpand(const uint8_t *bytes, size_t count, uint8_t *target, size_t capacity) {
  z_stream stream = {0};
  if (!bytes || count > 1u << 30 || capacity > 1u << 30 || inflateInit(&stream) != Z_OK) return 0;
  stream.next_in = (uint8_t *)bytes;
  stream.avail_in = (uInt)count;
  stream.next_out = target;
  stream.avail_out = (uInt)capacity;
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return capacity - stream.avail_out;
}
