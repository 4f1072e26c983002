//go:build !memdebug || !(unix || windows) || race || asan

package arena

// RestingFrames is the number of frames for which the addresses of an expired frame stay unused, so that an access
// faults (see [Frames]). It is 8 in builds with -tags memdebug on Unix and Windows, without -race and -asan. In all
// other builds it is 0.
const RestingFrames = 0
