//go:build memdebug && (unix || windows) && !race && !asan

package arena

// RestingFrames is how many frames the addresses of an expired one of [Frames] rest in this
// build, and how many buffers more its source needs room for: 8 frames are 130 ms at 60 Hz, and
// cost address space alone.
const RestingFrames = 8
