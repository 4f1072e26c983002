package engine_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type (
	auditKind int
	auditSpot struct {
		X auditKind
		_ int
	}
	auditMaps struct {
		Any   map[any]int
		Kinds map[auditKind]int
		Spots map[auditSpot]int
		Reals map[float64]int
		Units map[*auditCell]int
		Sets  map[[2]*auditCell]bool
		Only  map[any]bool
		Chans map[chan int]int
	}
)

func (auditKind) String() string { return "kind" }

func newMaps() *auditMaps {
	a, b := &auditCell{}, &auditCell{}
	return &auditMaps{
		Any:   map[any]int{1: 1, "1": 2, int8(1): 3, auditKind(4): 4, auditKind(5): 5, nil: 6, 1i: 7, true: 8},
		Kinds: map[auditKind]int{-1: 1, 2: 2, 3: 3},
		Spots: map[auditSpot]int{{X: 1}: 1, {X: 2}: 2, {X: 3}: 3},
		Reals: map[float64]int{math.NaN(): 1, math.NaN(): 2, math.Inf(-1): 3},
		Units: map[*auditCell]int{a: 1, b: 2},
		Sets:  map[[2]*auditCell]bool{{a, b}: true, {b, a}: false, {nil, a}: true},
		Only:  map[any]bool{&auditCell{X: 1}: true},
		Chans: map[chan int]int{make(chan int): 1, make(chan int): 2},
	}
}

// Different keys may have the same text, and pointers in keys lead to variables.
func TestFields_KeysOfOneText(t *testing.T) {
	for want, change := range map[string]func(m *auditMaps){
		"Any":    func(m *auditMaps) { m.Any[int8(1)]++ },
		"Any ":   func(m *auditMaps) { delete(m.Any, int8(1)); m.Any[int16(1)] = 3 },
		"Kinds":  func(m *auditMaps) { m.Kinds[-1]++ },
		"Spots":  func(m *auditMaps) { m.Spots[auditSpot{X: 3}]++ },
		"Reals":  func(m *auditMaps) { m.Reals[math.Inf(-1)]++ },
		"Reals ": func(m *auditMaps) { m.Reals = map[float64]int{math.NaN(): 1, 1: 2, math.Inf(-1): 3} },
		"Units": func(m *auditMaps) {
			for k, n := range m.Units {
				m.Units[k] = 3 - n
			}
		},
		"Only.key.X": func(m *auditMaps) {
			for k := range m.Only {
				k.(*auditCell).X++
			}
		},
		"Only.key": func(m *auditMaps) { m.Only = map[any]bool{(*auditCell)(nil): true} },
	} {
		for range 10 { // a map has a random order
			m := newMaps()
			check := engine.Fields(nil, m)()
			if found := check(); len(found) > 0 {
				t.Fatal(texts(found))
			}
			change(m)
			if got := fieldsOf(check()); len(got) != 1 || got[0] != "engine_test.auditMaps."+strings.TrimSpace(want) {
				t.Fatalf("%s: %q", want, got)
			}
		}
	}
}

// If what leads to the keys differs, the map does not.
func TestFields_KeysThatWereNotReached(t *testing.T) {
	s := &struct {
		Lost []*auditCell
		Sum  map[*auditCell]int
		Last map[*auditCell]int
	}{Sum: map[*auditCell]int{}, Last: map[*auditCell]int{}}
	for i := range 20 {
		c := &auditCell{X: i}
		s.Lost = append(s.Lost, c)
		s.Sum[c] = i
		s.Last[&auditCell{X: -i}], s.Last[c] = -i, i
	}
	check := engine.Fields(nil, s)()
	s.Lost = s.Lost[:3]
	if found := check(); len(found) != 1 || !strings.Contains(found[0].Path, ".Lost") {
		t.Error(texts(found))
	}
}

type auditLink struct {
	N    int
	Next *auditLink
}

// A list of four times the length needs about four times the memory.
func TestFields_LongList(t *testing.T) {
	bytes := func(n int) uint64 {
		list := &auditLink{}
		for range n {
			list = &auditLink{Next: list}
		}
		check := engine.Fields(nil, list)()
		list.Next.N++
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found := check()
		if runtime.ReadMemStats(&after); len(found) != 1 || !strings.Contains(texts(found), "auditLink.Next.N: ") {
			t.Error(texts(found))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if short, long := bytes(1000), bytes(4000); long > 8*short {
		t.Errorf("%d bytes for 1000 elements, %d for 4000", short, long)
	}
}

// A field that leads to memory that was closed is named. Without that, a fault ends the program.
func TestFields_UnreadableMemory(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("memory is never unmapped")
	}
	heap, err := tlsf.New(page.OS(), tlsf.Config{Reserve: 1 << 20})
	must(t, err)
	cells, err := memory.MakeSlice[uint64](heap, 8)
	must(t, err)
	s := &struct {
		N       int
		Scratch []uint64
	}{Scratch: cells}
	check := engine.Fields(nil, s)()
	must(t, heap.Close())
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, ".Scratch[0] is in memory that cannot be read") {
			t.Errorf("the panic is %q", got)
		}
	}()
	check()
}

// A State of this module that is a root is read as in a field: a Clock keeps its dropped time, and a Schedule measures.
func TestFields_RootsOfThisPackage(t *testing.T) {
	g := &struct {
		Clock *engine.Clock
		Plan  engine.Schedule
		Rand  engine.Rand
	}{Clock: engine.NewClock(2), Rand: engine.NewRand(1, 1)}
	must(t, g.Plan.Add("none", func(*engine.Tick) error { return nil }))
	set := new(save.Set)
	must(t, errors.Join(set.Add("clock", g.Clock), set.Seal()))
	slot := set.NewSlot(1 << 10)
	must(t, set.Save(slot))
	check := engine.Fields(nil, g, g.Clock, &g.Plan, &g.Rand)()
	g.Clock.Advance(time.Second)
	must(t, errors.Join(g.Plan.Run(&engine.Tick{}), set.Load(slot)))
	if found := check(); len(found) > 0 {
		t.Error(texts(found))
	}
	if g.Rand.Uint32(); len(check()) != 1 {
		t.Errorf("%q, want the random numbers", texts(check()))
	}
}

// The method of an embedded pointer that is nil panics.
func TestFields_EmbeddedStateIsNil(t *testing.T) {
	type level struct {
		*tlsf.Heap
		Name string
	}
	s := &struct {
		Level level
		Other struct{ save.State }
		Last  int
	}{}
	check := engine.Fields(nil, s)()
	if s.Last++; len(check()) != 1 {
		t.Errorf("%q, want Last", texts(check()))
	}
}

// Values of NaN keys are not read, but that of the only one is: the audit must not take it for what follows.
func TestFields_OneNaNIsLeft(t *testing.T) {
	s := &struct{ M map[float64]int }{map[float64]int{math.NaN(): 1, math.NaN(): 2}}
	check := engine.Fields(nil, s)()
	s.M = map[float64]int{1: 1, math.NaN(): 2}
	if found := check(); len(found) != 1 || !strings.Contains(texts(found), "M[1]: a key") {
		t.Error(texts(found))
	}
}
