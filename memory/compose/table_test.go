package compose

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

func TestTable_IsAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []uint64{40, 300, 1 << 24} { // few addresses collide and return, many are new
		var tab table
		tab.grow()
		model, keys := map[uintptr]uintptr{}, []uintptr{}
		for step := range 20_000 {
			addr := uintptr(rng.Uint64N(spread)+1) * 16
			i, ok := tab.find(addr)
			if size, has := model[addr]; has != ok || ok && tab.slots[i].size != size {
				t.Fatalf("step %d: %#x is there: %t, want %t", step, addr, ok, has)
			}
			switch {
			case ok && step%5 == 0:
				tab.resize(i, uintptr(step))
				model[addr] = uintptr(step)
			case ok:
				tab.remove(i)
				delete(model, addr)
			case len(model) < 600:
				tab.add(addr, uintptr(step))
				model[addr] = uintptr(step)
				keys = append(keys, addr)
			default:
				k := rng.IntN(len(keys))
				if i, ok := tab.find(keys[k]); ok {
					tab.remove(i)
					delete(model, keys[k])
				}
			}
			if step%64 == 0 {
				if err := tab.check(); err != nil || tab.n != len(model) {
					t.Fatalf("step %d: %v, %d of %d", step, err, tab.n, len(model))
				}
			}
		}
		var sum uint64
		for _, size := range model {
			sum += uint64(size)
		}
		if tab.sum != sum || len(tab.slots) > 1024 {
			t.Errorf("sum %d, want %d; %d slots for at most 601 blocks", tab.sum, sum, len(tab.slots))
		}
		tab.clear()
		if tab.n != 0 || tab.sum != 0 || tab.check() != nil {
			t.Error("not empty after clear")
		}
	}
}

func TestTable_GrowsAtThreeQuarters(t *testing.T) {
	var tab table
	tab.grow()
	for i := range uintptr(13) {
		if want := map[bool]int{true: 16, false: 32}[i <= 12]; len(tab.slots) != want {
			t.Errorf("%d slots for %d blocks, want %d", len(tab.slots), i, want)
		}
		tab.add(16*(i+1), 1)
	}
	if len(tab.slots) != 32 || tab.check() != nil {
		t.Errorf("%d slots for 13 blocks: %v", len(tab.slots), tab.check())
	}
}

func TestTable_CheckNamesWhatIsCorrupt(t *testing.T) {
	fresh := func() *table {
		var tab table
		tab.grow()
		for i := range uintptr(8) {
			tab.add(4096*(i+1), 10*(i+1))
		}
		return &tab
	}
	at := func(tab *table) int { i, _ := tab.find(4096); return i }
	for want, corrupt := range map[string]func(*table){
		"9 blocks in a table of 16 slots, 8 of them taken": func(tab *table) { tab.n++ },
		"the blocks have 360 bytes, the sum is 361":        func(tab *table) { tab.sum++ },
		"is not where a search for it ends":                func(tab *table) { tab.slots[at(tab)].addr = 8192 },
		"7 of them taken":                                  func(tab *table) { tab.slots[at(tab)].addr = 0 },
		"8 blocks in a table of 8 slots, 8 of them taken":  func(tab *table) { half(tab) },
	} {
		tab := fresh()
		corrupt(tab)
		if err := tab.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// half squeezes the eight blocks of a table into eight slots.
func half(tab *table) {
	var all []slot
	for _, s := range tab.slots {
		if s.addr != 0 {
			all = append(all, s)
		}
	}
	tab.slots = all
}

// A fake allocator is small enough to flip each of its bits.
type fake struct {
	at    [32][8]uint64
	taken [32]bool
	live  uint64
}

func (f *fake) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	for i := range f.at {
		if !f.taken[i] && size <= 64 {
			f.taken[i] = true
			f.live++
			return unsafe.Pointer(&f.at[i]), nil
		}
	}
	return nil, memory.ErrOutOfMemory
}

func (f *fake) Free(p unsafe.Pointer, _ uintptr) {
	f.taken[(uintptr(p)-uintptr(unsafe.Pointer(&f.at)))/64] = false
	f.live--
}

func (f *fake) Owns(p unsafe.Pointer) bool {
	return uintptr(p)-uintptr(unsafe.Pointer(&f.at)) < unsafe.Sizeof(f.at)
}

func TestCheck_EndsWhateverBitIsFlipped(t *testing.T) {
	c, err := newCounted(new(fake), CountedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uintptr(11) {
		memtest.MustAlloc(t, c, i, 8)
	}
	share := 10
	if ^uintptr(0)>>32 == 0 {
		share = 14 // an address has half the bits, and nearly all of those are named
	}
	if f := memtest.EveryBit(t, c.Check, c); f.Named*share < f.Flipped {
		t.Errorf("%+v: Check names less than expected", f)
	}
	l, err := NewLocked(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newCounted(new(fake), CountedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	fb, err := NewFallback(other, c)
	if err != nil {
		t.Fatal(err)
	}
	by, err := NewBySize(9, l, fb)
	if err != nil {
		t.Fatal(err)
	}
	memtest.EveryBit(t, by.Check, by.(core).whole().(*bySize))
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	c, _ := newCounted(new(fake), CountedConfig{})
	p := memtest.MustAlloc(t, c, 40, 8)
	for want, corrupt := range map[string]func(){
		"2 allocations less 0 frees, with 1 blocks of 40 bytes live at a peak of 40": func() { c.allocs++ },
		"1 allocations less 1 frees":               func() { c.frees++ },
		"of 40 bytes live at a peak of 39":         func() { c.peak = 39 },
		"1 allocations less 0 frees, with 1 block": func() { c.closed = true },
	} {
		restore := memtest.Keep(c)
		corrupt()
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		restore()
	}
	c.Free(p, 40)
	memtest.MustCheck(t, c)
}

func BenchmarkSizes(b *testing.B) {
	addrs := make([]uintptr, 4096)
	for i := range addrs {
		addrs[i] = 0x7f00_0000 + uintptr(i*112)
	}
	b.Run("table", func(b *testing.B) {
		var tab table
		tab.grow()
		for _, a := range addrs {
			tab.add(a, 1)
		}
		for i := 0; b.Loop(); i++ {
			a := addrs[i*31%len(addrs)]
			k, _ := tab.find(a)
			tab.remove(k)
			tab.add(a, 1)
		}
	})
	b.Run("map", func(b *testing.B) {
		m := map[uintptr]uintptr{}
		for _, a := range addrs {
			m[a] = 1
		}
		for i := 0; b.Loop(); i++ {
			a := addrs[i*31%len(addrs)]
			delete(m, a)
			m[a] = 1
		}
	})
}
