#include "CCodecs.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct PNGReader {
  png_structp png;
  png_infop info;
  const uint8_t *bytes;
  size_t count;
  size_t position;
  uint32_t height;
  char *message;
  jmp_buf failure;
};

static void readerFailed(png_structp png, png_const_charp text) {
  PNGReader *reader = png_get_error_ptr(png);
  snprintf(reader->message, CODEC_MESSAGE_BYTES, "%s", text);
  longjmp(reader->failure, 1);
}

static void ignoreWarning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void readBytes(png_structp png, png_bytep target, size_t count) {
  PNGReader *reader = png_get_io_ptr(png);
  if (count > reader->count - reader->position) png_error(png, "the file ends too early");
  memcpy(target, reader->bytes + reader->position, count);
  reader->position += count;
}

PNGReader *pngReaderOpen(const uint8_t *bytes, size_t count, PNGInfo *info,
                         char message[CODEC_MESSAGE_BYTES]) {
  PNGReader *reader = calloc(1, sizeof *reader);
  snprintf(message, CODEC_MESSAGE_BYTES, "out of memory");
  if (!reader) return NULL;
  reader->bytes = bytes;
  reader->count = count;
  reader->message = message;
  reader->png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, readerFailed, ignoreWarning);
  if (reader->png) reader->info = png_create_info_struct(reader->png);
  if (!reader->info || setjmp(reader->failure)) {
    pngReaderClose(reader);
    return NULL;
  }
  png_structp png = reader->png;
  png_set_read_fn(png, reader, readBytes);
  png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_chunk_malloc_max(png, 8 << 20);
  png_set_chunk_cache_max(png, 64);
  png_set_crc_action(png, PNG_CRC_DEFAULT, PNG_CRC_ERROR_QUIT);
  // Skip text, color profiles and the like without even unpacking them.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_read_info(png, reader->info);

  memset(info, 0, sizeof *info);
  info->width = png_get_image_width(png, reader->info);
  info->height = png_get_image_height(png, reader->info);
  info->channels = png_get_channels(png, reader->info);
  info->bitDepth = png_get_bit_depth(png, reader->info);
  info->isPalette = png_get_color_type(png, reader->info) == PNG_COLOR_TYPE_PALETTE;
  png_colorp palette;
  int paletteCount;
  if (info->isPalette && png_get_PLTE(png, reader->info, &palette, &paletteCount)) {
    for (int index = 0; index < paletteCount && index < 256; index++) {
      info->palette[index][0] = palette[index].red;
      info->palette[index][1] = palette[index].green;
      info->palette[index][2] = palette[index].blue;
    }
    info->paletteCount = paletteCount;
  }
  reader->height = info->height;
  return reader;
}

// Whether all rows have been read, so that any failure is after them.
static int isComplete(PNGReader *reader) {
  if (png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE)
    return png_get_current_pass_number(reader->png) >= 7;
  return png_get_current_row_number(reader->png) >= reader->height;
}

static uint32_t bigEndian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Whether the file is truncated inside a chunk that follows the pixels.
static int breaksOff(const PNGReader *reader) {
  size_t position = 8;
  int pixels = 0;
  while (reader->count - position >= 8) {
    const uint8_t *header = reader->bytes + position;
    size_t length = bigEndian(header);
    int isPixels = memcmp(header + 4, "IDAT", 4) == 0;
    if (memcmp(header + 4, "IEND", 4) == 0) return 0;
    for (int letter = 4; letter < 8; letter++)
      if (!(header[letter] >= '0' && header[letter] <= '9') && header[letter] != '_' &&
          !((header[letter] | 32) >= 'a' && (header[letter] | 32) <= 'z'))
        return 0;
    size_t rest = reader->count - position - 8;
    if (length > rest) return pixels && !isPixels;
    if (rest - length < 4) return 0;
    pixels |= isPixels;
    position += 12 + length;
  }
  return 0;
}

int pngReaderRead(PNGReader *reader, uint8_t *pixels, size_t rowBytes,
                  char message[CODEC_MESSAGE_BYTES]) {
  reader->message = message;
  if (setjmp(reader->failure)) return isComplete(reader) && !breaksOff(reader) ? 1 : -1;
  png_structp png = reader->png;
  png_set_packing(png);
  union {
    uint16_t word;
    uint8_t bytes[2];
  } order = {1};
  if (order.bytes[0] && png_get_bit_depth(png, reader->info) == 16) png_set_swap(png);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader->info);
  if (rowBytes != png_get_rowbytes(png, reader->info)) png_error(png, "unexpected row size");
  for (int pass = 0; pass < passes; pass++)
    for (uint32_t row = 0; row < reader->height; row++)
      png_read_row(png, pixels + row * rowBytes, NULL);
  png_read_end(png, NULL);
  return 0;
}

void pngReaderClose(PNGReader *reader) {
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader);
}

typedef struct {
  uint8_t *bytes;
  size_t count;
  size_t capacity;
  char *message;
  jmp_buf failure;
} PNGOutput;

static void writerFailed(png_structp png, png_const_charp text) {
  PNGOutput *output = png_get_error_ptr(png);
  snprintf(output->message, CODEC_MESSAGE_BYTES, "%s", text);
  longjmp(output->failure, 1);
}

static void writeBytes(png_structp png, png_bytep source, size_t count) {
  PNGOutput *output = png_get_io_ptr(png);
  if (count > output->capacity - output->count) {
    size_t capacity = 2 * (output->count + count) + 4096;
    uint8_t *larger = realloc(output->bytes, capacity);
    if (!larger) png_error(png, "out of memory");
    output->bytes = larger;
    output->capacity = capacity;
  }
  memcpy(output->bytes + output->count, source, count);
  output->count += count;
}

static void flushNothing(png_structp png) { (void)png; }

int pngEncode(const uint8_t *pixels, uint32_t width, uint32_t height, int channels,
              uint8_t **result, size_t *resultCount, char message[CODEC_MESSAGE_BYTES]) {
  snprintf(message, CODEC_MESSAGE_BYTES, "out of memory");
  PNGOutput *output = calloc(1, sizeof *output);
  if (!output) return -1;
  output->message = message;
  png_infop info = NULL;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, output, writerFailed, ignoreWarning);
  if (png) info = png_create_info_struct(png);
  if (!info || setjmp(output->failure)) {
    png_destroy_write_struct(&png, &info);
    free(output->bytes);
    free(output);
    return -1;
  }
  png_set_write_fn(png, output, writeBytes, flushNothing);
  png_set_IHDR(png, info, width, height, 8, channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (uint32_t row = 0; row < height; row++)
    png_write_row(png, pixels + (size_t)row * width * (size_t)channels);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  *result = output->bytes;
  *resultCount = output->count;
  free(output);
  return 0;
}
