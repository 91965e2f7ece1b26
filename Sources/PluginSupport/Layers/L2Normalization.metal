#include <metal_stdlib>
using namespace metal;

/// The values at a position along an axis: 0 columns, 1 rows, 2 channels, 3 images. `outside`
/// replaces channels of a pixel beyond the last one.
static float4 values(
    texture2d_array<half, access::read> input, uint3 gid, constant uint *numbers, uint place,
    float outside) {
  const uint axis = numbers[0], channels = numbers[2], slices = (channels + 3) / 4;
  const uint slice = gid.z % slices;
  const uint x = axis == 0 ? place : gid.x, y = axis == 1 ? place : gid.y;
  const uint z = axis == 2 ? gid.z - slice + place : axis == 3 ? place * slices + slice : gid.z;
  float4 result = float4(input.read(uint2(x, y), z));
  for (uint lane = 0; axis == 2 && lane < 4; lane++)
    if (4 * place + lane >= channels) result[lane] = outside;
  return result;
}

/// gamma * x / sqrt(max(sum of squares, epsilon)) along an axis.
/// 
/// `numbers`: the axis, its length (of channels: in slices), the channels.
kernel void L2Normalization(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant float4 *gamma [[buffer(0)]],
    constant uint3 &gammaSize [[buffer(1)]],
    constant float4 *epsilon [[buffer(2)]],
    constant uint *numbers [[buffer(3)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  float4 sum = float4(0.0f);
  for (uint i = 0; i < numbers[1]; i++) {
    const float4 x = values(input, gid, numbers, i, 0.0f);
    sum = sum + x * x;
  }
  if (numbers[0] == 2) sum = float4(sum[0] + sum[1] + sum[2] + sum[3]);
  const uint slice = gid.z % gammaSize.z, row = gid.y % gammaSize.y, column = gid.x % gammaSize.x;
  const float4 scale = gamma[(slice * gammaSize.y + row) * gammaSize.x + column];
  const float4 x = float4(input.read(uint2(gid.xy), gid.z));
  output.write(half4(x / sqrt(max(sum, epsilon[0])) * scale), uint2(gid.xy), gid.z);
}
