#include <metal_stdlib>
using namespace metal;

/// Removes two rows and columns at each border of the input.
kernel void ResCropBlockLambda(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  output.write(input.read(uint2(gid.x + 2, gid.y + 2), gid.z), uint2(gid.xy), gid.z);
}
