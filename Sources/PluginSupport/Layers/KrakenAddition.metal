#include <metal_stdlib>
using namespace metal;

/// Sums the chunks of one axis.
/// 
/// `numbers`: the axis of images, channels, rows and columns, the length of a chunk, how many
/// chunks, the channels of input and output.
kernel void KrakenAddition(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant uint *numbers [[buffer(0)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  const uint chunk = numbers[1], channels = numbers[3], slices = (numbers[4] + 3) / 4;
  float4 sum = float4(0.0f);
  for (uint lane = 0; lane < 4; lane++) {
    uint place[4] = {gid.z / slices, gid.z % slices * 4 + lane, gid.y, gid.x};
    if (place[1] >= numbers[4]) break;
    for (uint part = 0; part < numbers[2]; part++) {
      const uint slice = place[0] * ((channels + 3) / 4) + place[1] / 4;
      sum[lane] += input.read(uint2(place[3], place[2]), slice)[place[1] % 4];
      place[numbers[0]] += chunk;
    }
  }
  output.write(half4(sum), uint2(gid.xy), gid.z);
}
