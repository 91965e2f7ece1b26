/// At least `floats`, as whole cache lines and an odd number of them: what is at multiples of such
/// a stride does not fall on the same few sets of a cache.
func spreadStride(_ floats: Int) -> Int { (floats + 15) / 16 / 2 * 32 + 16 }
