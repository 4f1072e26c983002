// Package meter turns the books of a [tiers.Manager] into answers: what is large, what grows and whose
// it is, what is about to run out, what the worst frame did.
//
// # The idea
//
// Meter computes the answers that a table of bytes leaves to the reader. Once a frame it takes a Snapshot. Curves,
// times and rates are of the last ten seconds and growth of up to seventeen minutes, by the wall clock: a leak of
// 100 KiB a second is one at 5 frames a second and at 240. It knows no window and no GPU: an overlay, a server's
// log and a terminal show the same figures.
//
//	BeginFrame ── game ── meter.Frame ── EndFrame
//	                          |
//	    tiers.Snapshot ──> rows: tiers, Go heap, rest, tags; pools ──> Verdict
//	    clock          ──> Times; the worst Frame of each second ──> Worst, Keep
//	    Mark A, Mark B ──> Changes
//
// # What the words mean
//
//	growing   the floor rises: the minima of the last windows lie on a rising line, above all that was in the
//	          windows before. Windows of 6 to 88 s are tried, so that one contains the floor of any
//	          cycle up to a minute; memory that is filled once, or allocated and freed in a cycle, does
//	          not grow. A new level, a sleep of ten seconds and Resume restart the history
//	          The Go heap is judged by its live size, which only a collection tells: see [Heap]
//	tight     three quarters of a budget are committed: the budget limits that, not what is in use
//	late      a frame that took more than one and a half of Config.Frame
//	beside    what grows beside the tiers while one of them does
//	churn     at most so many blocks died within two frames of their birth
//
// A steady leak is named after 20 to 45 s, under a cycle of half a minute after up to two minutes, and under one of a
// minute after up to four. The verdict ends 40 s after the leak, or a minute under a slow cycle. Some figures rise too
// slowly to be told from a leak: a cycle of minutes, until it has fallen once. go test -v -run Growth ./memory/meter
// prints how soon leaks are named, and how exactly.
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
// A Meter belongs to the goroutine of its manager. It starts no collection. It lies on the Go heap, some 4.6 KiB a row
// and 4.2 KiB a pool: see [Meter.Footprint].
package meter
