//go:build (unix || windows) && !race && !asan

package page

const heapOnly = false
