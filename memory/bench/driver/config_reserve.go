//go:build slab || remote || cache || tlsf || manager || frame

package main

// reserve returns 0, which means the default of an allocator, unless the workload has so many live bytes that the
// default of 64 MiB could be too small.
func (n need) reserve() uintptr {
	if n.bytes <= 24<<20 {
		return 0
	}
	return (3*n.bytes + 64<<20) &^ (1<<20 - 1)
}
