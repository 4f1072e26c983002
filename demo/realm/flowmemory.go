package realm

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// flowMemory allocates and frees the blocks of a flow.
type flowMemory interface {
	game() memory.Allocator               // of the search buffers, on the game goroutine
	giveBack(p unsafe.Pointer, n uintptr) // frees a search buffer, on the worker's goroutine
	flush() error                         // ends a job
	worker() memory.Allocator             // of the tiles, on the worker's goroutine
	Free(p unsafe.Pointer, size uintptr)  // frees a tile, on the game goroutine
	made(p unsafe.Pointer) bool           // reports whether p is a tile, for Check
	end()                                 // the worker's last call
}

// inTiers allocates search buffers from the manager's large tier, and tiles from the worker's heap, both under a tag.
type inTiers struct {
	m     *tiers.Manager
	w     *tiers.Worker
	tag   *tiers.Tag
	tiles *tiers.WorkerTag
	freer *remote.Freer
}

func newInTiers(m *tiers.Manager, k int) (*inTiers, error) {
	tag, err := m.Tag("paths")
	if err != nil {
		return nil, err
	}
	w := m.Worker(k)
	return &inTiers{m: m, w: w, tag: tag, tiles: w.Tag(tag), freer: m.NewFreer()}, nil
}

func (t *inTiers) game() memory.Allocator               { return t.tag }
func (t *inTiers) giveBack(p unsafe.Pointer, n uintptr) { t.freer.Free(p, n) }
func (t *inTiers) flush() error                         { return t.freer.Flush() }
func (t *inTiers) worker() memory.Allocator             { return t.tiles }
func (t *inTiers) Free(p unsafe.Pointer, size uintptr)  { t.m.Free(p, size) }

func (t *inTiers) made(p unsafe.Pointer) bool {
	in, ok := t.m.Inspect().TierOf(p)
	return ok && in == tiers.Inbox
}

func (t *inTiers) end() {
	_ = t.freer.Close() // flushed after each job
	t.w.Settle()
}

// anywhere uses one allocator for everything. It must be safe for concurrent use.
type anywhere struct{ mem memory.Allocator }

func (a anywhere) game() memory.Allocator               { return a.mem }
func (a anywhere) giveBack(p unsafe.Pointer, n uintptr) { a.mem.Free(p, n) }
func (a anywhere) flush() error                         { return nil }
func (a anywhere) worker() memory.Allocator             { return a.mem }
func (a anywhere) Free(p unsafe.Pointer, size uintptr)  { a.mem.Free(p, size) }
func (a anywhere) made(unsafe.Pointer) bool             { return true }
func (a anywhere) end()                                 {}
