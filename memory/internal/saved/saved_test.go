package saved

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/save"
)

// A record is a State of what debug builds record.
type record struct {
	invariant.Lives
	fails bool // after all was visited
}

func (r *record) SaveState(c *save.Coder) {
	if Lives(c, &r.Lives); r.fails {
		c.Differs("it fails")
	}
}

// A load restores the pages in which blocks have started, and clears those of later blocks. A load that fails does not.
func TestLives_LoadRestoresPages(t *testing.T) {
	var r record
	var set save.Set
	slot, first, again := set.NewSlot(1<<20), set.NewCanonical(1<<20), set.NewCanonical(1<<20)
	at := []uintptr{5, 1025, 3 * invariant.LifePage, 9 * invariant.LifePage}
	begin := func(k ...int) {
		for _, k := range k {
			r.Begin(at[k], 100)
		}
	}
	lives := func() (n [4]uint32) {
		for i, g := range at {
			n[i] = r.Generation(g)
		}
		return n
	}
	err := errors.Join(set.Add("lives", &r), set.Seal(), set.Save(first))
	begin(0)
	if err = errors.Join(err, set.Load(first), set.Save(again)); err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("%v, or the canonical states without a block differ", err)
	}
	begin(0, 2)
	was := lives()
	err = errors.Join(set.Save(slot), set.Save(first))
	begin(0, 1, 3)
	now := lives()
	r.fails = true
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || lives() != now {
		t.Errorf("a load that fails: %v, %v, want %v", err, lives(), now)
	}
	r.fails = false
	if err = errors.Join(err, set.Load(slot), set.Save(again)); err != nil {
		t.Fatal(err)
	}
	if lives() != was || !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("%v, want %v, or the canonical states differ", lives(), was)
	}
	want := 1 // the length of the part
	if invariant.Debug {
		want += 1 + 4 + 2*invariant.LifePage // the number of pages, which of them have blocks, and these
	}
	if n := len(slot.Bytes()) / 8; n != want {
		t.Errorf("the state has %d words, want %d", n, want)
	}
}

// An owner has hooks, of which only the ids are here.
type owner struct {
	newest HookID
	ids    []HookID
	fails  bool // after all was visited
}

func (o *owner) SaveState(c *save.Coder) {
	n := o.newest.SaveState(c, len(o.ids), func(i int) HookID { return o.ids[i] })
	if o.ids = o.ids[:n]; o.fails {
		c.Differs("it fails")
	}
}

func (o *owner) add() { o.ids = append(o.ids, o.newest.Next()) }

// An ordinary slot tells a hook from a later one with its number, which a canonical slot takes for it.
func TestHookID_LoadDropsLaterHooks(t *testing.T) {
	var o owner
	var set save.Set
	if err := errors.Join(set.Add("owner", &o), set.Seal()); err != nil {
		t.Fatal(err)
	}
	var slots, canonical [3]*save.Slot // with as many hooks
	for i := range slots {
		slots[i], canonical[i] = set.NewSlot(100), set.NewCanonical(100)
		if err := errors.Join(set.Save(slots[i]), set.Save(canonical[i])); err != nil {
			t.Fatal(err)
		}
		o.add()
	}
	load := func(slot *save.Slot, want error, hooks int) {
		t.Helper()
		if err := set.Load(slot); !errors.Is(err, want) || len(o.ids) != hooks {
			t.Errorf("%v and %d hooks, want %v and %d", err, len(o.ids), want, hooks)
		}
	}
	o.fails = true
	load(slots[0], save.ErrLayout, 3)
	o.fails = false
	load(slots[2], nil, 2)
	load(slots[1], nil, 1)
	o.add()
	load(slots[2], save.ErrLayout, 2)
	load(canonical[2], nil, 2)
	again := set.NewCanonical(100)
	if err := set.Save(again); err != nil || !bytes.Equal(again.Bytes(), canonical[2].Bytes()) {
		t.Errorf("%v: the hook of a game that has loaded has another number", err)
	}
	o.ids = o.ids[:0] // they have run
	if err := set.Load(slots[1]); err == nil || !strings.Contains(err.Error(), "1 hooks were registered, and some have run or were dropped since") {
		t.Error(err)
	}
	o.add()
	load(slots[1], save.ErrLayout, 1)
	load(canonical[1], save.ErrLayout, 1)
	load(slots[0], nil, 0)
}

// ranges are visited through a Run.
type ranges [][3]uintptr // of arrays[0], from, to

var arrays [2][32]byte

func (r ranges) SaveState(c *save.Coder) {
	run := Run{C: c}
	for _, x := range r {
		run.Add(unsafe.Pointer(&arrays[x[0]]), x[1], x[2])
	}
	run.End()
}

// Neighbors have one padding to 8 bytes together.
func TestRun_JoinsNeighbors(t *testing.T) {
	for _, c := range []struct {
		visits ranges
		bytes  int
	}{
		{ranges{{0, 1, 4}}, 8},
		{ranges{{0, 1, 4}, {0, 4, 9}}, 8},
		{ranges{{0, 1, 4}, {0, 5, 9}}, 16},
		{ranges{{0, 1, 4}, {1, 4, 9}}, 16},
		{ranges{{1, 0, 4}, {1, 4, 8}, {0, 8, 12}, {0, 20, 29}}, 8 + 8 + 16},
	} {
		var set save.Set
		slot := set.NewSlot(100)
		if err := errors.Join(set.Add("ranges", &c.visits), set.Seal()); err != nil {
			t.Fatal(err)
		}
		for i := range arrays {
			for k := range arrays[i] {
				arrays[i][k] = byte(32*i + k)
			}
		}
		want := [2][32]byte{}
		for _, x := range c.visits {
			copy(want[x[0]][x[1]:x[2]], arrays[x[0]][x[1]:])
		}
		err := set.Save(slot)
		arrays = [2][32]byte{}
		if err = errors.Join(err, set.Load(slot)); err != nil || arrays != want || len(slot.Bytes()) != 8+c.bytes {
			t.Errorf("%v: %v, %d bytes, %v, want %v", c.visits, err, len(slot.Bytes()), arrays, want)
		}
	}
}
