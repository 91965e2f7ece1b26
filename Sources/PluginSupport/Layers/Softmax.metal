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

/// exp(x - max) / sum of exp(x - max) along an axis.
/// 
/// `numbers`: the axis, its length (of channels: in slices), the channels.
kernel void Softmax(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant uint *numbers [[buffer(0)]],
    uint3 gid [[thread_position_in_grid]]) {
  if (gid.x >= output.get_width() || gid.y >= output.get_height()) return;
  float4 peak = float4(-INFINITY), sum = float4(0.0f);
  for (uint i = 0; i < numbers[1]; i++) peak = max(peak, values(input, gid, numbers, i, -INFINITY));
  if (numbers[0] == 2) peak = float4(max(max(peak[0], peak[1]), max(peak[2], peak[3])));
  for (uint i = 0; i < numbers[1]; i++)
    sum = sum + exp(values(input, gid, numbers, i, -INFINITY) - peak);
  if (numbers[0] == 2) sum = float4(sum[0] + sum[1] + sum[2] + sum[3]);
  const float4 x = float4(input.read(uint2(gid.xy), gid.z));
  output.write(half4(exp(x - peak) / sum), uint2(gid.xy), gid.z);
}
