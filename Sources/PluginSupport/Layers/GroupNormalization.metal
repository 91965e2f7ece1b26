#include <metal_stdlib>
using namespace metal;

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, over groups of channels; a group of threads
/// for each slice.
/// 
/// `numbers`: the channels of an image and of a group.
kernel void GroupNormalization(
    texture2d_array<half, access::read> input [[texture(0)]],
    texture2d_array<half, access::write> output [[texture(1)]],
    constant float4 *gamma [[buffer(0)]],
    constant uint3 &gammaSize [[buffer(1)]],
    constant float4 *beta [[buffer(2)]],
    constant uint3 &betaSize [[buffer(3)]],
    constant float4 *epsilon [[buffer(4)]],
    constant uint *numbers [[buffer(5)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread [[thread_index_in_threadgroup]],
    uint3 threads [[threads_per_threadgroup]]) {
  threadgroup float4 sums[256];
  const uint channels = numbers[0], length = numbers[1], slices = (channels + 3) / 4;
  const uint slice = group.z % slices, image = group.z - slice;
  // The slices of the groups that the four channels are in.
  const uint first = 4 * slice / length * length / 4;
  const uint end = min(((4 * slice + 3) / length * length + length + 3) / 4, slices);
  const uint columns = input.get_width(), area = columns * input.get_height();
  float4 mean = float4(0.0f), variance = float4(0.0f);
  for (uint pass = 0; pass < 2; pass++) {
    float4 sum = float4(0.0f);
    for (uint other = first; other < end; other++) {
      for (uint place = thread; place < area; place += threads.x) {
        const half4 x = input.read(uint2(place % columns, place / columns), image + other);
        for (uint lane = 0; lane < 4; lane++) {
          for (uint i = 0; i < 4; i++) {
            const uint channel = 4 * other + i;
            if (channel >= channels || channel / length != (4 * slice + lane) / length) continue;
            const float distance = float(x[i]) - mean[lane];
            sum[lane] += pass == 0 ? distance : distance * distance;
          }
        }
      }
    }
    sums[thread] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float4 total = float4(0.0f);
    for (uint i = 0; i < threads.x; i++) total = total + sums[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (pass == 0) mean = total / float4(length * area);
    else variance = total / float4(length * area);
  }
  const float4 scale = gamma[slice % gammaSize.z] / sqrt(variance + epsilon[0]);
  const float4 center = beta[slice % betaSize.z];
  for (uint place = thread; place < area; place += threads.x) {
    const uint2 at = uint2(place % columns, place / columns);
    output.write(half4((float4(input.read(at, group.z)) - mean) * scale + center), at, group.z);
  }
}
