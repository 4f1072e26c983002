//go:build !memdebug || !(unix || windows) || race || asan

package arena

// restingFrames: nothing rests. Over the Go's heap, which -race and the browser need, a
// reservation is memory at once and nothing can fault.
const restingFrames = 0
