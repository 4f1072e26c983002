//go:build !memdebug || !(unix || windows) || race || asan

package arena

// RestingFrames is the number of frames for which the addresses of an expired frame of [Frames] stay unused in this
// build. [Frames] describes what an access does meanwhile. The number is more than 0 only in builds with -tags memdebug
// on Unix and Windows, without -race and -asan.
const RestingFrames = 0
