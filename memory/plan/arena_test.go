package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

var wordType = memory.MustType[uint32]()

func newArena(t testing.TB, set []Buffer) *Arena {
	t.Helper()
	a, err := New(nil, mustFast(t, set))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Check(), a.Close(), a.Close(), a.Check()); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestArena_GetIsBasePlusOffset(t *testing.T) {
	a := newArena(t, frame)
	for id := range uint32(5) {
		b := a.Plan().Buffer(id)
		p := a.Get(id)
		if uintptr(p)-uintptr(a.base) != a.Plan().Offset(id) || uintptr(p)%b.Align != 0 || !a.Owns(p) {
			t.Errorf("buffer %d at %p", id, p)
		}
	}
	if a.Owns(unsafe.Pointer(a)) {
		t.Error("it owns an address in the Go heap")
	}
}

func TestArena_AnyIDAndLargeAlignment(t *testing.T) {
	a := newArena(t, []Buffer{
		{ID: 0, Size: 100, Align: MaxAlign, Death: 2}, {ID: 7, Size: 300, Align: 4, Death: 2}, {ID: math.MaxUint32, Size: 64, Align: 65536, Death: 1},
	})
	for _, id := range []uint32{0, 7, math.MaxUint32} {
		p, b := a.Get(id), a.Plan().Buffer(id)
		if uintptr(p)-uintptr(a.Base()) != a.Plan().Offset(id) || uintptr(p)%b.Align != 0 || !a.Owns(p) || !a.Owns(unsafe.Add(p, b.Size-1)) {
			t.Errorf("buffer %d at %p", id, p)
		}
	}
	s, err := Slice(a, wordType, 7)
	if err != nil || len(s) != 75 || unsafe.Pointer(&s[0]) != a.Get(7) {
		t.Errorf("%d words, %v", len(s), err)
	}
	s[74] = 1
	memtest.Misuse(t, func() { a.Get(1) }, "plan.Get", "buffer 1 is not in the plan of 3")
	memtest.Misuse(t, func() { a.Get(math.MaxUint32 - 1) }, "is not in the plan")
	a.Begin(0)
	a.Advance(1)
	if invariant.Debug {
		memtest.Misuse(t, func() { a.Get(math.MaxUint32) }, "plan.Get", "buffer 4294967295 lives in [0, 1) and it is 1")
	}
	memtest.MustCheck(t, a)
	if n := testing.AllocsPerRun(100, func() { a.Get(7) }); n != 0 {
		t.Errorf("Get allocates %v times", n)
	}
}

func TestArena_ANewBlockIsZero(t *testing.T) {
	a := newArena(t, frame)
	for _, w := range unsafe.Slice((*byte)(a.base), a.plan.total) {
		if w != 0 {
			t.Fatal("not zero")
		}
	}
}

func TestArena_StrayIDsPanic(t *testing.T) {
	a := newArena(t, frame)
	memtest.Misuse(t, func() { a.Get(5) }, "plan.Get", "buffer 5 is not in the plan of 5")
	memtest.Misuse(t, func() { _, _ = Slice(a, wordType, 1<<31) }, "plan.Get", "not in the plan")
	empty := newArena(t, nil)
	memtest.Misuse(t, func() { empty.Get(0) }, "plan of 0")
	empty.Begin(0)
	empty.Reset()
}

func TestSlice_HoldsWhatTheSizeAllows(t *testing.T) {
	a := newArena(t, frame)
	s, err := Slice(a, wordType, 0)
	if err != nil || len(s) != 250 || cap(s) != 250 || unsafe.Pointer(&s[0]) != a.Get(0) {
		t.Errorf("%d of %d words, %v", len(s), cap(s), err)
	}
	if s, err := Slice(a, memory.MustType[[3]uint64](), 1); err != nil || len(s) != 20 {
		t.Errorf("%d triples in 500 bytes, %v; want 20", len(s), err)
	}
	if s, err := Slice(a, wordType, 4); err != nil || len(s) != 0 {
		t.Errorf("size 0: %d words, %v", len(s), err)
	}
	halves := newArena(t, []Buffer{{Size: 300, Align: 2, Death: 1}})
	if s, err := Slice(halves, wordType, 0); !errors.Is(err, memory.ErrAlign) || s != nil {
		t.Errorf("words of 4 in a buffer aligned to 2: %v", err)
	}
	if s, err := Slice(a, memory.MustType[[1 << 10]byte](), 0); err != nil || len(s) != 0 || cap(s) != 0 {
		t.Errorf("values of 1024 bytes in 1000: %d, %v", len(s), err)
	}
	if _, err := Slice(a, memory.Type[uint32]{}, 0); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("without proof: %v", err)
	}
	if _, err := Slice(a, memory.MustType[struct{}](), 0); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("a type without size: %v", err)
	}
}

