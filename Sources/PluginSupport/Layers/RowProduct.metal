#include <metal_stdlib>
using namespace metal;

/// The product of a row and a matrix, for each channel.
kernel void RowProduct(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::read> input1 [[texture(1)]],
    texture2d_array<half, access::write> output [[texture(2)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  float4 sum = float4(0.0f);
  for (uint i = 0; i < input.get_width(); i++) {
    const float4 factor = float4(input.read(uint2(i, 0), gid.z));
    sum = sum + factor * float4(input1.read(uint2(gid.x, i), gid.z));
  }
  output.write(half4(sum), uint2(gid.xy), gid.z);
}
