// PNG and JPEG codecs over libpng and libjpeg, whose errors jump out of the library, which only C
// may catch: every function here catches them and returns. Also zlib, for PNG's compressed text.

#ifndef CCODECS_H
#define CCODECS_H

#include <stddef.h>
#include <stdint.h>

enum { CODEC_MESSAGE_BYTES = 256 };

// A reader refers to its input, which the caller must keep alive.
typedef struct PNGReader PNGReader;
typedef struct JPEGReader JPEGReader;

typedef struct {
  uint32_t width;
  uint32_t height;
  // Samples per pixel; a palette index counts as one.
  int channels;
  // Bits per sample in the file: 1, 2, 4, 8 or 16.
  int bitDepth;
  int isPalette;
  int paletteCount;
  uint8_t palette[256][3];
} PNGInfo;

typedef struct {
  uint32_t width;
  uint32_t height;
  // 1: gray; 3: red, green and blue; 4: cyan, magenta, yellow and black.
  int channels;
  // Whether the file uses arithmetic coding, which may take less than a bit per block.
  int isArithmetic;
} JPEGInfo;

// Parses the header, which states the image's size, without allocating memory of that size. Returns
// NULL with a message on failure.
PNGReader *pngReaderOpen(const uint8_t *bytes, size_t count, PNGInfo *info,
                         char message[CODEC_MESSAGE_BYTES]);
// Reads all rows, each rowBytes long: 16-bit samples in native byte order, all others in one byte
// each, unscaled. Returns 0; 1 with a message if data after the rows is missing or damaged, but no
// chunk there is truncated; or -1 with a message.
int pngReaderRead(PNGReader *reader, uint8_t *pixels, size_t rowBytes,
                  char message[CODEC_MESSAGE_BYTES]);
void pngReaderClose(PNGReader *reader);

// Encodes rows of 8-bit gray (1 channel) or RGB (3 channels). Returns 0 with malloc'ed output, or
// -1 with a message.
int pngEncode(const uint8_t *pixels, uint32_t width, uint32_t height, int channels,
              uint8_t **output, size_t *outputCount, char message[CODEC_MESSAGE_BYTES]);

JPEGReader *jpegReaderOpen(const uint8_t *bytes, size_t count, JPEGInfo *info,
                           char message[CODEC_MESSAGE_BYTES]);
// Reads all rows, each width * channels bytes long, and the end marker. More than scanLimit
// progressive scans are an error. Returns 0; 1 with the first warning if data is damaged; or -1
// with a message.
int jpegReaderRead(JPEGReader *reader, uint8_t *pixels, int scanLimit,
                   char message[CODEC_MESSAGE_BYTES]);
void jpegReaderClose(JPEGReader *reader);

// Expands a zlib stream until it ends, is damaged or fills the target; returns the bytes written.
size_t zlibExpand(const uint8_t *bytes, size_t count, uint8_t *target, size_t capacity);

#endif