// Every buffer keeps its content from birth to death while all others write theirs.
func TestArena_ContentSurvivesItsLifetime(t *testing.T) {
	buffers, _ := cut(5, 120, 10)
	for i := range buffers {
		buffers[i].Size = buffers[i].Size/64*4 + 4
		buffers[i].Align = 4
	}
	p, _ := mustExact(t, buffers, Limits{Steps: 5000})
	a, err := New(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for now := range 4000 {
		if now == 0 {
			a.Begin(0)
		} else {
			a.Advance(now)
		}
		for id := range uint32(p.Len()) {
			b := p.Buffer(id)
			born, dying := b.Birth == now, b.Death == now+1
			if !born && !dying {
				continue
			}
			s, err := Slice(a, wordType, id)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s {
				if born {
					s[i] = id
				}
				if s[i] != id {
					t.Fatalf("at %d buffer %d has lost its content to %#x", now, id, s[i])
				}
			}
		}
	}
}

func TestArena_TimeRunsForwards(t *testing.T) {
	a := newArena(t, frame)
	memtest.Misuse(t, func() { a.Advance(1) }, "plan.Advance", "no Begin")
	a.Begin(2)
	a.Advance(2)
	a.Advance(4)
	memtest.Misuse(t, func() { a.Advance(3) }, "it is 4 already, not 3")
	a.Begin(0)
	a.Advance(1)
	a.Reset()
	memtest.Misuse(t, func() { a.Advance(2) }, "no Begin, or a Reset since")
}

func TestArena_DebugBuildsCheckLifetimes(t *testing.T) {
	if !invariant.Debug {
		t.Skip("needs -race or -tags memdebug")
	}
	a := newArena(t, frame)
	a.Get(1) // no moment, no check
	a.Begin(0)
	a.Get(0)
	memtest.Misuse(t, func() { a.Get(1) }, "plan.Get", "buffer 1 lives in [2, 5) and it is 0")
	s, _ := Slice(a, wordType, 0)
	if s[0] != 0xCDCDCDCD {
		t.Errorf("buffer 0 is born with %#x", s[0])
	}
	s[249] = 7
	a.Advance(1)
	if s[249] != 7 {
		t.Error("living bytes were filled")
	}
	a.Advance(2) // buffer 1 is born in the first 500 bytes of buffer 0
	memtest.Misuse(t, func() { a.Get(0) }, "lives in [0, 2) and it is 2")
	if s[0] != 0xCDCDCDCD || s[249] != 0xDDDDDDDD {
		t.Errorf("where buffer 0 was: %#x, %#x; want a new birth, and the dead", s[0], s[249])
	}
	a.Reset()
	if s[0] != 0xDDDDDDDD {
		t.Errorf("after Reset: %#x", s[0])
	}
	a.Get(0)
}

func TestArena_UseAfterClose(t *testing.T) {
	a := newArena(t, frame)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	refusesAsClosed(t, a)
	if a.Base() != nil {
		t.Error("a closed arena has a base")
	}
}

func TestArena_StatsBalance(t *testing.T) {
	a := newArena(t, frame)
	s := a.Stats()
	if s.InUse != 1300 || s.Requested != 1300 || s.Peak != 1300 || s.Live != 5 || s.Allocs != 5 || s.Frees != 0 || s.InUse > s.Committed || s.Committed > s.Reserved {
		t.Errorf("open: %+v", s)
	}
	if n := testing.AllocsPerRun(100, func() { _ = a.Stats() }); n != 0 {
		t.Errorf("Stats allocates %v times", n)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if s := a.Stats(); s.InUse != 0 || s.Live != 0 || s.Frees != 5 || s.Committed != 0 || s.Reserved != 0 || s.Peak != 1300 {
		t.Errorf("closed: %+v", s)
	}
}

func TestNew_FaultsChangeNothing(t *testing.T) {
	p := mustFast(t, frame)
	for call := 1; call <= 2; call++ {
		src := memtest.NewFaulty()
		src.FailAt, src.ForGood = call, true
		if a, err := New(src, p); a != nil || !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "new Arena of 1300 bytes") {
			t.Errorf("call %d fails: %v", call, err)
		}
		if src.Reserved() != 0 {
			t.Errorf("call %d fails: %d reservations left", call, src.Reserved())
		}
		src.FailAt = 0
		a, err := New(src, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("Close: %v, %d left", err, src.Reserved())
		}
	}
	if _, err := New(nil, nil); err == nil || !strings.Contains(err.Error(), "Fast, Exact or Load") {
		t.Errorf("a nil plan: %v", err)
	}
}

func TestArena_CloseThatFailsMayBeRepeated(t *testing.T) {
	src := memtest.NewFaulty()
	a, err := New(src, mustFast(t, frame))
	if err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if err := a.Close(); err == nil {
		t.Fatal("Close hid that the memory could not be returned")
	}
	src.FailReturns = false
	if err := a.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("second Close: %v, %d left", err, src.Reserved())
	}
}

func TestArena_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*Arena)
	}{
		{"offsets are not the plan's", func(a *Arena) { a.offsets[1] = 64 }},
		{"does not hold a plan", func(a *Arena) { a.base = unsafe.Add(a.base, 64) }},
		{"overlap while both live", func(a *Arena) { a.plan.offsets[2] = 0 }},
		{"does not hold a plan", func(a *Arena) { a.plan.total = a.mem.Committed() + 1 }},
		{"closed arena holds", func(a *Arena) { a.base = nil }},
	} {
		a := newArena(t, frame)
		restore, plan := memtest.Keep(a), *a.plan
		plan.offsets = append([]uintptr(nil), plan.offsets...)
		offsets := append([]uintptr(nil), a.offsets...)
		c.corrupt(a)
		if err := a.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		restore()
		*a.plan, a.offsets = plan, offsets
	}
}

func TestArena_CloseAtFaultsHandsOutNothingThatIsGone(t *testing.T) {
	memtest.CloseAtFaults(t, func(src page.Source) (*Arena, []func()) {
		a, err := New(src, mustFast(t, frame))
		if err != nil {
			t.Fatal(err)
		}
		id := frame[0].ID
		return a, []func(){func() { *(*byte)(a.Get(id)) = 1 }, a.Reset, func() { a.Begin(0) }}
	})
}
