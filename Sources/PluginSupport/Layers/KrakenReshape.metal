#include <metal_stdlib>
using namespace metal;

/// Splits one axis in two, and merges one part with another axis.
/// 
/// `numbers`: the sizes of the five axes in the output's order, their steps in the input, the
/// shapes of input and output.
kernel void KrakenReshape(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant uint *numbers [[buffer(0)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  constant uint *steps = numbers + 5, *from = numbers + 10, *to = numbers + 14;
  const uint slices = (to[1] + 3) / 4;
  half4 value = half4(0.0f);
  for (uint lane = 0; lane < 4; lane++) {
    const uint channel = gid.z % slices * 4 + lane;
    if (channel >= to[1]) break;
    uint index = ((gid.z / slices * to[1] + channel) * to[2] + gid.y) * to[3] + gid.x;
    uint place = 0;
    for (uint axis = 5; axis-- > 0; index /= numbers[axis])
      place += index % numbers[axis] * steps[axis];
    const uint x = place % from[3], y = place / from[3] % from[2];
    const uint plane = place / from[3] / from[2], source = plane % from[1];
    const uint slice = plane / from[1] * ((from[1] + 3) / 4) + source / 4;
    value[lane] = input.read(uint2(x, y), slice)[source % 4];
  }
  output.write(value, uint2(gid.xy), gid.z);
}
