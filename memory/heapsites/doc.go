// Package heapsites reports which functions allocate on the Go heap.
//
// # The idea
//
// The runtime samples allocations, one for each runtime.MemProfileRate bytes, with their call stacks. A [Profile] adds
// the samples up by function. A site is a stack's innermost function outside the standard library: a strings.Builder
// that grows counts for the function that uses it.
//
//	var p heapsites.Profile
//	if p.Read() {
//		for _, s := range p.Sites[:min(len(p.Sites), 5)] { fmt.Println(s.Package, s.Function, s.Live, s.Rate) }
//	}
//
// # How old it is
//
// An object is counted as live until a collection has freed it. So that live and freed objects are of the same moment,
// the runtime publishes its samples up to two collections late. [Profile.AsOf] is the end of the collection before the
// last one. All allocations before AsOf are counted. Later ones may be counted, for example after a call of runtime.GC.
// Two collections make the profile current.
//
// # Use it when, and when not
//
// Use it in an instrument that runs all the time. For one question at one moment use the heap profile of
// runtime/pprof, which has whole stacks. Package tiers attributes memory off the Go heap with tags, exactly.
//
// # Cost
//
// A Read without a new collection takes about two microseconds. After a collection it copies the runtime's samples: about
// 0.1 ms for 1,000 stacks, and some objects of the Go heap for each stack that is new. No method stops the world. The
// sampling itself is on in every Go program that links this package.
//
// # Source
//
// runtime.MemProfile (runtime/mprof.go). The samples are scaled as in the pprof tool: a block of n bytes is sampled with
// probability 1-exp(-n/rate).
package heapsites
