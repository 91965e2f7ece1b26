/// `floats`, rounded up to an odd number of cache lines, so that multiples of the stride do not map
/// to the same few cache sets.
func spreadStride(_ floats: Int) -> Int { (floats + 15) / 16 / 2 * 32 + 16 }
