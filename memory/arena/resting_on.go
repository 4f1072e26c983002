//go:build memdebug && (unix || windows) && !race && !asan

package arena

// RestingFrames is the number of frames for which the addresses of an expired frame of [Frames] stay unused in this
// build. [Frames] describes what an access does meanwhile. A ring reserves one additional buffer for each such frame. 8
// frames are 130 ms at 60 Hz, and cost address space only. In builds without -tags memdebug the number is 0.
const RestingFrames = 8
