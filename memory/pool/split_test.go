package pool

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

type body struct{ X, Y, VX, VY float32 }

type sheet struct {
	Name  [32]byte
	Stats [40]uint32
}

func newSplit(t testing.TB, src page.Source, capacity int) *Split[body, sheet] {
	t.Helper()
	p, err := NewSplit[body, sheet](src, Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p.Close)
	return p
}

func TestSplit_OneHandleNamesBothHalves(t *testing.T) {
	p := newSplit(t, nil, 1000)
	var handles []memory.Handle[body]
	for i := range 300 {
		h, hot, cold, err := p.New()
		if err != nil || *hot != (body{}) || *cold != (sheet{}) {
			t.Fatalf("New = %+v, %+v, %v", *hot, *cold, err)
		}
		hot.X, cold.Stats[0] = float32(i), uint32(i)
		handles = append(handles, h)
	}
	for i, h := range handles {
		hot, cold, ok := p.Get(h)
		hot2, ok2 := p.Hot(h)
		cold2, ok3 := p.Cold(h)
		if !ok || !ok2 || !ok3 || hot != hot2 || cold != cold2 || hot.X != float32(i) || cold.Stats[0] != uint32(i) {
			t.Fatalf("object %d: %v %v %v", i, ok, ok2, ok3)
		}
	}
	h := handles[5]
	if !p.Free(h) || p.Free(h) {
		t.Error("Free must be true once")
	}
	_, _, ok := p.Get(h)
	_, ok2 := p.Hot(h)
	_, ok3 := p.Cold(h)
	if ok || ok2 || ok3 {
		t.Error("a stale handle is found")
	}
	if _, hot, cold, err := p.New(); err != nil || *hot != (body{}) || *cold != (sheet{}) {
		t.Errorf("a slot used before is not zeroed: %+v, %+v, %v", *hot, *cold, err)
	}
	mustCheck(t, p)
}

func TestSplit_IterationStaysInTheHotRegion(t *testing.T) {
	p := newSplit(t, nil, 1000)
	for range 100 {
		if _, _, _, err := p.New(); err != nil {
			t.Fatal(err)
		}
	}
	n := uintptr(0)
	for _, v := range p.All() {
		if unsafe.Pointer(v) != unsafe.Add(p.hotBase, n*unsafe.Sizeof(body{})) {
			t.Fatalf("object %d lies at %p", n, v)
		}
		n++
	}
	for range p.All() {
		break
	}
}

func TestSplit_RefusedMemoryChangesNothing(t *testing.T) {
	for call := 1; call < 10; call++ {
		src := memtest.NewFaulty()
		src.FailAt = call
		p, err := NewSplit[body, sheet](src, Config{Capacity: 6000})
		if err != nil {
			t.Fatalf("call %d: %v: half the reservation would have done", call, err)
		}
		for n := 0; n < p.Cap(); {
			before := p.Stats()
			_, _, _, err := p.New()
			if err == nil {
				n++
				continue
			}
			before.Failures++
			if p.Stats() != before || !errors.Is(err, memory.ErrOutOfMemory) {
				t.Errorf("call %d: %v; statistics %+v, were %+v", call, err, p.Stats(), before)
			}
			mustCheck(t, p)
		}
		if err := p.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("call %d: Close = %v, %d reservations left", call, err, src.Reserved())
		}
	}
	src := memtest.NewFaulty()
	src.FailAt, src.ForGood = 2, true
	if _, err := NewSplit[body, sheet](src, Config{Capacity: 10}); !errors.Is(err, memory.ErrOutOfMemory) || src.Reserved() != 0 {
		t.Errorf("the cold region refused: %v, %d reservations left", err, src.Reserved())
	}
	src = memtest.NewFaulty()
	src.FailAt, src.ForGood = 1, true
	if _, err := NewSplit[body, sheet](src, Config{Capacity: 10}); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("the hot region refused: %v", err)
	}
}

func TestSplit_ResetTrimCloseAndGrow(t *testing.T) {
	budget := page.NewLimit(nil, 0)
	p := newSplit(t, budget, 5000)
	if err := p.Grow(5000); err != nil {
		t.Fatal(err)
	}
	h, _, _, err := p.New()
	if err != nil || p.Len() != 1 || p.Cap() != 5000 {
		t.Fatalf("%v, len %d, cap %d", err, p.Len(), p.Cap())
	}
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	if c := budget.Committed(); c != 2*page.Granule || uint64(c) != p.Stats().Committed {
		t.Errorf("%d bytes stay committed for one pair, stats %+v", c, p.Stats())
	}
	p.Reset()
	if _, ok := p.Hot(h); ok {
		t.Error("a handle survived Reset")
	}
	mustCheck(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := p.New(); err != memory.ErrClosed {
		t.Errorf("New after Close: %v", err)
	}
	if err := p.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim after Close: %v", err)
	}
	memtest.Misuse(t, p.Reset, "closed")
	mustCheck(t, p)
}

func TestSplit_StaysUsableWhenMemoryCannotBeReturned(t *testing.T) {
	src := memtest.NewFaulty()
	p := newSplit(t, &releaseFails{Faulty: src}, 1000)
	if err := p.Grow(1000); err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if err := p.Trim(); err == nil || !strings.Contains(err.Error(), "pool: trim pool.body") {
		t.Errorf("Trim = %v", err)
	}
	if _, _, _, err := p.New(); err != nil {
		t.Error(err)
	}
	src.FailReturns = false
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "pool: close pool.body") {
		t.Errorf("Close = %v", err)
	}
	mustCheck(t, p)
}

