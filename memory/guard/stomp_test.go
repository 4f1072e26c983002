package guard

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func newStomp(t *testing.T, cfg StompConfig) *Stomp {
	t.Helper()
	if cfg.Reserve == 0 {
		cfg.Reserve = 16 << 20
	}
	s, err := NewStomp(nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var leaks *LeakError
		if err := s.Close(); err != nil && !errors.As(err, &leaks) {
			t.Error(err)
		}
	})
	return s
}

// faults reports whether a touch of p faults.
func faults(p unsafe.Pointer) (yes bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { yes = recover() != nil }()
	*(*byte)(p)++
	return
}

// unit is what a block takes at least, and twoUnits the size of one that takes two. Some systems have
// pages that are larger than a granule.
var (
	unit     = page.SizeOf(page.Default())
	twoUnits = unit + 3616
)

// nothingFaults: memory of the Go heap stays accessible.
var nothingFaults = page.Default() == page.Heap()

func TestStomp_ATouchOffTheEndOrAfterTheFreeFaultsOnItsLine(t *testing.T) {
	if nothingFaults {
		t.Log("the Go heap faults nowhere: the checks that remain are tested by the others")
	}
	for _, front := range []bool{false, true} {
		for _, size := range []uintptr{1, 7, 100, unit, unit + 1} {
			s := newStomp(t, StompConfig{Front: front})
			p := memtest.MustAlloc(t, s, size, 1)
			off := int(size)
			if front {
				off = -1
			}
			if faults(p) || faults(unsafe.Add(p, size-1)) {
				t.Fatalf("front %t: a block of %d bytes cannot be used", front, size)
			}
			if !nothingFaults && !faults(unsafe.Add(p, off)) {
				t.Errorf("front %t: byte %d of a block of %d can be touched", front, off, size)
			}
			s.Free(p, size)
			if !nothingFaults && !faults(p) {
				t.Errorf("front %t: a block of %d bytes that was freed can be touched", front, size)
			}
			q := memtest.MustAlloc(t, s, size, 1)
			if q == p || !nothingFaults && !faults(p) {
				t.Errorf("front %t: a stale pointer is good again after one allocation", front)
			}
			memtest.MustCheck(t, s)
		}
	}
}

func TestStomp_TheOtherSideAndThePaddingHaveCanaries(t *testing.T) {
	for _, c := range []struct {
		front bool
		size  uintptr
		al    uintptr
		off   int
		what  string
	}{
		{false, 100, 1, -1, "underflow: byte -1"},
		{false, 100, 64, 100, "overflow: byte 100"},
		{true, 100, 1, 100, "overflow: byte 100"},
		{true, 100, 1, int(unit) - 1, fmt.Sprintf("overflow: byte %d", unit-1)},
	} {
		s := newStomp(t, StompConfig{Front: c.front})
		p := memtest.MustAlloc(t, s, c.size, c.al)
		*(*byte)(unsafe.Add(p, c.off)) = 0x41
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.what) {
			t.Errorf("Check = %v; want %q", err, c.what)
		}
		memtest.Misuse(t, func() { s.Free(p, c.size) }, "guard.Free", c.what, "0x41", "allocated at memtest.MustAlloc")
		memtest.MustCheck(t, s)
		s.Free(p, c.size)
	}
}

func TestStomp_MisuseNamesBothSites(t *testing.T) {
	s := newStomp(t, StompConfig{Frames: 4})
	p := memtest.MustAlloc(t, s, 100, 16)
	memtest.Misuse(t, func() { s.Free(p, 99) }, "wrong size: the block was requested with 100 bytes, not 99", "allocated at")
	memtest.Misuse(t, func() { s.Free(unsafe.Add(p, 4), 96) }, "interior pointer: it lies 4 bytes from the start of the block of 100 bytes")
	memtest.Misuse(t, func() { s.FreeAny(unsafe.Pointer(s)) }, "guard.FreeAny", "foreign pointer: it does not lie")
	memtest.Misuse(t, func() { s.FreeAny(s.mem.Base) }, "foreign pointer: no block starts here")
	s.Free(p, 100)
	memtest.Misuse(t, func() { s.Free(p, 100) }, "double free or stale pointer", "allocated at", "first freed at guard.TestStomp_MisuseNamesBothSites")
	memtest.Misuse(t, func() { s.SizeOf(p) }, "guard.SizeOf", "stale pointer")
	s.Free(nil, 1)
	s.FreeAny(nil)
}

