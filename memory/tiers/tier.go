package tiers

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// A Tier is one of the manager's kinds of memory. Tiers differ in when their blocks are freed.
type Tier uint8

// The tiers, in the order of tables and overlays. [Tier.Info] describes each tier.
const (
	Static Tier   = iota // buffers with declared lifetimes, placed once per level
	Frame                // blocks of one frame
	Level                // blocks of one level
	Pools                // typed pools and component columns
	Slab                 // blocks up to Config.SlabMax, by default 4 KiB
	Large                // blocks above Config.SlabMax
	Inbox                // the heaps of worker goroutines
	Count  = iota        // the number of tiers
)

// table has a row for each tier. Everything in which tiers differ is in these rows, so that no other code
// has a case for each tier. A new tier is a constant above, a row here, and a file with its row and state.
var table = [Count]row{
	Static: staticRow, Frame: frameRow, Level: levelRow, Pools: poolsRow, Slab: slabRow, Large: largeRow, Inbox: inboxRow,
}

// A row is a tier in the table.
type row struct {
	Info
	state    func(*Manager) state  // the tier in a manager
	space    func(*Config) uintptr // address space in whole regions, of one worker with PerWorker; nil: Reserve
	least    func(*Config) uintptr // the smallest Reserve in whole regions; nil: one region
	most     uint64                // the largest Reserve, in whole regions; 0: 1 TiB
	hooksIn  phase                 // where OnReset accepts hooks; 0: anywhere
	tagRoute uint8                 // route of its regions with Config.Tags, Trace or SampleBytes; 0: the tier's number
	tagged   bool                  // its blocks count in the rows of EachTag
	ownSoft  bool                  // it calls OnSoft itself, not when its Limit commits
	recounts bool                  // its counters may go back
	shared   bool                  // others make allocators on its limit, each with a reservation of its own
}

// Info describes a tier. It does not depend on the configuration of a manager.
type Info struct {
	Name    string  // in tables, files and flags
	Text    string  // contents of the tier and the moment when they are freed, in one line
	Color   uint32  // 0xRRGGBB, for overlays
	Reserve uintptr // default address space in bytes; if PerWorker is true, that of each worker
	Freed   Moment  // when all blocks of the tier are freed; in Pools, only those of pools with a reset
	Hooks   Moment  // when hooks of Manager.OnReset run; if Never, OnReset refuses the tier

	// Planned is true if the bytes that the tier commits depend on a plan or the configuration, and not on its use.
	// Such a tier may have committed its whole budget without being short of memory.
	Planned bool
	// PerWorker is true if each worker has an equal share of the tier. SetBudget refuses such a tier.
	PerWorker bool
}

// A Moment is the event at which blocks of a tier are freed together, or Never.
type Moment uint8

// The moments at which all blocks of a tier are freed, or the hooks of a tier run.
const (
	Never    Moment = iota // none: blocks are freed one by one
	FrameEnd               // the frame expires, Config.Frames frames after it began
	LevelEnd               // the level ends, in Manager.EndLevel
)

var moments = [...]string{Never: "free", FrameEnd: "frame", LevelEnd: "level"}

// Info returns the description of a tier. For a number that is no tier the description has only a name.
func (t Tier) Info() Info {
	if t >= Count {
		return Info{Name: t.String()}
	}
	return table[t].Info
}

// String returns the name used in tables and files. For a number that is no tier it returns a text such as "tier(9)".
func (t Tier) String() string {
	if t < Count {
		return table[t].Name
	}
	return fmt.Sprintf("tier(%d)", uint8(t))
}

// ParseTier returns the tier with the given name, as [Tier.String] returns it. If no tier has this name, the error
// lists the names.
func ParseTier(name string) (Tier, error) {
	var names []string
	for t := range Tier(Count) {
		if table[t].Name == name {
			return t, nil
		}
		names = append(names, table[t].Name)
	}
	return 0, fmt.Errorf("tiers: unknown tier %.40q; allowed: %s", name, strings.Join(names, ", "))
}

// backwards yields all tiers, the last one first: the order in which tiers are built and hooks run.
func backwards(yield func(Tier) bool) {
	for t := Tier(Count); t > 0 && yield(t-1); t-- {
	}
}

// A state is a tier in one manager. It has everything that the manager does with a tier, except on the
// inlined paths of slab and large. Most states embed basic, and hookList or noHooks.
type state interface {
	// build makes the tier's allocator, in the tier's part and on its limit. The tiers that follow in the
	// table are built.
	build(m *Manager) error

	// free frees the block at p. It returns false if no live block starts there or, if the size is known,
	// none of that size. It panics with a *memory.Misuse if it knows more of what is wrong.
	free(m *Manager, op string, p unsafe.Pointer, size uintptr, known bool) (live bool)
	// resize resizes the block at p in place if it can. live is as for free.
	resize(m *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool)
	// sizeOf returns the size of the block at p. kept is false if the tier keeps no sizes.
	sizeOf(m *Manager, p unsafe.Pointer) (size uintptr, kept bool)
	stats(m *Manager) stats
	// use returns part k of these statistics, of those that have a tag or a name. ok is false behind the last one. Not a
	// function of the caller: it would be on the Go heap.
	use(m *Manager, k int) (u Use, ok bool)
	check(c *checker)

	// addHook registers a hook that runHooks calls, once, the newest first.
	addHook(f func())
	runHooks()

	// beginLevel lets the tier distinguish blocks of the level from older ones. It may be repeated.
	beginLevel()
	// leaks adds the blocks of the level that are live.
	leaks(m *Manager, l *Leak, byTag *[MaxTags + 1]Leak)
	// end runs what callbacks the end of the level has for the tier. If it fails, EndLevel may be repeated.
	end(m *Manager) error
	// reset frees the level's blocks, after the end of all tiers. It runs no callbacks.
	reset()

	// saveState visits what the tier consists of. managerState visits Inbox and Large itself.
	saveState(c *save.Coder)

	// close adds what the tier does at a stage of Close. It may be repeated.
	close(e *ending, s stage)
	// lose closes the tier after its memory has gone with the page source. It runs no callbacks.
	lose(m *Manager)
}

// basic is a state that keeps no sizes and does nothing when levels begin and end.
type basic struct{}

func (basic) sizeOf(*Manager, unsafe.Pointer) (uintptr, bool) { return 0, false }
func (basic) beginLevel()                                     {}
func (basic) leaks(*Manager, *Leak, *[MaxTags + 1]Leak)       {}
func (basic) end(*Manager) error                              { return nil }
func (basic) reset()                                          {}
func (basic) lose(*Manager)                                   {}

// noHooks are the hooks of a tier that OnReset refuses.
type noHooks struct{}

func (noHooks) addHook(func()) {}
func (noHooks) runHooks()      {}

// hookList has the hooks of a tier whose allocator keeps none, in the order of registration.
type hookList struct {
	hooks  []listedHook
	newest saved.HookID // of the hook that was registered last
}

type listedHook struct {
	run func()
	id  saved.HookID
}

func (l *hookList) addHook(f func()) {
	l.hooks = append(l.hooks, listedHook{f, l.newest.Next()})
}

// runHooks removes each hook before it runs. There is none left if a hook ends the page source.
func (l *hookList) runHooks() {
	for len(l.hooks) > 0 {
		n := len(l.hooks) - 1
		run := l.hooks[n].run
		l.hooks[n] = listedHook{}
		l.hooks = l.hooks[:n]
		run()
	}
}