func TestSplit_RefusesPointersInEitherHalf(t *testing.T) {
	if _, err := NewSplit[brainy, struct{}](nil, Config{}); err == nil || !strings.Contains(err.Error(), "hot") {
		t.Errorf("hot pointer: %v", err)
	}
	if _, err := NewSplit[struct{}, brainy](nil, Config{}); err == nil || !strings.Contains(err.Error(), "cold") {
		t.Errorf("cold pointer: %v", err)
	}
	if _, err := NewSplit[body, sheet](nil, Config{Capacity: -1}); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("capacity -1: %v", err)
	}
	p, err := NewSplit[body, sheet](nil, Config{Name: "actors"})
	if err != nil || p.Name() != "actors" || p.Cap() != 64<<20/int(unsafe.Sizeof(body{})+unsafe.Sizeof(sheet{})) {
		t.Fatalf("%v", err)
	}
	closeAtEnd(t, p.Close)
}

func TestSplit_CheckNamesTheRegionsToo(t *testing.T) {
	p := newSplit(t, nil, 1000)
	if _, _, _, err := p.New(); err != nil {
		t.Fatal(err)
	}
	if err := p.cold.Trim(0); err != nil {
		t.Fatal(err)
	}
	mustName(t, p, "64 opened slots of 192 bytes exceed the 0 bytes committed")
	if err := p.ensure(p.opened); err != nil {
		t.Fatal(err)
	}
	p.allocs = 0
	mustName(t, p, "the generations count 1 allocations instead of 0")
	p.allocs = 1
}

type (
	hot  [100]int32
	cold [200]int32
)

func TestSplit_WhatTheSoftMarkTrimsOrClosesIsNotHandedOut(t *testing.T) {
	for name, relieve := range map[string]func(p *Split[hot, cold]){
		"Trim":  func(p *Split[hot, cold]) { p.Reset(); _ = p.Trim() },
		"Close": func(p *Split[hot, cold]) { _ = p.Close() },
	} {
		for _, mark := range []uintptr{0, 300 << 10, 600 << 10, 900 << 10} { // in steps of 256 KiB: hot, cold, cold, hot
			limit := page.NewLimit(nil, 0)
			p, err := NewSplit[hot, cold](limit, Config{})
			if err != nil {
				t.Fatal(err)
			}
			limit.OnSoft(mark, func(uintptr, uintptr) { relieve(p); limit.OnSoft(1<<30, nil) })
			for range 1000 {
				_, h, c, err := p.New()
				if err != nil {
					if name != "Close" || err != memory.ErrClosed {
						t.Fatalf("%s, mark %d: %v", name, mark, err)
					}
					continue
				}
				h[99], c[199] = 1, 1 // there is memory
			}
			if err := errors.Join(p.Check(), p.Close()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Whichever region reaches the mark, the panic leaves neither committed.
func TestSplit_PanicAtTheSoftMarkCommitsNothing(t *testing.T) {
	for mark := range uintptr(24) {
		limit := page.NewLimit(nil, 0)
		p, err := NewSplit[hot, cold](limit, Config{Capacity: 800})
		if err != nil {
			t.Fatal(err)
		}
		limit.OnSoft(mark*page.Granule, func(uintptr, uintptr) { panic("tight") })
		for range 800 {
			before, value := limit.Committed(), any(nil)
			func() {
				defer func() { value = recover() }()
				_, _, _, err = p.New()
			}()
			if value != nil && value != "tight" || value == nil && err != nil || value != nil && limit.Committed() != before {
				t.Fatalf("mark %d: %v, %v, %d bytes are committed, %d were", mark, value, err, limit.Committed(), before)
			}
			if value != nil {
				break
			}
		}
		if err := errors.Join(p.Check(), p.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestSplit_TrimAtTheSoftMarkTakesNothingFromNew(t *testing.T) {
	for mark := range uintptr(8) {
		limit := page.NewLimit(nil, 0)
		p, err := NewSplit[hot, cold](limit, Config{Capacity: 800})
		if err != nil {
			t.Fatal(err)
		}
		limit.OnSoft(mark*page.Granule, func(uintptr, uintptr) {
			if err := p.Trim(); err != nil {
				t.Error(err)
			}
		})
		for k := range 500 {
			if _, _, _, err := p.New(); err != nil {
				t.Fatalf("mark %d, object %d: %v", mark, k, err)
			}
		}
		if err := errors.Join(p.Check(), p.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestClose_AtFaultsHandsOutNothingThatIsGone(t *testing.T) {
	memtest.CloseAtFaults(t, func(src page.Source) (*Split[body, sheet], []func()) {
		p, err := NewSplit[body, sheet](src, Config{Capacity: 1000})
		if err != nil {
			t.Fatal(err)
		}
		h, _, _, err := p.New()
		if err != nil {
			t.Fatal(err)
		}
		return p, []func(){
			func() {
				if _, _, ok := p.Get(h); ok {
					t.Error("a handle from before Close is live")
				}
			},
			func() {
				if _, hot, cold, err := p.New(); err == nil {
					*hot, *cold = body{}, sheet{}
				} else if err != memory.ErrClosed {
					t.Error(err)
				}
			},
		}
	})
	memtest.CloseAtFaults(t, func(src page.Source) (*Pool[body], []func()) {
		p, err := New[body](src, Config{Capacity: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.New(); err != nil {
			t.Fatal(err)
		}
		return p, []func(){func() {
			if _, v, err := p.New(); err == nil {
				*v = body{}
			} else if err != memory.ErrClosed {
				t.Error(err)
			}
		}}
	})
}
