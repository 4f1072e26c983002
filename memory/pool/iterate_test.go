package pool

import (
	"math/bits"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// fill makes n objects, numbered by their ID from 0.
func fill(t *testing.T, p *Pool[enemy], n int) (handles []memory.Handle[enemy]) {
	t.Helper()
	for i := range n {
		h, v := mustNew(t, p)
		v.ID = uint64(i)
		handles = append(handles, h)
	}
	return handles
}

func TestPool_ABodyMayPanic(t *testing.T) {
	p := newPool(t, nil, 1000)
	fill(t, p, 200)
	visited := 0
	func() {
		defer func() {
			if r := recover(); r != any("body") {
				t.Errorf("recovered %v", r)
			}
		}()
		for h := range p.All() {
			if visited++; visited == 70 {
				p.Free(h)
				panic("body")
			}
		}
	}()
	mustCheck(t, p)
	left := 0
	for range p.All() {
		left++
	}
	if visited != 70 || left != 199 || p.Len() != 199 {
		t.Errorf("visited %d, then %d are left, len %d", visited, left, p.Len())
	}
	mustNew(t, p)
}

func TestPool_ABodyThatLeavesMayBeginAgain(t *testing.T) {
	p := newPool(t, nil, 1000)
	fill(t, p, 200)
	seq := p.All()
	for range 2 { // an iterator restarts each time
		n := 0
		for _, v := range seq {
			if v.ID != uint64(n) {
				t.Fatalf("visit %d is object %d", n, v.ID)
			}
			if n++; n == 100 {
				break
			}
		}
	}
}

// A walk goes upwards, so it ends at capacity at the latest, whatever its body makes.
func TestPool_ABodyMayMakeAndFree(t *testing.T) {
	p := newPool(t, nil, 500)
	fill(t, p, 100)
	visited, made := map[uint32]bool{}, 0
	for h, v := range p.All() {
		if visited[h.Index()] {
			t.Fatalf("slot %d is visited twice", h.Index())
		}
		visited[h.Index()] = true
		v.X = 1
		p.Free(h)
		for range 3 { // the slot just freed, and two others
			if _, _, err := p.New(); err == nil {
				made++
			}
		}
	}
	if p.Len() != 500 || made != 400+len(visited) {
		t.Errorf("%d live, %d made, %d visited", p.Len(), made, len(visited))
	}
	mustCheck(t, p)
}

func TestPool_ABodyMayResetTrimOrClose(t *testing.T) {
	for name, end := range map[string]func(p *Pool[enemy]){
		"Reset": (*Pool[enemy]).Reset,
		"Close": func(p *Pool[enemy]) { p.Close() },
		"Trim": func(p *Pool[enemy]) {
			p.Reset()
			p.Trim()
		},
	} {
		p := newPool(t, nil, 1000)
		fill(t, p, 200)
		n := 0
		for range p.All() {
			if n++; n == 3 {
				end(p)
			}
		}
		for range p.All() {
			n++
		}
		if n != 3 || p.Len() != 0 {
			t.Errorf("%s: %d were visited, %d are left", name, n, p.Len())
		}
		mustCheck(t, p)
	}
}

func TestSplit_ABodyMayCloseAndPanic(t *testing.T) {
	p := newSplit(t, nil, 1000)
	for range 100 {
		p.New()
	}
	n := 0
	func() {
		defer func() { recover() }()
		for h := range p.All() {
			if n++; n == 3 {
				panic(h)
			}
		}
	}()
	for h := range p.All() {
		p.Free(h)
		if n++; n == 10 {
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 10 || p.Len() != 0 {
		t.Errorf("%d visited, %d left", n, p.Len())
	}
	mustCheck(t, p)
}

// A source that panics, as a callback on a budget's mark may, leaves the pools usable.
func TestPools_ASourceThatPanicsChangesNothing(t *testing.T) {
	for call := 2; call < 8; call++ {
		src := memtest.NewFaulty()
		src.PanicAt = call
		p, err := New[odd](src, Config{Capacity: 2000})
		if err != nil {
			t.Fatal(err)
		}
		s, err := func() (s *Split[body, sheet], err error) {
			defer func() { recover() }()
			return NewSplit[body, sheet](src, Config{Capacity: 20_000})
		}()
		if err != nil {
			t.Fatal(err)
		}
		for range 1500 {
			func() {
				defer func() {
					if r := recover(); r != nil && r != any(memtest.ErrInjected) {
						t.Fatal(r)
					}
				}()
				p.New()
				if s != nil {
					s.New()
				}
			}()
		}
		mustCheck(t, p)
		if p.Len() < 1499 {
			t.Errorf("call %d: %d objects", call, p.Len())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if s != nil {
			mustCheck(t, s)
			if err := s.Close(); err != nil || src.Reserved() != 0 {
				t.Errorf("call %d: %v, %d reservations left", call, err, src.Reserved())
			}
		}
	}
}

// Freed slots are poisoned in debug builds: those, and no byte beside them.
func TestPools_AFreeLeavesTheNeighboursAlone(t *testing.T) {
	p, s, b := newPool(t, nil, 100), newSplit(t, nil, 100), newBlocks(t, nil, BlocksConfig{Size: 32, Capacity: 100})
	var objects [9]*enemy
	var hots [9]*body
	var colds [9]*sheet
	var blocks [9]*[4]uint64
	var handles [9]memory.Handle[enemy]
	var pairs [9]memory.Handle[body]
	for i := range 9 {
		handles[i], objects[i] = mustNew(t, p)
		pairs[i], hots[i], colds[i], _ = s.New()
		blocks[i] = (*[4]uint64)(mustGet(t, b))
		objects[i].X, objects[i].Items[2] = float32(i), uint32(i)
		hots[i].X, hots[i].VY, colds[i].Name[0], colds[i].Stats[39] = float32(i), float32(i), byte(i), uint32(i)
		blocks[i][0], blocks[i][3] = uint64(i), uint64(i)
	}
	for i := range 9 {
		if i%2 != 0 {
			p.Free(handles[i])
			s.Free(pairs[i])
			b.Put(unsafe.Pointer(blocks[i]))
		}
	}
	for i := 0; i < 9; i += 2 {
		f, n := float32(i), uint32(i)
		if *objects[i] != (enemy{X: f, Items: [3]uint32{2: n}}) {
			t.Errorf("object %d is %+v", i, *objects[i])
		}
		if *hots[i] != (body{X: f, VY: f}) || *colds[i] != (sheet{Name: [32]byte{byte(i)}, Stats: [40]uint32{39: n}}) {
			t.Errorf("pair %d is %+v, %+v", i, *hots[i], *colds[i])
		}
		if blocks[i][0] != uint64(i) || blocks[i][3] != uint64(i) {
			t.Errorf("block %d is %v", i, *blocks[i])
		}
	}
}

func TestNewSplit_ASourceThatPanicsGetsTheOtherRegionBack(t *testing.T) {
	src := memtest.NewFaulty()
	src.PanicAt = 2
	func() {
		defer func() {
			if r := recover(); r != any(memtest.ErrInjected) {
				t.Errorf("recovered %v", r)
			}
		}()
		NewSplit[body, sheet](src, Config{Capacity: 100})
	}()
	if src.Calls() != 2 || src.Reserved() != 0 {
		t.Errorf("after %d calls %d regions are reserved", src.Calls(), src.Reserved())
	}
}

func TestPool_LiveSlotsAreTheLiveObjects(t *testing.T) {
	p, err := New[enemy](page.Heap(), Config{Name: "p", Capacity: 200})
	if err != nil {
		t.Fatal(err)
	}
	var handles []memory.Handle[enemy]
	for range 100 {
		h, _, err := p.New()
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, h)
	}
	for i, h := range handles {
		if i%3 == 0 {
			p.Free(h)
		}
	}
	words, size := p.LiveSlots()
	live := 0
	for _, w := range words {
		live += bits.OnesCount64(w)
	}
	if live != p.Len() || live != 66 || uintptr(size) != unsafe.Sizeof(enemy{}) {
		t.Errorf("%d live slots of %d bytes, %d objects", live, size, p.Len())
	}
	p.Reset()
	words, _ = p.LiveSlots()
	for _, w := range words {
		if w != 0 {
			t.Error("a slot is live after Reset")
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if words, _ = p.LiveSlots(); len(words) != 0 {
		t.Error("there are slots after Close")
	}
}
