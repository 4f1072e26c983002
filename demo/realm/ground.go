package realm

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// A ground is what the blocks of a flow lie in: books are lent by the game and given back by the worker,
// fields are made by the worker and dropped by the game.
type ground interface {
	lend() (unsafe.Pointer, error)
	giveBack(books unsafe.Pointer) error
	make() (unsafe.Pointer, error)
	drop(field unsafe.Pointer)
	made(field unsafe.Pointer) bool // for Check
	end()                           // the worker's last call
}

// inTiers has the books in the manager's large tier and the fields in the worker's heap.
type inTiers struct {
	m    *tiers.Manager
	w    *tiers.Worker
	home *remote.Freer
}

func (t *inTiers) lend() (unsafe.Pointer, error) {
	return t.m.Large().Alloc(booksBytes, unsafe.Alignof(entry{}))
}

func (t *inTiers) giveBack(p unsafe.Pointer) error {
	t.home.FreeSized(p, booksBytes)
	return t.home.Flush()
}

func (t *inTiers) make() (unsafe.Pointer, error) {
	return t.w.Alloc(fieldBytes, unsafe.Alignof(Field{}))
}

func (t *inTiers) drop(p unsafe.Pointer) { t.m.Free(p, fieldBytes) }

func (t *inTiers) made(p unsafe.Pointer) bool {
	in, ok := t.m.TierOf(p)
	return ok && in == tiers.Inbox
}

func (t *inTiers) end() {
	_ = t.home.Close() // flushed after each job
	t.w.Settle()
}

// anywhere has both in one allocator, which any goroutine may use.
type anywhere struct{ mem memory.Allocator }

func (a anywhere) lend() (unsafe.Pointer, error) {
	return a.mem.Alloc(booksBytes, unsafe.Alignof(entry{}))
}

func (a anywhere) giveBack(p unsafe.Pointer) error { a.mem.Free(p, booksBytes); return nil }

func (a anywhere) make() (unsafe.Pointer, error) {
	return a.mem.Alloc(fieldBytes, unsafe.Alignof(Field{}))
}

func (a anywhere) drop(p unsafe.Pointer) { a.mem.Free(p, fieldBytes) }

func (a anywhere) made(unsafe.Pointer) bool { return true }

func (a anywhere) end() {}
