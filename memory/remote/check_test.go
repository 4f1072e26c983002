package remote

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// furnished returns an inbox and a Freer with batches in every place: half drained, pushed,
// come home, spare, in hand; and homes with a Freer and without.
func furnished(t *testing.T, kind func(*slots) Target) (*Inbox, *Freer) {
	t.Helper()
	s := newSlots(t, 100, 16)
	in := newInbox(t, kind(s), 4)
	f := in.NewFreer()
	free := func(f *Freer, n int) {
		for range n {
			f.FreeAny(mustAlloc(t, s))
		}
	}
	free(f, 20)
	in.Drain()
	free(f, 6) // takes five batches home, of which some stay spare
	s.reset()
	in.Reset()
	gone := in.NewFreer()
	free(gone, 5)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	free(f, 6)
	f.Free(mustAlloc(t, s), 100)
	in.DrainSome(2)
	mustCheck(t, in)
	mustCheckFreer(t, f)
	if st := in.Stats(); in.rest == nil || in.at == 0 || in.head.Load() == nil && in.rest.next == nil || st.Stale == 0 || f.n != 3 || f.bytes == 0 || f.home.spare == nil || len(in.idle) != 1 {
		t.Fatalf("the inbox is not furnished: %+v, %+v", st, in)
	}
	return in, f
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	eachKind(t, func(t *testing.T, kind func(*slots) Target) {
		in, f := furnished(t, kind)
		check := func() error { return errors.Join(in.Check(), f.Check()) }
		flips := memtest.EveryBit(t, check, in, f, in.homes[0], in.homes[1], in.rest, in.rest.next, f.cur, f.home.spare)
		t.Logf("%+v", flips)
		share := map[bool]int{false: 4, true: 10}[invariant.Debug] // any stamp is possible
		if flips.Integers < 60 || flips.Named < flips.Flipped/share {
			t.Errorf("%+v", flips)
		}
	})
}

func TestFreer_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*Freer)
	}{
		{"a Freer with 4 blocks in 4 slots", func(f *Freer) { f.n = 4 }},
		{"a Freer with -1 blocks", func(f *Freer) { f.n = -1 }},
		{"a Freer with 3 blocks", func(f *Freer) { f.offs = f.cur.offs }},
		{"a Freer with 3 blocks", func(f *Freer) { f.cur.home = nil }},
		{"in 3 slots of 4", func(f *Freer) { f.cur.offs = f.cur.offs[:3] }},
		{"a Freer for 16385 bytes", func(f *Freer) { f.span.Add(1) }},
		{"a Freer for 16384 bytes at 0x0", func(f *Freer) { f.base = 0 }},
		{"with 65536 bytes of 65536", func(f *Freer) { f.bytes = f.limit }},
		{"with 100 bytes of 1000", func(f *Freer) { f.limit = 1000 }},
		{"0 blocks have gathered, with 100 bytes", func(f *Freer) { f.n = 0 }},
		{"a Freer of epoch 2 in epoch 1", func(f *Freer) { f.epoch++ }},
		{"a batch is spare twice", func(f *Freer) { f.home.spare.next = f.home.spare }},
		{"a batch is spare twice", func(f *Freer) { f.home.spare = f.cur }},
		{"a spare batch of another home", func(f *Freer) { f.home.spare.home = nil }},
		{"with 3 slots of 4", func(f *Freer) { f.home.spare.offs = f.cur.offs[:3] }},
		{"batches in hand, of 1 made", func(f *Freer) { f.home.made.Store(1) }},
		{"a closed Freer holds 3 blocks", func(f *Freer) { f.cur = nil }},
		{"a closed Freer holds 1 blocks", func(f *Freer) { *f = Freer{n: 1} }},
		{"a closed Freer holds 0 blocks in 2 slots", func(f *Freer) { *f = Freer{offs: make([]uintptr, 2)} }},
		{"a closed Freer holds 0 blocks in 0 slots", func(f *Freer) { *f = Freer{home: f.home} }},
	} {
		_, f := furnished(t, kinds["offsets"])
		c.corrupt(f)
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
	}
}

func TestFreer_ClosedTwiceAndZero(t *testing.T) {
	_, f := furnished(t, kinds["pointers"])
	for range 3 {
		if err := f.Close(); err != nil || f.Pending() != 0 {
			t.Errorf("Close: %v, %d pending", err, f.Pending())
		}
		mustCheckFreer(t, f)
	}
	var zero Freer
	var x int
	memtest.Misuse(t, func() { zero.FreeAny(unsafe.Pointer(&x)) }, "remote.Free", "the Freer is closed")
	memtest.Misuse(t, func() { f.Free(unsafe.Pointer(&x), 8) }, "remote.Free", "the Freer is closed")
	memtest.Misuse(t, func() { _ = zero.Flush() }, "remote.Flush", "the Freer is closed")
	zero.Free(nil, 8)
	if err := zero.Close(); err != nil {
		t.Error(err)
	}
	mustCheckFreer(t, &zero)
}
