package slab

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// youngOf gathers the young blocks and their sizes.
func youngOf(h *Heap) map[unsafe.Pointer]uintptr {
	got := map[unsafe.Pointer]uintptr{}
	for p, size := range h.Young {
		got[p] = size
	}
	return got
}

func TestHeap_YoungAreTheBlocksOfThisEpochWhateverWasFreed(t *testing.T) {
	h, err := New(nil, Config{Reserve: 4 << 20})
	memtest.Opened(t, h, err)
	if !invariant.Exact { // without a live map nobody is young
		memtest.MustAlloc(t, h, 100, 1)
		for range h.Young {
			t.Error("a young block in a memfast build")
		}
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	type held struct {
		p     unsafe.Pointer
		size  uintptr
		young bool
	}
	var live []held
	free := func(i int) {
		if b := live[i]; r.IntN(2) == 0 {
			h.Free(b.p, b.size)
		} else {
			h.FreeAny(b.p)
		}
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
	}
	for step := range 20_000 {
		switch op := r.IntN(1000); {
		case op == 0:
			h.BeginEpoch()
			for i := range live {
				live[i].young = false
			}
		case op == 1:
			h.EndEpoch()
			for i := range live {
				live[i].young = true
			}
		case op == 2:
			for len(live) > 0 { // so that slabs change their class
				free(len(live) - 1)
			}
		case op == 3:
			if err := h.Trim(); err != nil {
				t.Fatal(err)
			}
		case op < 520 || len(live) == 0:
			size := uintptr(r.IntN(300))
			live = append(live, held{memtest.MustAlloc(t, h, size, 1), size, true})
		default:
			free(r.IntN(len(live)))
		}
		if step%97 != 0 {
			continue
		}
		memtest.MustCheck(t, h)
		got := youngOf(h)
		for _, b := range live {
			size, ok := got[b.p]
			if ok != b.young || ok && size != h.SizeOf(b.p) {
				t.Fatalf("step %d: the block at %p is young %t with %d bytes, want %t", step, b.p, ok, size, b.young)
			}
			delete(got, b.p)
		}
		if len(got) > 0 {
			t.Fatalf("step %d: %d blocks are young and not live", step, len(got))
		}
	}
}

func TestHeap_AnOldBlockIsFreedOnceAndKnown(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20})
	memtest.Opened(t, h, err)
	a, b := memtest.MustAlloc(t, h, 100, 1), memtest.MustAlloc(t, h, 100, 1)
	h.BeginEpoch()
	if h.SizeOf(a) != 112 || h.Stats().Live != 2 {
		t.Errorf("an old block has %d bytes, %d are live", h.SizeOf(a), h.Stats().Live)
	}
	memtest.Misuse(t, func() { h.Free(a, 2000) }, "wrong size")
	if invariant.Exact {
		memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(a, 16)) }, "FreeAny", "interior pointer")
	}
	h.Free(a, 100)
	h.FreeAny(b)
	if invariant.Exact {
		memtest.Misuse(t, func() { h.Free(a, 100) }, "double free")
		memtest.Misuse(t, func() { h.FreeAny(b) }, "double free")
	}
	memtest.MustAlloc(t, h, 100, 1)
	h.BeginEpoch()
	h.Reset()
	memtest.MustCheck(t, h)
	if n := len(youngOf(h)); n != 0 {
		t.Errorf("%d blocks are young after Reset", n)
	}
	for range h.Young {
		t.Error("unreachable")
	}
	memtest.MustAlloc(t, h, 100, 1)
	memtest.MustAlloc(t, h, 100, 1)
	n := 0
	for range h.Young {
		n++
		break
	}
	if want := 1; invariant.Exact && n != want {
		t.Errorf("%d blocks were yielded before the break", n)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, h.BeginEpoch, "closed")
	memtest.Misuse(t, h.EndEpoch, "closed")
}

func TestCentral_TakesOldBlocksHomeFromCaches(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	central := mustCentral(h)
	memtest.Opened(t, central, nil)
	c := NewCache(central)
	p := memtest.MustAlloc(t, c, 64, 1)
	h.BeginEpoch()
	c.Free(p, 64)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if s := central.Stats(); s.Live != 0 {
		t.Errorf("%d blocks are live", s.Live)
	}
}

