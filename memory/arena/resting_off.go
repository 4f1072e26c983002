//go:build !memdebug || !(unix || windows) || race || asan

package arena

// RestingFrames is the number of frames for which the addresses of an expired frame of [Frames] stay unused in this
// build. It is more than 0 only in builds with -tags memdebug on Unix and Windows, without -race and -asan. On the Go
// heap, as under -race and in the browser, a reservation is memory at once, and no access can fault.
const RestingFrames = 0
