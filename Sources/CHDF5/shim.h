#include <hdf5.h>
#include <stdint.h>
#include <string.h>

#include "descriptor.h"

// What Swift cannot use of libhdf5's header: macros, and names that differ between its versions.

static inline hid_t assay_type_float32(void) { return H5T_IEEE_F32LE; }
static inline hid_t assay_native_float(void) { return H5T_NATIVE_FLOAT; }

typedef int (*assay_link_visitor)(const char *name, int type, void *context);

struct assay_link_visit {
  assay_link_visitor visitor;
  void *context;
};

static herr_t assay_visit_link(
    hid_t group, const char *name, const H5L_info_t *info, void *visit) {
  struct assay_link_visit *v = (struct assay_link_visit *)visit;
  (void)group;
  return v->visitor(name, (int)info->type, v->context);
}

// Every link of a group in the order of the names' bytes.
static inline int assay_visit_links(hid_t group, assay_link_visitor visitor, void *context) {
  struct assay_link_visit visit = {visitor, context};
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, assay_visit_link, &visit);
}

// The type of a link (0 hard, 1 soft, 64 external), or -1.
static inline int assay_link_type(hid_t group, const char *name) {
  H5L_info_t info;
  return H5Lget_info(group, name, &info, H5P_DEFAULT) < 0 ? -1 : (int)info.type;
}

// Kind (0 group, 1 dataset, 2 named type) and place of an open object, or -1.
static inline int assay_object(hid_t object, uint64_t place[2]) {
  place[0] = place[1] = 0;
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) return -1;
  memcpy(place, &info.token, 16);
#else
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return -1;
  place[0] = info.addr;
#endif
  return (int)info.type;
}

// Reads a chunk as it is stored. `mask` says which of its filters were not applied.
static inline herr_t assay_read_chunk(
    hid_t dataset, const hsize_t *offset, uint32_t *mask, void *buffer) {
#if H5_VERSION_GE(2, 0, 0)
  return H5Dread_chunk1(dataset, H5P_DEFAULT, offset, mask, buffer);
#else
  return H5Dread_chunk(dataset, H5P_DEFAULT, offset, mask, buffer);
#endif
}

// Frees the strings of variable length that a read has left in `buffer`.
static inline void assay_reclaim(hid_t type, hid_t space, void *buffer) {
#if H5_VERSION_GE(1, 12, 0)
  H5Treclaim(type, space, H5P_DEFAULT, buffer);
#else
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer);
#endif
}
