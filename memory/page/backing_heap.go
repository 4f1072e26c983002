//go:build (unix || windows) && (race || asan)

package page

// heapOnly: the sanitizers check Go's own memory only.
const heapOnly = true
