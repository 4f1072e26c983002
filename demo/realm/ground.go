package realm

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// A ground is what the blocks of a flow lie in, and how they go home.
type ground interface {
	game() memory.Allocator              // of what the game lends, on its goroutine
	home(p unsafe.Pointer, size uintptr) // sends that back, on the worker's
	flush() error                        // ends a job
	worker() memory.Allocator            // of what the worker makes, on its goroutine
	Free(p unsafe.Pointer, size uintptr) // gives that back, on the game's
	made(p unsafe.Pointer) bool          // whether it is that, for Check
	end()                                // the worker's last call
}

// inTiers lends of the manager's large tier and makes in the worker's heap.
type inTiers struct {
	m     *tiers.Manager
	w     *tiers.Worker
	freer *remote.Freer
}

func (t *inTiers) game() memory.Allocator              { return t.m.Large() }
func (t *inTiers) home(p unsafe.Pointer, size uintptr) { t.freer.Free(p, size) }
func (t *inTiers) flush() error                        { return t.freer.Flush() }
func (t *inTiers) worker() memory.Allocator            { return t.w }
func (t *inTiers) Free(p unsafe.Pointer, size uintptr) { t.m.Free(p, size) }

func (t *inTiers) made(p unsafe.Pointer) bool {
	in, ok := t.m.Inspect().TierOf(p)
	return ok && in == tiers.Inbox
}

func (t *inTiers) end() {
	_ = t.freer.Close() // flushed after each job
	t.w.Settle()
}

// anywhere has everything in one allocator, which any goroutine may use.
type anywhere struct{ mem memory.Allocator }

func (a anywhere) game() memory.Allocator              { return a.mem }
func (a anywhere) home(p unsafe.Pointer, size uintptr) { a.mem.Free(p, size) }
func (a anywhere) flush() error                        { return nil }
func (a anywhere) worker() memory.Allocator            { return a.mem }
func (a anywhere) Free(p unsafe.Pointer, size uintptr) { a.mem.Free(p, size) }
func (a anywhere) made(unsafe.Pointer) bool            { return true }
func (a anywhere) end()                                {}