func TestStomp_AddressesComeAgainLastFreedLast(t *testing.T) {
	s := newStomp(t, StompConfig{Blocks: 4})
	var first [4]unsafe.Pointer
	for i := range first {
		first[i] = memtest.MustAlloc(t, s, 100, 16)
		s.Free(first[i], 100)
	}
	for i := range first {
		if p := memtest.MustAlloc(t, s, 100, 16); p != first[i] {
			t.Errorf("allocation %d is at %p; want %p, vacant longest", i, p, first[i])
		}
	}
	var full *memory.Exhausted
	if _, err := s.Alloc(100, 16); !errors.As(err, &full) || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("a fifth block of four: %v", err)
	}
	s.Free(first[3], 100)
	if _, err := s.Alloc(3*unit, 16); err != nil {
		t.Errorf("a larger block where the last one was: %v", err)
	}
	memtest.MustCheck(t, s)
}

func TestStomp_AVacantPlaceServesWhatIsSmaller(t *testing.T) {
	s := newStomp(t, StompConfig{Blocks: 5})
	sizes := []uintptr{4 * unit, 3 * unit, 3 * unit, 100, 100}
	var p []unsafe.Pointer
	for _, size := range sizes {
		p = append(p, memtest.MustAlloc(t, s, size, 1))
	}
	for i, size := range sizes[:4] {
		s.Free(p[i], size)
	}
	for _, want := range []int{3, 1, 2, 0} { // the tightest, of those the one vacant longest
		q := memtest.MustAlloc(t, s, 100, 1)
		if off := uintptr(q) - uintptr(s.mem.Base); off-s.slots[want].off >= unit {
			t.Errorf("a small block is at %d; want it in slot %d", off, want)
		}
		if !nothingFaults && !faults(unsafe.Add(q, 100)) {
			t.Error("the byte behind a small block in a large place can be touched")
		}
		p[want] = q
		memtest.MustCheck(t, s)
	}
	if st := s.Stats(); st.InUse != uint64(5*unit) || st.Live != 5 || st.Requested != 500 {
		t.Errorf("five small blocks: %+v", st)
	}
	s.Free(p[0], 100)
	if _, err := s.Alloc(4*unit, 1); err != nil {
		t.Errorf("the large place is lost: %v", err)
	}
	memtest.MustCheck(t, s)
}

