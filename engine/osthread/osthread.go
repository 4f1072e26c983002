// Package osthread measures the calling thread and binds it to a processor, for measurements on a machine that other
// programs use as well. The goroutine must be locked to the thread, see [runtime.LockOSThread].
package osthread

import "time"

// CPU returns the processor time that the calling thread has used, and whether the system tells it. Time of other
// threads is not counted, as that of the collector, and neither is time that the thread waits for a processor.
func CPU() (used time.Duration, ok bool) { return cpu() }

// Bind binds the calling thread to the last processor that it may use, and reports whether the system has done so.
// Threads that the runtime starts later are not bound.
func Bind() bool { return bind() }
