#include <metal_stdlib>
using namespace metal;

/// Arranges the channels of each position as a block of positions.
/// 
/// `numbers`: the size of a block, 1 for depth last, the channels of the output.
kernel void DepthToSpace(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant uint *numbers [[buffer(0)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  const uint size = numbers[0], channels = numbers[2], area = size * size;
  const uint slices = (channels + 3) / 4, image = gid.z / slices;
  const uint block = gid.y % size * size + gid.x % size;
  half4 value = half4(0.0f);
  for (uint lane = 0; lane < 4; lane++) {
    const uint channel = gid.z % slices * 4 + lane;
    if (channel >= channels) break;
    const uint depth = numbers[1] ? block * channels + channel : channel * area + block;
    value[lane] = input.read(
        uint2(gid.x / size, gid.y / size), image * ((channels * area + 3) / 4) + depth / 4)[depth % 4];
  }
  output.write(value, uint2(gid.xy), gid.z);
}
