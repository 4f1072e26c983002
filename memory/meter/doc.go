// Package meter turns the books of a [tiers.Manager] into answers: what is large, what grows and whose
// it is, what is about to run out, what the worst frame did.
//
// # The idea
//
// A table of bytes makes one look for the answer. A meter looks: once a frame it takes a Snapshot and
// keeps the last ten seconds of it by the wall clock, so that a leak of 100 KiB a second is one at 5 frames
// a second and at 240. It knows no window and no GPU: an overlay, a server's log and a terminal show the
// same figures.
//
//	BeginFrame ── game ── meter.Frame ── EndFrame
//	                          |
//	    tiers.Snapshot ──> rows: tiers, Go heap, rest, tags; pools ──> Verdict
//	    clock          ──> Times; the worst Frame of each second ──> Worst, Keep
//	    Mark A, Mark B ──> Changes
//
// # What the words mean
//
//	growing   most of the half seconds of the window rise, the last ones too, without a fifth at either
//	          end: what is filled once does not grow, nor does what breathes; a level that begins or ends
//	          begins anew; the Go heap and the rest must grow by a 2048th a second, too
//	tight     three quarters of a budget are committed: the budget limits that, not what is in use
//	late      a frame that took more than one and a half of Config.Frame
//	beside    what grows beside the tiers while one of them does
//	churn     at most so many blocks died within two frames of their birth
//
// # Use it when, and when not
//
// Use it wherever there is a manager; it costs microseconds a frame. Where only the present figures are
// wanted [tiers.Manager.Snapshot] is enough.
//
// # Cost
//
// Frame takes a Snapshot and some nanoseconds a row, four times a second some microseconds more; nothing
// is allocated but for tags, pools, monitors and timers that are new. go test -bench . ./memory/meter prints it.
//
// # Goroutines and the collector
//
// A Meter belongs to the goroutine of its manager. It lies on the Go heap, some 2.2 KiB a row and 1.8 KiB a
// pool: see [Meter.Footprint].
package meter
