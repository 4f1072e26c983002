//go:build !unix && !windows

package page

// maxHeap is a quarter of the addresses of a wasm module, which cannot be asked whether its memory can grow.
const maxHeap uint64 = 1 << 30

func probe(uintptr) error { return nil }

// heapOnly: this platform, mostly js/wasm, has no mappings.
const heapOnly = true

// OS returns [Heap] on this platform, which cannot reserve address space.
func OS() Source { return Heap() }

// OSWith returns [Heap] on this platform, which cannot reserve address space. The options have no effect.
func OSWith(Options) Source { return Heap() }