func TestCheck_NamesWhatIsWrongWithAnEpoch(t *testing.T) {
	if !invariant.Exact {
		return // there are no maps to be wrong
	}
	h, err := New(nil, Config{Reserve: 1 << 20})
	memtest.Opened(t, h, err)
	p := memtest.MustAlloc(t, h, 64, 1)
	h.BeginEpoch()
	q := memtest.MustAlloc(t, h, 64, 1)
	for want, corrupt := range map[string]func(){
		"young and old":                  func() { h.old[0] |= h.live[0] },
		"the map of old blocks has":      func() { h.old = make([]uint64, len(h.live)+1) },
		"the map of old blocks has some": func() { h.old = make([]uint64, len(h.live)); h.old[h.limit/64] = 1 },
		"blocks are not the":             func() { clear(h.old) },
		"no block starts":                func() { h.old[0] |= 2 },
	} {
		restore, old, live := memtest.Keep(h), append([]uint64(nil), h.old...), append([]uint64(nil), h.live...)
		corrupt()
		if err := h.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v; want %q", err, want)
		}
		restore()
		h.old = old
		copy(h.live, live)
	}
	h.Free(p, 64)
	h.Free(q, 64)
}

func TestHeap_OnShortIsAskedBeforeCarvingAndBeforeRefusing(t *testing.T) {
	h, err := New(nil, Config{Reserve: 64 << 10})
	memtest.Opened(t, h, err)
	var asked []bool
	var coming []unsafe.Pointer // on their way home
	some, all := 0, 0           // how many arrive when asked
	h.OnShort(func(whole bool) {
		asked = append(asked, whole)
		n := some
		if whole {
			n = all
		}
		for ; n > 0 && len(coming) > 0; n-- {
			h.Free(coming[0], 64)
			coming = coming[1:]
		}
	})
	for {
		p, err := h.Alloc(64, 1)
		if err != nil {
			if !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatal(err)
			}
			break
		}
		coming = append(coming, p)
	}
	if n := len(asked); n < 3 || asked[0] || !asked[n-1] || asked[n-2] {
		t.Fatalf("asked %v", asked)
	}
	if s := h.Stats(); s.Failures != 1 {
		t.Errorf("%d failures", s.Failures)
	}
	asked, some = nil, 1
	memtest.MustAlloc(t, h, 64, 1)
	some, all = 0, 2
	memtest.MustAlloc(t, h, 64, 1)
	memtest.MustAlloc(t, h, 64, 1)
	if len(asked) != 3 || asked[0] || asked[1] || !asked[2] {
		t.Errorf("asked %v", asked)
	}
	memtest.MustCheck(t, h)
	h.OnShort(func(bool) { panic("hook") })
	before := h.Stats()
	func() {
		defer func() { recover() }()
		h.Alloc(64, 1)
		t.Error("no panic")
	}()
	if h.Stats() != before {
		t.Errorf("a panic out of OnShort changed the books from %+v to %+v", before, h.Stats())
	}
	memtest.MustCheck(t, h)
}

func TestHeap_WhatComesHomeOfAnotherClassIsReclaimed(t *testing.T) {
	h, err := New(nil, Config{Reserve: 64 << 10})
	memtest.Opened(t, h, err)
	var coming []unsafe.Pointer
	for {
		p, err := h.Alloc(64, 1)
		if err != nil {
			break
		}
		coming = append(coming, p)
	}
	h.OnShort(func(all bool) {
		for _, p := range coming {
			if all {
				h.FreeAny(p)
			}
		}
		if all {
			coming = nil
		}
	})
	memtest.MustAlloc(t, h, 1000, 1)
}

func TestHeap_AnInteriorPointerIntoAnOldBlockIsRefused(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20})
	memtest.Opened(t, h, err)
	p := memtest.MustAlloc(t, h, 64, 16)
	h.BeginEpoch()
	for _, off := range []uintptr{1, 8, 15} {
		memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(p, off)) }, "slab.FreeAny", "interior pointer")
		memtest.Misuse(t, func() { h.Free(unsafe.Add(p, off), 64) }, "slab.Free", "interior pointer")
	}
	if s := h.Stats(); s.Live != 1 || s.Frees != 0 {
		t.Errorf("a refused free counts: %+v", s)
	}
	h.FreeAny(p)
	memtest.MustCheck(t, h)
}

// What a Central has handed out comes home through it, whose lock an Alloc holds.
func TestHeap_OnShortIsNotAskedOfAClosedHeap(t *testing.T) {
	ground := ground(t)
	limit := page.NewLimit(ground, 0)
	h, err := New(limit, Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	limit.OnSoft(0, func(uintptr, uintptr) { ground.Close() })
	h.OnShort(func(all bool) {
		if all {
			t.Error("asked")
		}
	})
	if p, err := h.Alloc(16, 8); p != nil || err != memory.ErrClosed {
		t.Errorf("%v, %v; want ErrClosed", p, err)
	}
}

func TestCentral_OnShortIsNotAskedUnderItsLock(t *testing.T) {
	h, err := New(nil, Config{Reserve: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	h.OnShort(func(bool) { t.Error("asked, where a Free through the Central would wait for itself") })
	c := memtest.Opened(t, mustCentral(h), nil)
	for err = nil; err == nil; {
		_, err = c.Alloc(4096, 16)
	}
	if !errors.Is(err, memory.ErrOutOfMemory) {
		t.Error(err)
	}
}
