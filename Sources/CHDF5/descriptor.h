#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

// A file driver that reads from an open descriptor. The library's own ones open names, and a
// descriptor need not have one.

struct assay_source {
  int descriptor;
  // If it is set, it is called after each read with the bytes, and before each one of values (or of
  // a global heap) with NULL. If that call returns nonzero, nothing is read.
  int (*observe)(void *context, const unsigned char *bytes, uint64_t offset, size_t size);
  void *context;
};

struct assay_file {
  H5FD_t base;
  struct assay_source source;
  haddr_t end_of_addresses;
  haddr_t end_of_file;
};

static H5FD_t *assay_file_open(const char *name, unsigned flags, hid_t access, haddr_t limit) {
  (void)name;
  (void)limit;
  if (flags & (H5F_ACC_RDWR | H5F_ACC_CREAT | H5F_ACC_TRUNC)) return NULL;
  const struct assay_source *source = (const struct assay_source *)H5Pget_driver_info(access);
  off_t end = source ? lseek(source->descriptor, 0, SEEK_END) : -1;
  if (end < 0) return NULL;
  struct assay_file *file = (struct assay_file *)calloc(1, sizeof *file);
  if (!file) return NULL;
  file->source = *source;
  file->end_of_file = (haddr_t)end;
  return &file->base;
}

static herr_t assay_file_close(H5FD_t *file) {
  free(file);
  return 0;
}

static int assay_file_compare(const H5FD_t *a, const H5FD_t *b) {
  int x = ((const struct assay_file *)a)->source.descriptor;
  int y = ((const struct assay_file *)b)->source.descriptor;
  return (x > y) - (x < y);
}

static herr_t assay_file_query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  // Without an accumulator of metadata, which would merge the reads that are observed.
  if (flags) *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t assay_file_get_eoa(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const struct assay_file *)file)->end_of_addresses;
}

static herr_t assay_file_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t end) {
  (void)type;
  ((struct assay_file *)file)->end_of_addresses = end;
  return 0;
}

static haddr_t assay_file_get_eof(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const struct assay_file *)file)->end_of_file;
}

// What lies behind the end reads as zeros, as with the library's own drivers, but not for values.
static herr_t assay_file_read(
    H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t offset, size_t size, void *buffer) {
  struct assay_file *file = (struct assay_file *)base;
  (void)transfer;
  char *target = (char *)buffer;
  haddr_t position = offset;
  size_t rest = size;
  if (offset > (haddr_t)1 << 62 || size > (size_t)1 << 62) return -1;
  if (type == H5FD_MEM_DRAW) {
    if (offset + size > file->end_of_file) return -1;
    if (file->source.observe && file->source.observe(file->source.context, NULL, offset, size))
      return 0;
  }
  while (rest > 0) {
    ssize_t count =
        pread(file->source.descriptor, target, rest > 1 << 30 ? 1 << 30 : rest, (off_t)position);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) {
      memset(target, 0, rest);
      break;
    }
    target += count;
    position += (haddr_t)count;
    rest -= (size_t)count;
  }
  if (file->source.observe)
    file->source.observe(file->source.context, (const unsigned char *)buffer, offset, size);
  return 0;
}

static herr_t assay_file_write(
    H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t offset, size_t size,
    const void *buffer) {
  (void)file;
  (void)type;
  (void)transfer;
  (void)offset;
  (void)size;
  (void)buffer;
  return -1;
}

static const H5FD_class_t assay_file_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600,
#endif
    .name = "descriptor",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(struct assay_source),
    .open = assay_file_open,
    .close = assay_file_close,
    .cmp = assay_file_compare,
    .query = assay_file_query,
    .get_eoa = assay_file_get_eoa,
    .set_eoa = assay_file_set_eoa,
    .get_eof = assay_file_get_eof,
    .read = assay_file_read,
    .write = assay_file_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

// Opens the file behind a descriptor, which stays open, for reading. Negative where that fails.
static inline hid_t assay_open(struct assay_source source) {
  hid_t driver = H5FDregister(&assay_file_class);
  hid_t access = driver < 0 ? -1 : H5Pcreate(H5P_FILE_ACCESS);
  hid_t file = -1;
  if (access >= 0 && H5Pset_driver(access, driver, &source) >= 0)
    file = H5Fopen("/descriptor", H5F_ACC_RDONLY, access);
  if (access >= 0) H5Pclose(access);
  if (driver >= 0) H5FDunregister(driver);
  return file;
}
