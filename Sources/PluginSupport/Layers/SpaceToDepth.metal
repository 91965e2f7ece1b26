#include <metal_stdlib>
using namespace metal;

/// Arranges blocks of positions as channels.
/// 
/// `numbers`: the size of a block, 1 for depth last, the channels of the input.
kernel void SpaceToDepth(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant uint *numbers [[buffer(0)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  const uint size = numbers[0], channels = numbers[2], area = size * size;
  const uint slices = (channels * area + 3) / 4, image = gid.z / slices;
  half4 value = half4(0.0f);
  for (uint lane = 0; lane < 4; lane++) {
    const uint depth = gid.z % slices * 4 + lane;
    if (depth >= channels * area) break;
    const uint channel = numbers[1] ? depth % channels : depth / area;
    const uint block = numbers[1] ? depth / channels : depth % area;
    const uint2 place = uint2(gid.x * size + block % size, gid.y * size + block / size);
    value[lane] = input.read(place, image * ((channels + 3) / 4) + channel / 4)[channel % 4];
  }
  output.write(value, uint2(gid.xy), gid.z);
}
