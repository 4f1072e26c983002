//go:build memdebug && (unix || windows) && !race && !asan

package arena

// restingFrames is how many frames the addresses of an expired one rest: 8 frames are 130 ms
// at 60 Hz, and cost address space alone.
const restingFrames = 8
