// Package meter turns the statistics of a [tiers.Manager] into answers. It reports which tier is largest, which tier
// and tag grow, which budget is almost exhausted, and what happened in the worst frame.
//
// # The idea
//
// Meter computes the answers that a table of bytes leaves to the reader. Meter takes a Snapshot in each frame. By
// default curves and [Meter.Times] cover the last ten seconds, the rates of a row the last second. Growth is judged
// over up to seventeen minutes. Meter measures time by the wall clock, so it finds a leak of 100 KiB a second at 5 and
// at 240 frames a second. The package does not depend on a window or a GPU: an overlay, a server's log and a terminal
// show the same figures.
//
//	BeginFrame ── game ── meter.Frame ── EndFrame
//	                          |
//	    tiers.Snapshot ──> rows: tiers, Go heap, rest, tags; pools ──> Verdict
//	    clock          ──> Times; the worst Frame of each second ──> Worst, Keep
//	    Mark A, Mark B ──> Changes
//
// # What the words mean
//
//	growing   the floor rises: the minima of the last windows lie on a rising line, above the minima of all
//	          earlier windows. Windows of 6 to 88 s are tried, so that one contains the floor of any cycle
//	          up to a minute. Memory that is filled once, or allocated and freed in a cycle, does not grow.
//	          A level that begins or ends, a frame longer than ten seconds and Resume restart the history
//	          of tiers, tags and pools. So none of these grows in levels of up to 40 s, of which EndLevel
//	          reports the leaks. The Go heap is judged by its live size, see [Heap]
//	tight     three quarters of a budget are committed: a budget limits committed bytes, not those in use
//	late      a frame took more than one and a half times Config.Frame
//	beside    the Go heap or the rest of the process grows while a tier grows, too
//	churn     upper bound of the blocks that were freed within two frames of their allocation
//
// A steady leak is reported after 20 to 45 s. If memory use also varies in a cycle of half a minute, the report takes
// up to two minutes. With a cycle of a minute it takes up to four and a half minutes. A longer cycle can hide a slow
// leak. With less than a frame a second the report takes longer. The report ends 40 s after the leak, or a minute
// after the leak if the cycle is slow. A cycle of up to three and a half minutes is reported as a leak until it has
// fallen once. A longer cycle is reported in each rise that lasts minutes. STRATA_TEST=full go test -v -run Growth
// ./memory/meter prints how soon leaks are reported, and how exactly.
//
// # go tool pprof
//
// [WriteProfile] writes what a manager has in use, by tier, tag, pool and allocating function, as a profile:
//
//	m, err := tiers.New(tiers.Config{Tags: true, SampleBytes: 64 << 10})
//	…
//	err = meter.WriteProfile(file, m)      // go tool pprof -http :8080 file
//
// # Use it when, and when not
//
// Use a Meter with every manager; it costs microseconds a frame. If only the present figures matter,
// [tiers.Manager.Snapshot] is enough.
//
// # Cost
//
// Frame takes a Snapshot and some nanoseconds a row, and four times a second some microseconds more. Frame allocates
// only for new tags and pools. go test -bench . ./memory/meter prints the times.
//
// # Goroutines and the collector
//
// A Meter belongs to the goroutine of its manager. A Meter starts no collection. It takes 4.6 to 9 KiB of the Go
// heap for each row and 4.2 to 8.4 KiB for each pool: see [Meter.Footprint].
package meter
