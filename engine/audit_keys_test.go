package engine_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

// A load may make the units again, in any order, and a map of them may come before their list.
func TestFields_PointerKeysThatWereMadeAgain(t *testing.T) {
	type unit struct {
		HP  int
		Foe *unit
	}
	type army struct {
		Hits  map[*unit]int
		Pairs map[[2]*unit]string
		Names map[any]*unit
		Units []*unit
	}
	raise := func(first int) (a army) {
		const n = 20
		a = army{map[*unit]int{}, map[[2]*unit]string{}, map[any]*unit{}, make([]*unit, n)}
		for i := range n {
			a.Units[(first+i*7)%n] = new(unit) // addresses in another order
		}
		for i, u := range a.Units {
			foe := a.Units[(i*3+1)%n]
			*u = unit{HP: i / 5, Foe: foe}
			a.Hits[u], a.Pairs[[2]*unit{foe, u}], a.Names[u] = i, fmt.Sprint(i), foe
		}
		return a
	}
	for first := range 20 {
		a := raise(first)
		check := engine.Fields(nil, &a)()
		a = raise(first * 3)
		if found := check(); len(found) > 0 {
			t.Fatal(texts(found))
		}
		a.Hits[a.Units[7]]++
		if got := fieldsOf(check()); len(got) != 1 || got[0] != "engine_test.army.Hits" {
			t.Fatalf("%q", got)
		}
	}
}

type auditKey struct {
	N    int
	Sum  map[*auditKey]int
	Twos map[[2]*auditKey]int
	Any  map[any]*auditKey
	In   map[*auditKey]map[*auditKey]bool
	Next *auditKey
	List []*auditKey
}

// Random graphs through keys, made again in another order: no difference. With another value in one variable: one.
func TestFields_GraphsOfPointerKeys(t *testing.T) {
	build := func(seed uint64, order *rand.Rand) *auditKey {
		r := rand.New(rand.NewPCG(seed, 1))
		all := make([]*auditKey, 1+r.IntN(12))
		for _, i := range order.Perm(len(all)) {
			all[i] = new(auditKey)
		}
		one := func() *auditKey { return all[r.IntN(len(all))] }
		for _, k := range all {
			*k = auditKey{N: r.IntN(3), Sum: map[*auditKey]int{}, Twos: map[[2]*auditKey]int{}, Any: map[any]*auditKey{}, In: map[*auditKey]map[*auditKey]bool{}}
			for range r.IntN(3) {
				k.Sum[one()], k.Twos[[2]*auditKey{one(), one()}] = r.IntN(4), r.IntN(4)
				k.Any[one()], k.In[one()] = one(), map[*auditKey]bool{one(): true}
				k.Next, k.List = one(), append(k.List, one())
			}
		}
		return all[0]
	}
	order := rand.New(rand.NewPCG(1, 1))
	for seed := range uint64(300) {
		root := build(seed, order)
		check := engine.Fields(nil, &root)()
		root = build(seed, order)
		if found := check(); len(found) > 0 {
			t.Fatalf("graph %d: %s", seed, texts(found))
		}
		k := root
		for range seed % 7 {
			for other := range k.Sum {
				k = other
			}
		}
		if k.N = -1; len(check()) == 0 {
			t.Fatalf("graph %d: another value is no difference", seed)
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

type auditSaved struct{ Kept, Lost int }

func (a *auditSaved) SaveState(c *save.Coder) { save.Num(c, &a.Kept) }

type auditEmbeds struct {
	auditSaved
	More int
}

// An auditOwn has a SaveState of its own, which leaves out More.
type auditOwn struct {
	auditSaved
	More int
}

func (a *auditOwn) SaveState(c *save.Coder) { a.auditSaved.SaveState(c) }

// The SaveState of an embedded field saves nothing of the struct around it.
func TestFields_StructsThatEmbedAState(t *testing.T) {
	s := &struct {
		Embeds *auditEmbeds
		Deep   []struct{ auditEmbeds }
		Any    struct {
			save.State
			More int
		}
		Own auditOwn
	}{Embeds: new(auditEmbeds), Deep: make([]struct{ auditEmbeds }, 1)}
	s.Any.State = new(auditSaved)
	for want, field := range map[string]*int{
		".Embeds.More": &s.Embeds.More, ".Embeds.auditSaved": &s.Embeds.Kept, ".Deep.auditEmbeds.More": &s.Deep[0].More,
		".Any.More": &s.Any.More, ".Any.State": &s.Any.State.(*auditSaved).Kept, ".Own": &s.Own.Kept,
		"": &s.Own.More, " ": &s.Embeds.Lost,
	} {
		check := engine.Fields(nil, s)()
		*field++
		if got := strings.Join(fieldsOf(check()), "; "); !strings.HasSuffix(got, strings.TrimSpace(want)) || (got == "") != (strings.TrimSpace(want) == "") {
			t.Errorf("%q, want %s", got, want)
		}
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
