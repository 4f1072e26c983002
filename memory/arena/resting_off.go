//go:build !memdebug || !(unix || windows) || race || asan

package arena

// RestingFrames is how many frames the addresses of an expired one of [Frames] rest in this
// build, and how many buffers more its source needs room for: none. Over the Go heap, which
// -race and the browser need, a reservation is memory at once and nothing can fault.
const RestingFrames = 0
