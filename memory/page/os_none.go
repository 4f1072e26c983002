//go:build !unix && !windows

package page

// heapOnly: there is nothing to map here, js/wasm above all.
const heapOnly = true

// OS returns the heap backing: this platform has no address space to reserve.
func OS() Source { return Heap() }

// OSWith returns the heap backing; the options have no meaning on it.
func OSWith(Options) Source { return Heap() }
