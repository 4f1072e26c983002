package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/engine"
)

// A hall has references to elements of slices and of arrays in structs.
type hall struct {
	Row    [5]auditCell
	Lists  [6][]auditCell
	Side   *hall
	Points [6]*auditCell
	Number [3]*int // fields of cells
	Whole  *[5]auditCell
}

// refs returns what each reference refers to, as its first and its last address; 0 for nil.
func (h *hall) refs() (all [][2]uintptr) {
	add := func(p unsafe.Pointer, n uintptr) { all = append(all, [2]uintptr{uintptr(p), uintptr(p) + n}) }
	size := unsafe.Sizeof(auditCell{})
	add(unsafe.Pointer(h), unsafe.Sizeof(*h))
	add(unsafe.Pointer(h.Side), unsafe.Sizeof(*h))
	for _, p := range h.Points {
		add(unsafe.Pointer(p), size)
	}
	for _, l := range h.Lists {
		add(unsafe.Pointer(unsafe.SliceData(l)), size*uintptr(len(l)))
	}
	for _, p := range h.Number {
		add(unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	add(unsafe.Pointer(h.Whole), 5*size)
	return all
}

// relations returns for each two references that overlap the distance of their beginnings.
func (h *hall) relations() (all []int64) {
	refs := h.refs()
	for _, a := range refs {
		for _, b := range refs {
			n := int64(-1 << 40)
			if a[0] < b[1] && b[0] < a[1] {
				n = int64(b[0] - a[0])
			}
			all = append(all, n)
		}
	}
	return all
}

func newHall(rng *rand.Rand) *hall {
	h := &hall{Side: &hall{}}
	lists := [][]auditCell{h.Row[:], h.Side.Row[:], make([]auditCell, 6), make([]auditCell, 4)}
	some := func() []auditCell { return lists[rng.IntN(len(lists))] }
	one := func() *auditCell { l := some(); return &l[rng.IntN(len(l))] }
	for i := range h.Lists {
		l := some()
		from := rng.IntN(len(l))
		h.Lists[i] = l[from : from+1+rng.IntN(len(l)-from)]
	}
	for i := range h.Points {
		h.Points[i] = []*auditCell{nil, one(), {}}[rng.IntN(3)]
	}
	for i := range h.Number {
		h.Number[i] = []*int{nil, &one().X, &one().Y, new(int)}[rng.IntN(4)]
	}
	h.Whole = []*[5]auditCell{nil, &h.Side.Row, &h.Row, {}}[rng.IntN(4)]
	return h
}

// If a reference no longer refers to a part of what another one refers to, or now does, there is a difference.
func TestFields_ReplacedReferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	changed, missed := 0, 0
	for range 3000 {
		h := newHall(rng)
		before := h.relations()
		check := engine.Fields(nil, h)()
		if found := check(); len(found) > 0 {
			t.Fatal(texts(found))
		}
		switch k := rng.IntN(4); {
		case k == 0:
			i := rng.IntN(len(h.Lists))
			h.Lists[i] = slices.Clone(h.Lists[i])
		case k == 1:
			i := rng.IntN(len(h.Points))
			if p := h.Points[i]; p != nil {
				c := *p
				h.Points[i] = &c
			}
		case k == 2:
			i := rng.IntN(len(h.Number))
			if p := h.Number[i]; p != nil {
				c := *p
				h.Number[i] = &c
			}
		case h.Whole != nil:
			c := *h.Whole
			h.Whole = &c
		}
		found := check()
		switch same := slices.Equal(before, h.relations()); {
		case same && len(found) > 0:
			t.Fatalf("nothing differs: %s", texts(found))
		case !same:
			changed++
			if len(found) == 0 {
				missed++
			}
		}
	}
	if missed > 0 || changed < 1000 {
		t.Errorf("%d of %d replaced references are missed", missed, changed)
	}
}

// A load may make all variables again, if they refer to each other as before.
func TestFields_AllIsMadeAgain(t *testing.T) {
	for seed := range uint64(500) {
		made := func() *hall { return newHall(rand.New(rand.NewPCG(seed, 4))) }
		s := &struct {
			Last *auditCell
			H    *hall
		}{H: made()}
		s.Last = &s.H.Row[3]
		check := engine.Fields(nil, s)()
		s.H = made()
		s.Last = &s.H.Row[3]
		if found := check(); len(found) > 0 {
			t.Fatal(texts(found))
		}
	}
}

// A pointer to an element of an array in a struct that was replaced is named, and not what it referred to.
func TestFields_ReplacedPointerIsNamed(t *testing.T) {
	type game struct {
		Cur  *auditCell
		X    *int
		Row  [3]auditCell
		Next *auditCell
	}
	for name, change := range map[string]func(g *game){
		"Cur":  func(g *game) { g.Cur = &auditCell{} },
		"X":    func(g *game) { g.X = new(int) },
		"Next": func(g *game) { g.Next = &auditCell{} },
	} {
		g := &game{}
		g.Cur, g.X, g.Next = &g.Row[1], &g.Row[1].X, &g.Row[2]
		check := engine.Fields(nil, g)()
		change(g)
		if found := check(); len(found) != 1 || !strings.HasSuffix(found[0].Path, "game."+name) || !strings.Contains(texts(found), "a part of another variable, 0 for none: ") {
			t.Errorf("%s is replaced: %s", name, texts(found))
		}
	}
}
