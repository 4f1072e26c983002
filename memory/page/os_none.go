//go:build !unix && !windows

package page

// maxHeap is a quarter of what a wasm module can address: its memory cannot be asked whether
// it would grow.
const maxHeap uint64 = 1 << 30

func probe(uintptr) error { return nil }

// heapOnly: there is nothing to map here, js/wasm above all.
const heapOnly = true

// OS returns the heap backing: this platform has no address space to reserve.
func OS() Source { return Heap() }

// OSWith returns the heap backing; the options have no meaning on it.
func OSWith(Options) Source { return Heap() }
