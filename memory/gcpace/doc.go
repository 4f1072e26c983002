// Package gcpace paces Go's collector for a game: collections run between levels instead of during play.
//
// # The idea
//
// GOGC is a percentage of the live heap. A game whose data are off the Go heap has a small live heap, so a few MiB of
// garbage trigger collection after collection. A [Pacer] raises GOGC until the heap may grow by a headroom in bytes,
// and follows the live heap. At the end of a level it runs a collection that became due.
//
//	p, err := gcpace.New(gcpace.Config{})
//	for ... { p.BeginLevel(); play(); p.EndLevel() }
//	err = p.Close() // GOGC is as before
//
// A Pacer needs no manager. A tiers.Manager has a Pacer of its own; tiers.Config.GC configures it.
//
// # Layout
//
//	live at the last collection       headroom
//	|================================|---------------------------|
//	                                 BeginLevel                  a collection begins here at the earliest
//
//	one GOGC of the process <── largest of { what the program wants, headroom of pacer 1, of pacer 2, ... }
//
// # Use it when, and when not
//
// Use a Pacer in a game that makes little garbage in play. A server that wants a bounded heap uses
// debug.SetMemoryLimit. GOGC belongs to the program. A library that makes a tiers.Manager or a Pacer for its own use
// sets [Config.Keep], so that GOGC stays as it is.
//
// # Cost
//
//	operation    cost
//	BeginLevel   some microseconds, and the rest of a collection that is under way
//	EndLevel     the same, and a collection if one is due
//	Collect      a collection
//	Stats        about a microsecond; nothing is allocated
//
// A collection blocks its caller for about a millisecond for each MiB of live objects with pointers. There is no work
// per frame. go run ./memory/gcpace/internal/pacing measures what pacing costs and saves.
//
// # Goroutines and the collector
//
// A Pacer belongs to one goroutine. Different pacers may belong to different goroutines. The pacing applies to the
// whole process.
//
// While a pacer without [Config.Keep] is open, there are three ordinary causes of a collection. First, the Go heap has
// grown by [Config.Headroom], or by the amount that GOGC allows if this is more. Second, a level ends, and without the
// pacer a collection would have run by then. Third, the program calls Collect or runtime.GC. So only calls of the third
// kind add collections.
//
// A level that makes less garbage than the headroom has no collection, with three exceptions. A memory limit may
// require a collection. The runtime begins a collection if none ran for two minutes; [Config.Suspend] prevents this
// collection. A part of the headroom may be used up when the level begins: see [Config.Headroom]. With several pacers,
// a collection at the end of a level of one pacer may fall into a level of another pacer.
//
// # Source
//
// The Go runtime's pacer (runtime/mgcpacer.go) and "A Guide to the Go Garbage Collector" (go.dev/doc/gc-guide). The
// memory limit was the alternative to the percentage: near the limit the collector runs without end.
package gcpace
