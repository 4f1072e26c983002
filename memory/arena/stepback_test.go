package arena

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func newStepBack(t testing.TB, bytes uintptr) *StepBack {
	t.Helper()
	s, err := NewStepBack(nil, StepBackConfig{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStepBack_UndoRestoresEachStepToTheByte(t *testing.T) {
	s := newStepBack(t, 100_000)
	var used []uintptr
	for i := range uintptr(50) {
		used = append(used, s.Used())
		mustAlloc(t, s, i*7%40, 1<<(i%13))
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	peak := s.Used()
	for i := len(used) - 1; i >= 0; i-- {
		if !s.Undo() || s.Used() != used[i] || s.Len() != i {
			t.Fatalf("undoing block %d left %d bytes, %d blocks; want %d bytes", i, s.Used(), s.Len(), used[i])
		}
	}
	if s.Undo() {
		t.Error("an empty arena undid a block")
	}
	if st := s.Stats(); st.Allocs != 50 || st.Frees != 50 || st.Peak != uint64(peak) {
		t.Errorf("%+v; want peak %d", st, peak)
	}
}

func TestStepBack_UndoToUndoesAnAttempt(t *testing.T) {
	s := newStepBack(t, 1000)
	mustAlloc(t, s, 10, 1)
	before := s.Len()
	for range 5 {
		mustAlloc(t, s, 20, 16)
	}
	s.UndoTo(before)
	s.UndoTo(before)
	if s.Used() != 10 || s.Len() != 1 {
		t.Errorf("used %d, %d blocks; want 10, 1", s.Used(), s.Len())
	}
	memtest.Misuse(t, func() { s.UndoTo(2) }, "arena.UndoTo", "2 blocks to keep: want 0 to 1, the live blocks")
	memtest.Misuse(t, func() { s.UndoTo(-1) }, "-1 blocks")
}

func TestStepBack_FreeOutOfOrderPanicsWithBothAddresses(t *testing.T) {
	s := newStepBack(t, 1000)
	a := mustAlloc(t, s, 100, 16)
	b := mustAlloc(t, s, 50, 16)
	newest := fmt.Sprintf("the newest block is %#x of 50 bytes", uintptr(b))
	memtest.Misuse(t, func() { s.Free(a, 100) }, fmt.Sprintf("arena.Free(%#x", uintptr(a)), "out of order: 1 newer", newest)
	memtest.Misuse(t, func() { s.Free(a, 99) }, "wrong size: the block has 100 bytes", newest)
	memtest.Misuse(t, func() { s.Free(b, 51) }, "wrong size: the block has 50 bytes", newest)
	memtest.Misuse(t, func() { s.Free(b, 49) }, "wrong size")
	memtest.Misuse(t, func() { s.Free(unsafe.Add(b, 10), 40) }, "interior pointer: it points 10 bytes into a block of 50", newest)
	memtest.Misuse(t, func() { s.Free(mustAlloc(t, newStepBack(t, 100), 50, 1), 50) }, "foreign", newest)
	if s.Len() != 2 {
		t.Errorf("refused frees left %d blocks", s.Len())
	}
	s.Free(b, 50)
	memtest.Misuse(t, func() { s.Free(b, 50) }, "undone already, or foreign")
	s.Free(a, 100)
	memtest.Misuse(t, func() { s.Free(a, 100) }, "no block is live")
}

func TestStepBack_FillsToTheLastByte(t *testing.T) {
	s := newStepBack(t, 100)
	mustAlloc(t, s, 60, 1)
	p := mustAlloc(t, s, 40, 1)
	for _, size := range []uintptr{0, 1, 100, 101, math.MaxUint - 128, math.MaxUint} {
		want := memory.ErrOutOfMemory
		if size > 100 {
			want = memory.ErrTooLarge
		}
		if _, err := s.Alloc(size, 128); !errors.Is(err, want) {
			t.Errorf("Alloc(%d) in a full arena: %v; want %v", size, err, want)
		}
	}
	s.Free(p, 40)
	if p, err := s.Alloc(math.MaxUint-60, 1); err == nil {
		t.Errorf("a size that wraps gave %p", p)
	}
	if s.Available() != 40 || s.Stats().Failures != 7 {
		t.Errorf("available %d, failures %d", s.Available(), s.Stats().Failures)
	}
}

func TestStepBack_FullPassesCheck(t *testing.T) {
	s := newStepBack(t, page.Granule)
	mustAlloc(t, s, page.Granule, 1)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	s.Undo()
	if err := s.Check(); err != nil || s.Stats().Peak != page.Granule {
		t.Errorf("peak %d, %v", s.Stats().Peak, err)
	}
}

func TestStepBack_SizeZeroBlocksHaveTheirOwnAddress(t *testing.T) {
	s := newStepBack(t, 10)
	a, b := mustAlloc(t, s, 0, 1), mustAlloc(t, s, 0, 1)
	memtest.Misuse(t, func() { s.Free(a, 0) }, "out of order")
	s.Free(b, 0)
	memtest.Misuse(t, func() { s.Free(b, 0) }, "undone already")
	s.Free(a, 0)
}

func TestStepBack_NewestBlockResizesInPlace(t *testing.T) {
	s := newStepBack(t, 1000)
	a := mustAlloc(t, s, 10, 1)
	b := mustAlloc(t, s, 10, 16)
	if s.Resize(a, 10, 5) || s.Resize(b, 10, 985) || s.Resize(b, 10, math.MaxUint) || s.Resize(b, 10, math.MaxUint-20) {
		t.Error("an older block was resized, or the newest beyond the end")
	}
	if !s.Resize(b, 10, 984) || s.Available() != 0 || !s.Resize(b, 984, 0) || s.Used() != 17 || !s.Resize(b, 0, 4) {
		t.Errorf("used %d", s.Used())
	}
	memtest.Misuse(t, func() { s.Resize(b, 5, 6) }, "arena.Resize", "wrong size: the block has 4 bytes")
	memtest.Misuse(t, func() { s.Resize(a, 9, 6) }, "wrong size: the block has 10 bytes")
	memtest.Misuse(t, func() { s.Resize(unsafe.Add(b, 1), 3, 6) }, "interior")
	s.Free(b, 4)
	if s.Used() != 10 || s.Stats().Peak != 1000 {
		t.Errorf("used %d, peak %d", s.Used(), s.Stats().Peak)
	}
}

func TestStepBack_UseAfterClose(t *testing.T) {
	s := newStepBack(t, 1000)
	p := mustAlloc(t, s, 10, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if q, err := s.Alloc(0, 1); q != nil || err != memory.ErrClosed {
		t.Errorf("Alloc after Close = %v, %v", q, err)
	}
	memtest.Misuse(t, s.Reset, "arena.Reset", "closed")
	memtest.Misuse(t, func() { s.Undo() }, "arena.Undo", "closed")
	memtest.Misuse(t, func() { s.UndoTo(0) }, "arena.UndoTo", "closed")
	memtest.Misuse(t, func() { s.Free(p, 10) }, "arena.Free", "closed")
	memtest.Misuse(t, func() { s.Resize(p, 10, 5) }, "arena.Resize", "closed")
	if st := s.Stats(); st.Reserved != 0 || st.InUse != 0 || s.Available() != 0 || s.Owns(p) {
		t.Errorf("closed: %+v", st)
	}
}

func TestStepBack_CloseThatFailsMayBeRepeated(t *testing.T) {
	src := memtest.NewFaulty()
	s, err := NewStepBack(src, StepBackConfig{})
	if err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if err := s.Close(); err == nil {
		t.Fatal("Close hid that the memory could not be returned")
	}
	src.FailReturns = false
	if err := s.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("second Close: %v, %d reservations left", err, src.Reserved())
	}
}

func TestStepBack_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	big := uint64(1) << 32
	if uint64(uintptr(big)) != big {
		t.Skip("no such size on this platform")
	}
	_, err := NewStepBack(nil, StepBackConfig{Bytes: uintptr(big)})
	if !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "Bytes 4294967296: want at most 4294967295") {
		t.Errorf("err = %v", err)
	}
}

func TestStepBack_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*StepBack)
	}{
		{"not in order", func(s *StepBack) { s.off = s.limit + 1 }},
		{"not in order", func(s *StepBack) { s.limit = s.mem.Committed() + 1 }},
		{"step 0", func(s *StepBack) { s.steps[0].under = 1 }},
		{"step 1", func(s *StepBack) { s.steps[1].start = s.steps[1].under - 1 }},
		{"step 1", func(s *StepBack) { s.steps[1].under = s.steps[0].start }},
		{"step 1", func(s *StepBack) { s.off = uintptr(s.steps[1].start) }},
		{"step 1", func(s *StepBack) { s.steps[1].start = s.steps[1].under + memory.MaxAlign }},
		{"step 0", func(s *StepBack) { s.steps[0] = step{start: 1, under: 1} }},
		{"off 9128 with no block live", func(s *StepBack) { s.steps = s.steps[:0] }},
		{"2 blocks live of 1", func(s *StepBack) { s.allocs = 1 }},
		{"above the reservation", func(s *StepBack) { s.peak = s.mem.Reserved() + 1 }},
	} {
		s := newStepBack(t, 20_000)
		mustAlloc(t, s, 100, 1)
		mustAlloc(t, s, 9000, 128)
		restore, steps := memtest.Keep(s), append([]step(nil), s.steps...)
		c.corrupt(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		restore()
		copy(s.steps, steps)
	}
}