func TestStomp_AFailedCloseHasClosedItAndIsTriedAgain(t *testing.T) {
	src := memtest.NewFaulty()
	s, err := NewStomp(src, StompConfig{Reserve: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p := memtest.MustAlloc(t, s, 100, 1)
	memtest.MustAlloc(t, s, twoUnits, 1)
	src.FailReturnAt = src.Returns() + 1
	var leaks *LeakError
	if err := s.Close(); !errors.As(err, &leaks) || leaks.Leaks[0].Bytes != uint64(twoUnits) || !strings.Contains(err.Error(), "guard: close: guard: trim: ") {
		t.Errorf("Close = %v; want the leaks and what the source said", err)
	}
	if st := s.Stats(); s.Owns(p) || s.Leaks() != nil || st.Live != 0 || st.InUse != 0 || st.Allocs != 2 || st.Frees != 2 || st.Reserved != 4<<20 {
		t.Errorf("after a failed Close: owns %t, leaks %v, %+v", s.Owns(p), s.Leaks(), st)
	}
	if s.Kept() != unit || s.Stats().Committed != uint64(unit) {
		t.Errorf("%d bytes are kept, %d committed; want the first block's %d", s.Kept(), s.Stats().Committed, unit)
	}
	if err := s.Trim(); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Trim: %v", err)
	}
	if _, err := s.Alloc(1, 1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Alloc: %v", err)
	}
	memtest.Misuse(t, func() { s.Free(p, 100) }, "guard.Free", "the allocator is closed")
	memtest.MustCheck(t, s)
	if err := s.Close(); err != nil || src.Reserved() != 0 || s.Stats().Reserved != 0 {
		t.Errorf("a second Close: %v, %d reservations", err, src.Reserved())
	}
}

func TestStomp_CloseReportsLeaksAndDamage(t *testing.T) {
	s := newStomp(t, StompConfig{})
	p := memtest.MustAlloc(t, s, 100, 16)
	*(*byte)(unsafe.Add(p, -1)) = 1
	var leaks *LeakError
	var damage *memory.Misuse
	err := s.Close()
	if !errors.As(err, &leaks) || leaks.Leaks[0].Blocks != 1 || leaks.Leaks[0].Bytes != 100 || !errors.As(err, &damage) {
		t.Errorf("Close = %v; want a leak of 100 bytes and an underflow", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestNewStomp_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	memtest.Refuses(t, NewStomp, map[string]StompConfig{
		"Blocks -1: want 1 to 1048576": {Blocks: -1},
		"Blocks 1048577: want 1":       {Blocks: 1<<20 + 1},
		"Frames 17: want 1":            {Frames: 17},
		"Frames -1: want 1":            {Frames: -1},
		fmt.Sprint(3 * unit):           {Reserve: 3*unit - 1},
	})
}

// endedSource is a source whose Watch says that it has ended.
type endedSource struct{ page.Source }

func (endedSource) Watch(func()) func() { return nil }

func TestNewStomp_OnASourceThatHasEndedIsRefused(t *testing.T) {
	if s, err := NewStomp(endedSource{page.Heap()}, StompConfig{Reserve: 16 << 20}); s != nil || !errors.Is(err, memory.ErrClosed) {
		t.Error(err)
	}
}

func TestStomp_HalvesWhatTheSystemRefuses(t *testing.T) {
	src := memtest.NewFaulty()
	src.FailAt = 1
	s, err := NewStomp(src, StompConfig{Reserve: 4 << 20})
	if err != nil || s.Stats().Reserved != 2<<20 {
		t.Fatalf("reserved %d, %v; want 2 MiB", s.Stats().Reserved, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// dropping is a Stomp whose Close means to drop what is live: the suite does.
type dropping struct{ *Stomp }

func (d dropping) Close() error {
	err := d.Stomp.Close()
	if leaks := (*LeakError)(nil); errors.As(err, &leaks) && err.Error() == leaks.Error() {
		return nil
	}
	return err
}

func stomper(cfg StompConfig) memtest.Subject {
	return memtest.Subject{
		MaxSize: 40_000, Allocs: 1 << 14, Package: "guard", ExactSizes: true, Hoards: true, Closed: memory.ErrClosed, ClosesAnyway: true,
		New: func(src page.Source) (memory.Allocator, error) {
			s, err := NewStomp(src, cfg)
			return dropping{s}, err
		},
	}
}

func TestStomp_Conformance(t *testing.T) {
	testenv.Long(t)
	s := stomper(StompConfig{Reserve: 16 << 20})
	if !testenv.Full() { // Check reads the granules of every block that is live
		s.MaxSize = 10_000
	}
	memtest.Run(t, s)
}

func TestStomp_Faults(t *testing.T) {
	testenv.Long(t)
	blocks := 32
	if testenv.Brief() { // Check reads the granules of every block that is live
		blocks = 12
	}
	memtest.Faults(t, stomper(StompConfig{Reserve: 16 << 20, Blocks: blocks, Front: true}))
}
func FuzzStomp(f *testing.F) { memtest.Fuzz(f, stomper(StompConfig{Reserve: 16 << 20})) }

func TestStomp_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	s := newStomp(t, StompConfig{Blocks: 8})
	var p [6]unsafe.Pointer
	for i := range p {
		p[i] = memtest.MustAlloc(t, s, uintptr(i)*5000+1, 8)
	}
	s.Free(p[2], 10001)
	s.Free(p[4], 20001)
	f := memtest.EveryBit(t, s.Check, &s.slots, &s.queue, &s.next, &s.kept, &s.stats, &s.gone)
	if f.Named*2 < f.Flipped {
		t.Errorf("%+v: too few were named", f)
	}
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	a := furnished(t)
	f := memtest.EveryBit(t, a.Check, &a.books.records, &a.books.inUse, &a.books.requested, &a.books.held, &a.books.goneCount,
		&a.books.spare, &a.allocs, &a.frees, &a.failures, &a.peak, &a.cfg)
	if f.Named*2 < f.Flipped {
		t.Errorf("%+v: too few were named", f)
	}
	if invariant.Debug {
		t.Log(f)
	}
}
