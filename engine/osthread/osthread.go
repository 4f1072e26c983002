// Package osthread measures the processor time of the calling thread and binds the thread to a processor. It is for
// measurements on a machine that other programs use as well, and works on Linux only. The calling goroutine must be
// locked to its thread, see [runtime.LockOSThread].
package osthread

import "time"

// CPU returns the processor time that the calling thread has used. If the system does not report it, ok is false. The
// time does not include waiting for a processor, nor the time of other threads, such as those of the collector.
func CPU() (used time.Duration, ok bool) { return cpu() }

// Bind binds the calling thread to the processor with the highest number of those that it may use. It reports whether
// the system has done so. The calling goroutine must be locked to its thread. The thread stays bound, also after
// runtime.UnlockOSThread, and threads that it starts later are then bound, too. Go starts no thread from a locked
// thread.
func Bind() bool { return bind() }
