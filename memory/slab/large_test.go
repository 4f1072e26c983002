package slab

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

// stern is a Large that panics in every call, as one does whose own caller erred.
type stern struct{}

func (stern) Alloc(uintptr, uintptr) (unsafe.Pointer, error) { panic("stern: Alloc") }
func (stern) Free(unsafe.Pointer, uintptr)                   { panic("stern: Free") }
func (stern) FreeAny(unsafe.Pointer)                         { panic("stern: FreeAny") }
func (stern) SizeOf(unsafe.Pointer) uintptr                  { panic("stern: SizeOf") }
func (stern) Resize(unsafe.Pointer, uintptr, uintptr) bool   { panic("stern: Resize") }

func TestLarge_APanicLeavesTheBooksAsTheyWere(t *testing.T) {
	alone := newHeap(t, Config{Large: stern{}})
	central, caches := newCaches(t, Config{Large: stern{}}, 1)
	for _, a := range []resizer{alone, central, caches[0]} {
		p := memtest.MustAlloc(t, a, 64, 16)
		foreign := unsafe.Pointer(new([2]uint64))
		before, beside := alone.Stats(), central.Stats()
		for op, f := range map[string]func(){
			"Alloc":   func() { _, _ = a.Alloc(5000, 16) },
			"Free":    func() { a.Free(foreign, 5000) },
			"FreeAny": func() { a.FreeAny(foreign) },
			"SizeOf":  func() { alone.SizeOf(foreign) },
			"Resize":  func() { a.Resize(foreign, 5000, 6000) },
		} {
			if said := panicOf(f); said != "stern: "+op {
				t.Errorf("%T.%s: %v", a, op, said)
			}
		}
		if alone.Stats() != before || central.Stats() != beside {
			t.Errorf("%T: a panic in Large changed the books", a)
		}
		a.Free(p, 64)
		sound(t, central, caches[0])
		memtest.MustCheck(t, alone)
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// mute is a Large without capabilities beyond the contract.
type mute struct{ memory.Allocator }

func TestLarge_WithoutCapabilitiesIsNotAsked(t *testing.T) {
	h := newHeap(t, Config{Large: mute{new(fakeLarge)}})
	p := memtest.MustAlloc(t, h, 5000, 16)
	memtest.Misuse(t, func() { h.FreeAny(p) }, "slab.FreeAny", "foreign pointer")
	memtest.Misuse(t, func() { h.SizeOf(p) }, "slab.SizeOf", "foreign pointer")
	h.Free(p, 5000)
}

// A sizeless Large knows its range, and neither sizes nor FreeAny.
type sizeless struct {
	memory.Allocator
	memory.Owner
}

func TestSizeOf_ALargeWithoutItIsNamed(t *testing.T) {
	large, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	var own byte
	for _, c := range []struct {
		large         memory.Allocator
		mine, foreign []string
	}{
		{mute{large}, []string{"or a block of Large", "slab.mute has no "}, []string{"foreign pointer"}},
		{sizeless{large, large}, []string{"it lies in Large", "slab.sizeless has no "}, []string{"foreign pointer: it lies neither"}},
	} {
		h := newHeap(t, Config{Large: c.large})
		for _, a := range []interface {
			memory.Allocator
			memory.AnyFreer
			memory.Sizer
		}{h, mustCentral(newHeap(t, Config{Large: c.large}))} {
			p := memtest.MustAlloc(t, a, 5000, 16)
			memtest.Misuse(t, func() { a.SizeOf(p) }, append(c.mine, "slab.SizeOf", "has no SizeOf")...)
			memtest.Misuse(t, func() { a.FreeAny(p) }, append(c.mine, "slab.FreeAny", "has no FreeAny")...)
			memtest.Misuse(t, func() { a.SizeOf(unsafe.Pointer(&own)) }, c.foreign...)
			memtest.Misuse(t, func() { a.FreeAny(unsafe.Pointer(&own)) }, c.foreign...)
			a.Free(p, 5000)
		}
	}
	h := newHeap(t, Config{Large: large})
	p := memtest.MustAlloc(t, h, 5000, 16)
	if h.SizeOf(p) != large.SizeOf(p) {
		t.Errorf("SizeOf = %d", h.SizeOf(p))
	}
	h.FreeAny(p)
}

func TestNew_RefusesWhatItCannotCount(t *testing.T) {
	most := "want 65536 to 68719411200" // 64 GiB less 64 KiB
	if math.MaxUint == math.MaxUint32 {
		most = "want 65536 to 4294770687" // 192 KiB below the last address
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Reserve: ^uintptr(0)}, "slab: new Heap: Reserve"},
		{Config{Reserve: ^uintptr(0) - largest}, "slab: new Heap: Reserve"},
		{Config{Reserve: ^uintptr(0) - maxSpan*unitBytes}, "slab: new Heap: Reserve"},
		{Config{Reserve: uintptr(maxReserve) + 1}, "slab: new Heap: Reserve"},
		{Config{Reserve: ^uintptr(0)}, most},
		{Config{Reserve: largest - 1}, "Reserve 65535: want 65536"},
		{Config{MaxSize: largest + 1}, "MaxSize 65537: want at most 65536"},
		{Config{MaxSize: ^uintptr(0)}, "slab: new Heap: MaxSize"},
		{Config{Classes: Fibonacci + 1}, "Classes ClassTable(4): want"},
		{Config{Classes: Step16, MaxSize: 4097}, "258 classes, want at most 256"},
	} {
		h, err := New(nil, c.cfg)
		if h != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v) = %v, %v; want an error with %q", c.cfg, h, err, c.want)
		}
	}
}

// unresizable is a Large that knows its blocks and cannot resize them.
type unresizable struct {
	memory.Allocator
	memory.Sizer
	memory.Owner
}

func TestLarge_ThatCannotResizeIsAskedWhetherTheBlockIsOne(t *testing.T) {
	under := newHeap(t, Config{MaxSize: 64 << 10})
	h := newHeap(t, Config{Large: unresizable{under, under, under}})
	p := memtest.MustAlloc(t, h, 5000, 16)
	memtest.MustAlloc(t, h, 16, 16)
	before := h.Stats()
	other := make([]byte, 6000)
	resizes := map[string]func(){
		"foreign pointer":                    func() { h.Resize(unsafe.Pointer(unsafe.SliceData(other)), 6000, 7000) },
		"interior pointer":                   func() { h.Resize(unsafe.Add(p, 16), 5000, 7000) },
		"wrong size: the block of Large has": func() { h.Resize(p, 1<<20, 7000) },
	}
	if !invariant.Exact { // memfast builds keep no live bits
		delete(resizes, "interior pointer")
	}
	for want, f := range resizes {
		memtest.Misuse(t, f, want)
		memtest.Misuse(t, func() { _, _ = memory.Grow(h, unsafe.Pointer(unsafe.SliceData(other)), 6000, 7000, 16) }, "foreign pointer")
	}
	if h.Resize(p, 5000, 7000) || h.Resize(p, 5000, 16) || h.Stats() != before {
		t.Errorf("%+v, was %+v", h.Stats(), before)
	}
	if under.Free(p, 5000); invariant.Exact {
		memtest.Misuse(t, func() { h.Resize(p, 5000, 7000) }, "not live")
	}
}

func TestLarge_ThatIsANilPointerIsRefused(t *testing.T) {
	if h, err := New(nil, Config{Large: (*Heap)(nil)}); h != nil || err == nil || !strings.Contains(err.Error(), "Large is a nil *slab.Heap") {
		t.Errorf("%v, %v", h, err)
	}
}
