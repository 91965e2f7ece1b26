#include "CCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct JPEGReader {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  int scanLimit;
  char *message;
  // The first warning of the library.
  char warning[CODEC_MESSAGE_BYTES];
  jmp_buf failure;
};

static void fail(JPEGReader *reader, const char *text) {
  snprintf(reader->message, CODEC_MESSAGE_BYTES, "%s", text);
  longjmp(reader->failure, 1);
}

static void libraryFailed(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  fail(jpeg->client_data, text);
}

// The library reports only its first warning.
static void keepWarning(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  JPEGReader *reader = jpeg->client_data;
  jpeg->err->format_message(jpeg, text);
  snprintf(reader->warning, CODEC_MESSAGE_BYTES, "%s", text);
}

static void startSource(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean sourceEnded(j_decompress_ptr jpeg) {
  fail(jpeg->client_data, "the file ends too early");
  return FALSE;
}

static void skipSource(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  if ((size_t)count > jpeg->src->bytes_in_buffer) sourceEnded(jpeg);
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void checkScans(j_common_ptr common) {
  JPEGReader *reader = common->client_data;
  if (reader->scanLimit > 0 && reader->jpeg.input_scan_number > reader->scanLimit)
    fail(reader, "too many progressive scans");
}

JPEGReader *jpegReaderOpen(const uint8_t *bytes, size_t count, JPEGInfo *info,
                           char message[CODEC_MESSAGE_BYTES]) {
  JPEGReader *reader = calloc(1, sizeof *reader);
  snprintf(message, CODEC_MESSAGE_BYTES, "out of memory");
  if (!reader) return NULL;
  reader->message = message;
  reader->jpeg.err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = libraryFailed;
  reader->errors.output_message = keepWarning;
  reader->jpeg.client_data = reader;
  if (setjmp(reader->failure)) {
    jpegReaderClose(reader);
    return NULL;
  }
  jpeg_create_decompress(&reader->jpeg);
  reader->jpeg.client_data = reader;
  reader->source.init_source = startSource;
  reader->source.fill_input_buffer = sourceEnded;
  reader->source.skip_input_data = skipSource;
  reader->source.resync_to_restart = jpeg_resync_to_restart;
  reader->source.term_source = startSource;
  reader->source.next_input_byte = bytes;
  reader->source.bytes_in_buffer = count;
  reader->jpeg.src = &reader->source;
  reader->progress.progress_monitor = checkScans;
  reader->jpeg.progress = &reader->progress;
  jpeg_read_header(&reader->jpeg, TRUE);

  switch (reader->jpeg.num_components) {
    case 1: reader->jpeg.out_color_space = JCS_GRAYSCALE; break;
    case 3: reader->jpeg.out_color_space = JCS_RGB; break;
    case 4: reader->jpeg.out_color_space = JCS_CMYK; break;
    default: fail(reader, "the image must have 1, 3 or 4 components");
  }
  info->width = reader->jpeg.image_width;
  info->height = reader->jpeg.image_height;
  info->channels = reader->jpeg.num_components;
  info->isArithmetic = reader->jpeg.arith_code;
  return reader;
}

int jpegReaderRead(JPEGReader *reader, uint8_t *pixels, int scanLimit,
                   char message[CODEC_MESSAGE_BYTES]) {
  reader->message = message;
  reader->scanLimit = scanLimit;
  if (setjmp(reader->failure)) return -1;
  jpeg_start_decompress(&reader->jpeg);
  size_t rowBytes = (size_t)reader->jpeg.output_width * (size_t)reader->jpeg.output_components;
  while (reader->jpeg.output_scanline < reader->jpeg.output_height) {
    JSAMPROW row = pixels + reader->jpeg.output_scanline * rowBytes;
    jpeg_read_scanlines(&reader->jpeg, &row, 1);
  }
  jpeg_finish_decompress(&reader->jpeg);
  snprintf(message, CODEC_MESSAGE_BYTES, "%s", reader->warning);
  return reader->errors.num_warnings > 0;
}

void jpegReaderClose(JPEGReader *reader) {
  jpeg_destroy_decompress(&reader->jpeg);
  free(reader);
}
