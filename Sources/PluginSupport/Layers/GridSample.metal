#include <metal_stdlib>
using namespace metal;

/// The position on an axis for a coordinate in -1...1.
static float place(float coordinate, float length, uint padding, bool alignsCorners) {
  const float place = alignsCorners ? (coordinate + 1.0f) / 2.0f * (length - 1.0f)
                                    : ((coordinate + 1.0f) * length - 1.0f) / 2.0f;
  if (padding == 0) return place;
  if (padding == 1) return place > 0.0f ? min(place, length - 1.0f) : 0.0f;
  const float low = alignsCorners ? 0.0f : -0.5f, span = alignsCorners ? length - 1.0f : length;
  const float distance = abs(place - low), turns = floor(distance / span);
  if (!(span > 0.0f && distance < INFINITY)) return 0.0f;
  const float rest = distance - turns * span, half_turns = floor(turns / 2.0f) * 2.0f;
  const float reflected = (turns == half_turns ? rest : span - rest) + low;
  return reflected > 0.0f ? min(reflected, length - 1.0f) : 0.0f;
}

/// An image sampled at the positions of a second input, x before y.
/// 
/// `numbers`: 1 for the nearest position, 0 for padding by zeros, 1 by the border and 2 by
/// reflection, 1 for aligned corners.
kernel void GridSample(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::read> input1 [[texture(1)]],
    texture2d_array<half, access::write> output [[texture(2)]],
    constant uint *numbers [[buffer(0)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  const uint image = gid.z / (output.get_array_size() / input1.get_array_size());
  const half4 position = input1.read(uint2(gid.xy), image);
  const int width = input.get_width(), height = input.get_height();
  float x = place(position[0], width, numbers[1], numbers[2]);
  float y = place(position[1], height, numbers[1], numbers[2]);
  if (numbers[0]) {
    x = rint(x);
    y = rint(y);
  }
  float4 sum = float4(0.0f);
  // Positions far outside, and NaN, have no neighbors.
  if (x > -1.0f && y > -1.0f && x < width && y < height) {
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 2; j++) {
        const int row = int(floor(y)) + i, column = int(floor(x)) + j;
        if (row < 0 || column < 0 || row >= height || column >= width) continue;
        const float weight = (1.0f - abs(y - row)) * (1.0f - abs(x - column));
        sum = sum + float4(input.read(uint2(column, row), gid.z)) * weight;
      }
    }
  }
  output.write(half4(sum), uint2(gid.xy), gid.z);
}
