package memtest

import (
	"errors"
	"math"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// Run runs the conformance suite on the allocator of s. Each promise is a subtest.
func Run(t *testing.T, s Subject) {
	s = s.withDefaults()
	runAll(t, s, suite)
}

func runAll(t *testing.T, s Subject, promises []promise) {
	for _, c := range promises {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

// A promise is one test of the suite, by name.
type promise struct {
	name string
	test func(testing.TB, Subject)
}

var suite = []promise{
	{"SizesAndAlignments", sizesAndAlignments},
	{"BadAlignmentIsRefused", badAlignment},
	{"HugeRequestIsRefused", hugeRequest},
	{"NilFreeIsANoOp", nilFree},
	{"ExhaustedThenUsableAgain", exhaustion},
	{"FreedMemoryIsFoundAgain", progress},
	{"StatsReturnToZero", statsReturn},
	{"StatsAreTrue", honestStats},
	{"SizeOfIsTrue", honestSizes},
	{"OwnsIsTrue", owns},
	{"LargestFreeIsTrue", honestLargest},
	{"ResizeKeepsItsWord", resizes},
	{"ResizeWithoutMemoryChangesNothing", resizesWithoutMemory},
	{"GrowKeepsTheContents", grows},
	{"MisuseIsRefusedAndChangesNothing", misuses},
	{"ResetFreesEverything", reset},
	{"TrimReturnsWhatResetKeeps", resetThenTrim},
	{"BudgetRefusesAndLetsGoOn", budget},
	{"BaseStays", baseStays},
	{"HooksThatPanicLeaveItUsable", hooks},
	{"CloseTwice", closeTwice},
	{"UseAfterClose", useAfterClose},
	{"SystemKeepsMemory", systemKeepsMemory},
	{"SourceEndsFirst", sourceEndsFirst},
	{"SourceEndsMidway", sourceEndsMidway},
	{"OffsetsBeyond4GiB", far},
	{"Goroutines", goroutines},
	{"NoGoAllocations", noGoAllocations},
	{"RandomProgram", randomProgram},
	{"ManyAllocationsStayApart", manyAllocations},
}

func sizesAndAlignments(t testing.TB, s Subject) {
	for al := uintptr(1); al <= s.MaxAlign; al *= 2 {
		a, shadow := s.make(t, nil), NewShadow(t)
		for _, size := range []uintptr{0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 4095, 4096, s.MaxSize - 1, s.MaxSize} {
			if s.FixedSize != 0 {
				size = s.FixedSize
			}
			if size > s.MaxSize {
				continue
			}
			p, err := a.Alloc(size, al)
			if errors.Is(err, memory.ErrOutOfMemory) && len(shadow.Live()) > 0 {
				continue
			}
			if err != nil {
				t.Fatalf("Alloc(%d, %d): %v", size, al, err)
			}
			shadow.Add(p, size, al)
			if o, ok := a.(memory.Owner); ok && !o.Owns(p) {
				t.Fatalf("Owns(%p) is false for a live block of %d bytes", p, size)
			}
			if z, ok := a.(memory.Sizer); ok {
				if got := z.SizeOf(p); got < size || s.ExactSizes && got != size {
					t.Fatalf("SizeOf(%p) = %d for a block of %d bytes", p, got, size)
				}
			}
			check(t, a)
		}
		shadow.VerifyAll()
		shadow.FreeAll(a)
		check(t, a)
	}
}

func badAlignment(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	for range 2 { // where nothing was handed out yet, and where there is room behind a live block
		before := stats(t, a)
		for _, al := range []uintptr{0, 3, 5, 6, 7, 12, 24, 100, 4095, 4097, 8192, 1 << 20, math.MaxUint} {
			if p, err := a.Alloc(s.size(16), al); !errors.Is(err, memory.ErrAlign) || p != nil {
				t.Errorf("Alloc(%d, %d) = %v, %v; want nil, ErrAlign", s.size(16), al, p, err)
			}
		}
		if after := stats(t, a); after != before {
			t.Errorf("refused requests changed the statistics: %+v, was %+v", after, before)
		}
		check(t, a)
		allocInto(t, a, shadow, s.size(16), 16)
	}
}

func hugeRequest(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	allocInto(t, a, shadow, s.size(16), 16)
	before := stats(t, a)
	sizes := []uintptr{math.MaxUint, math.MaxUint - 15, math.MaxUint - 4096, math.MaxInt, 1 << 31}
	for _, big := range []uint64{1<<32 + 16, 1 << 40} { // what 32-bit books would cut short
		if uint64(uintptr(big)) == big {
			sizes = append(sizes, uintptr(big))
		}
	}
	for _, size := range sizes {
		for _, al := range []uintptr{1, 16, s.MaxAlign} {
			p, err := a.Alloc(size, al)
			if p != nil || !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) {
				t.Fatalf("Alloc(%d, %d) = %v, %v; want nil and ErrTooLarge or ErrOutOfMemory", size, al, p, err)
			}
		}
	}
	if after := stats(t, a); after.Failures <= before.Failures || !s.unchanged(before, after) {
		t.Errorf("after refusals the statistics are %+v, were %+v", after, before)
	}
	check(t, a)
	allocInto(t, a, shadow, s.size(16), 16) // the next call works
	shadow.VerifyAll()
}

func nilFree(t testing.TB, s Subject) {
	a := s.make(t, nil)
	a.Free(nil, 0)
	a.Free(nil, s.MaxSize)
	if f := stats(t, a).Frees; f != 0 {
		t.Errorf("freeing nil counted %d frees", f)
	}
}

// maxFill bounds how many blocks exhaustion hands out before it gives up on the subject.
const maxFill = 200_000

func exhaustion(t testing.TB, s Subject) {
	a := s.make(t, nil)
	blocks, _, err := fillUp(t, s, a)
	if !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatalf("after %d blocks of %d bytes: %v; want ErrOutOfMemory", len(blocks), s.MaxSize, err)
	}
	full := stats(t, a)
	if full.Failures == 0 || full.Live != uint64(len(blocks)) {
		t.Errorf("exhausted: failures %d, live %d of %d", full.Failures, full.Live, len(blocks))
	}
	if _, err := a.Alloc(s.MaxSize, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("a second request beyond the end: %v; want ErrOutOfMemory", err)
	}
	check(t, a)
	if len(blocks) == 0 {
		return
	}
	last := blocks[len(blocks)-1]
	a.Free(last, s.MaxSize)
	if p, err := a.Alloc(s.MaxSize, 16); err != nil {
		t.Errorf("after freeing the newest block: %v", err)
	} else if p == nil {
		t.Error("after freeing the newest block: nil")
	}
	check(t, a)
}

func statsReturn(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	for i := range uint32(50) {
		size, al := s.size(i*977+3), s.align(i)
		p, err := a.Alloc(size, al)
		if err != nil {
			continue
		}
		shadow.Add(p, size, al)
	}
	peak := stats(t, a)
	if peak.Live != uint64(len(shadow.Live())) || peak.Allocs != peak.Live {
		t.Errorf("live %d, allocs %d after %d allocations", peak.Live, peak.Allocs, len(shadow.Live()))
	}
	shadow.FreeAll(a)
	after := stats(t, a)
	if after.Peak < peak.InUse {
		t.Errorf("peak %d forgot that %d bytes were in use", after.Peak, peak.InUse)
	}
	if !s.KeepsFreed && (after.Live != 0 || after.InUse != 0) {
		t.Errorf("everything freed, yet live %d and %d bytes in use", after.Live, after.InUse)
	}
	check(t, a)
}

func reset(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	r, ok := a.(memory.Resetter)
	if !ok {
		return // a family without Reset
	}
	for range 3 {
		for i := range uint32(20) {
			allocInto(t, a, shadow, s.size(i*7919), s.align(i))
		}
		shadow.VerifyAll()
		shadow.Clear()
		r.Reset()
		check(t, a)
		if st := stats(t, a); st.Live != 0 || st.InUse != 0 {
			t.Fatalf("after Reset: live %d, %d bytes in use", st.Live, st.InUse)
		}
		r.Reset() // twice
		check(t, a)
	}
}

func noGoAllocations(t testing.TB, s Subject) {
	a := s.make(t, nil)
	round := func() {
		a.Free(MustAlloc(t, a, s.size(48), 16), s.size(48))
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("Alloc and Free cost %v Go allocations", n)
	}
	if r, ok := a.(memory.StatsReporter); ok {
		if n := testing.AllocsPerRun(100, func() { r.Stats() }); n != 0 {
			t.Errorf("Stats costs %v Go allocations", n)
		}
	}
}

// brief reports whether this is a short run of a build that checks itself: there everything
// takes ten times as long, and the plain build has tried what is left out.
func brief() bool { return testenv.Short() && invariant.Debug && !whole }

// Rounds returns the number of repetitions of a test on one goroutine. In a debug build (-tags memdebug or -race) in
// which testenv.Short returns true, it is n/5, but at least 1. In all other cases it is n.
func Rounds(n int) int {
	if brief() {
		return max(n/5, 1)
	}
	return n
}

// whole is set by the tests of this package: what a broken allocator fails depends on it.
var whole bool

func randomProgram(t testing.TB, s Subject) {
	programs := 40
	if testenv.Brief() { // every broken allocator of the gallery fails then, too
		programs = 8
	}
	if brief() {
		programs = 2
	}
	for seed := range programs {
		Interpret(t, s, RandomProgram(uint64(seed)+1, 1500))
	}
}

func allocInto(t testing.TB, a memory.Allocator, shadow *Shadow, size, al uintptr) {
	p, err := a.Alloc(size, al)
	if err != nil {
		t.Helper()
		t.Fatalf("Alloc(%d, %d): %v", size, al, err)
	}
	shadow.Add(p, size, al)
}
