#include <metal_stdlib>
using namespace metal;

/// Resizes planes: the weighted sum of a few rows and columns.
/// 
/// `rows` and `columns` contain the source positions of each row and column and their weights;
/// `numbers` contains how many there are, at most four.
kernel void Resampling(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant float4 *rows [[buffer(0)]],
    constant float4 *columns [[buffer(1)]],
    constant uint *numbers [[buffer(2)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  float4 sum = float4(0.0f);
  for (uint i = 0; i < numbers[0]; i++) {
    float4 line = float4(0.0f);
    for (uint j = 0; j < numbers[0]; j++) {
      const uint2 place = uint2(columns[2 * gid.x][j], rows[2 * gid.y][i]);
      line = line + float4(input.read(place, gid.z)) * columns[2 * gid.x + 1][j];
    }
    sum = sum + line * rows[2 * gid.y + 1][i];
  }
  output.write(half4(sum), uint2(gid.xy), gid.z);
}
