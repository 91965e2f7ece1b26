import KernelInterface

/// The kernels of this module's instruction set: its only declaration visible outside the module.
package enum Table: KernelTable {
  @inline(__always)
  package static var channelBlock: Int {
    #if KERNELS_AVX512
      16
    #else
      8
    #endif
  }

  @inline(__always)
  package static var panelBlocks: Int { panelVectors / vectorsPerBlock }

  /// As many as fit in registers along with the weights of one step.
  @inline(__always)
  package static var pixelTile: Int {
    #if KERNELS_AVX512
      14
    #elseif arch(arm64) && UNROLLS_TILES
      12
    #elseif arch(arm64)
      // As many as the compiler unrolls without the manifest's flags.
      8
    #elseif KERNELS_AVX2
      6
    #else
      4
    #endif
  }

  /// As many as fit in registers along with their vectors of pixels and the weights of one step.
  @inline(__always)
  package static var planarOutputs: Int {
    #if KERNELS_AVX512 || arch(arm64)
      6
    #else
      3
    #endif
  }
}
