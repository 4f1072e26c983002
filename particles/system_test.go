package particles

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func mustCheck(t testing.TB, s *System) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	st := s.Stats()
	if st.Alive > st.Peak || st.Alive > st.Rows || st.Rows > st.Capacity || st.Memory.Live != uint64(st.Alive) ||
		st.Memory.Allocs-st.Memory.Frees != st.Memory.Live || st.Memory.InUse > st.Memory.Committed ||
		st.Memory.Committed > st.Memory.Reserved || st.Memory.InUse > st.Memory.Peak || st.Memory.Failures != st.Failures {
		t.Fatalf("the equations of Stats do not hold: %+v", st)
	}
}

func TestNew_BadConfigIsRefused(t *testing.T) {
	for want, cfg := range map[string]Config{
		"Capacity -1: want 1 to 16777216": {Capacity: -1},
		"Capacity 16777217: want 1 to":    {Capacity: maxCapacity + 1},
		"MaxKinds -1: want 1 to 256":      {MaxKinds: -1},
		"MaxKinds 257: want":              {MaxKinds: 257},
	} {
		if _, err := New(nil, cfg); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", cfg, err, want)
		}
	}
}

func TestNew_RefusedReservationLeavesNothing(t *testing.T) {
	for call := 1; call <= columnCount; call++ {
		src := memtest.NewFaulty()
		src.FailAt, src.ForGood = call, true
		if _, err := New(src, Config{Capacity: 1000}); !errors.Is(err, memory.ErrOutOfMemory) || src.Reserved() != 0 {
			t.Errorf("call %d: %v, %d reservations left", call, err, src.Reserved())
		}
	}
}

func TestNew_ASourceThatPanicsGetsItsReservationsBack(t *testing.T) {
	for call := 1; call <= columnCount; call++ {
		src := memtest.NewFaulty()
		src.PanicAt = call
		func() {
			defer func() {
				if r := recover(); r != any(memtest.ErrInjected) {
					t.Errorf("call %d: recovered %v", call, r)
				}
			}()
			New(src, Config{Capacity: 1000})
		}()
		if src.Calls() != call || src.Reserved() != 0 {
			t.Errorf("call %d: %d calls, %d reservations left", call, src.Calls(), src.Reserved())
		}
	}
}

func TestNew_HalvesWhatTheSystemRefuses(t *testing.T) {
	src := memtest.NewFaulty()
	src.FailAt = 3
	s, err := New(src, Config{Capacity: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := register(t, s, Kind{})
	if s.Capacity() < 48_000 || s.Capacity() > 54_000 {
		t.Errorf("capacity %d; want about half", s.Capacity())
	}
	if got := s.Emit(&Emitter{Kind: id, Life: Just(1)}, 200_000); got != s.Capacity() {
		t.Errorf("emitted %d of %d", got, s.Capacity())
	}
	mustCheck(t, s)
}

func TestColumns_AreAlignedDisjointAndNeverMove(t *testing.T) {
	s := newSystem(t, Config{Capacity: 100_000})
	e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
	s.Emit(&e, 1)
	bases := func() (b []uintptr) {
		return append(b, uintptr(unsafe.Pointer(&s.kind[0])), uintptr(unsafe.Pointer(&s.tint[0])),
			uintptr(unsafe.Pointer(&s.x[0])), uintptr(unsafe.Pointer(&s.y[0])), uintptr(unsafe.Pointer(&s.vx[0])),
			uintptr(unsafe.Pointer(&s.vy[0])), uintptr(unsafe.Pointer(&s.left[0])), uintptr(unsafe.Pointer(&s.birth[0])))
	}
	before := bases()
	for _, b := range before {
		if b%64 != 0 {
			t.Errorf("a column begins at %#x", b)
		}
	}
	room := s.usable
	s.Emit(&e, 99_999)
	if s.usable <= room || s.Len() != 100_000 || !slices.Equal(before, bases()) {
		t.Errorf("room %d, then %d with %d particles; the columns moved: %t", room, s.usable, s.Len(), !slices.Equal(before, bases()))
	}
	mustCheck(t, s)
	if rowBytes != 2+5*4+unsafe.Sizeof(birth{}) {
		t.Error("rowBytes is not the sum of the columns")
	}
	for i := range uint8(columnCount) {
		if memory.PointerFree[birth]() != nil || columnBytes[i] == 0 {
			t.Error("a column holds pointers or nothing")
		}
	}
}

func TestEmit_FullColumnsDrop(t *testing.T) {
	s := newSystem(t, Config{Capacity: 100})
	e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
	for _, c := range []struct{ n, want int }{{0, 0}, {-5, 0}, {99, 99}, {3, 1}, {1, 0}, {math.MaxInt, 0}} {
		if got := s.Emit(&e, c.n); got != c.want {
			t.Errorf("Emit(%d) = %d, want %d", c.n, got, c.want)
		}
	}
	if st := s.Stats(); st.Dropped != 3+math.MaxInt || st.Failures != 0 || st.Alive != 100 || st.Peak != 100 {
		t.Errorf("%+v", st)
	}
	mustCheck(t, s)
}

func TestEmit_BudgetMeansFewerParticles(t *testing.T) {
	for _, budget := range []uintptr{1, 100 << 10, 200 << 10, 1 << 20, 2 << 20} {
		limit := page.NewLimit(nil, budget)
		s, err := New(limit, Config{Capacity: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
		got := s.Emit(&e, 200_000)
		st := s.Stats()
		if st.Failures != 1 || st.Dropped != uint64(200_000-got) || uintptr(st.Memory.Committed) > budget || s.Capacity() != 1<<20 {
			t.Errorf("budget %d: %+v", budget, st)
		}
		// A step of leastRows more would not have fitted.
		if more := uintptr(st.Memory.Committed) + leastRows*rowBytes + 2*page.Granule; more <= budget {
			t.Errorf("budget %d: only %d used", budget, st.Memory.Committed)
		}
		s.Update(dt)
		mustCheck(t, s)
		if n := testenv.LeastObjects(6, func() { s.Emit(&e, 10) }); n != 0 {
			t.Errorf("budget %d: a full System allocates %v times", budget, n)
		}
		s.Reset()
		if again := s.Emit(&e, 200_000); again != got || s.Stats().Failures != 2 {
			t.Errorf("budget %d: %d, then %d after Reset", budget, got, again)
		}
		if err := s.Reserve(200_000); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("Reserve beyond the budget: %v", err)
		}
		mustCheck(t, s)
		if err := s.Close(); err != nil || limit.Committed() != 0 {
			t.Errorf("Close: %v, %d left", err, limit.Committed())
		}
	}
}

func TestEmit_EveryCommitFailing(t *testing.T) {
	testenv.Long(t)
	for call := columnCount + 1; call < columnCount+60; call++ {
		for _, forGood := range []bool{false, true} {
			src := memtest.NewFaulty()
			src.FailAt, src.ForGood = call, forGood
			s, err := New(src, Config{Capacity: 60_000})
			if err != nil {
				t.Fatal(err)
			}
			e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
			for range 6 {
				s.Emit(&e, 10_000)
				mustCheck(t, s)
			}
			s.Update(dt)
			s.Reset()
			src.FailAt = 0
			if got := s.Emit(&e, 60_000); got != 60_000 {
				t.Fatalf("call %d: %d after the fault", call, got)
			}
			mustCheck(t, s)
			if err := s.Close(); err != nil || src.Reserved() != 0 {
				t.Fatalf("Close: %v, %d left", err, src.Reserved())
			}
		}
	}
}

func TestReserveAndTrim(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	s, err := New(limit, Config{Capacity: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Reserve(100_001); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("beyond the capacity: %v", err)
	}
	if err := errors.Join(s.Reserve(100_000), s.Reserve(5)); err != nil || s.Stats().Rows != 100_000 {
		t.Errorf("Reserve: %v, room %d", err, s.Stats().Rows)
	}
	s.Emit(&Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}, 10)
	if err := s.Trim(); err != nil || s.Stats().Rows != 10 || s.Len() != 10 {
		t.Errorf("Trim: %v, %+v", err, s.Stats())
	}
	mustCheck(t, s)
	s.Reset()
	if err := s.Trim(); err != nil || limit.Committed() != 0 {
		t.Errorf("Trim of nothing: %v, %d left", err, limit.Committed())
	}
	mustCheck(t, s)
}

func TestTrim_AfterRefusalEmitCommitsAgain(t *testing.T) {
	s, err := New(page.NewLimit(nil, 4<<20), Config{Capacity: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
	most := s.Emit(&e, 1_000_000)
	if most == 0 || most == 1_000_000 {
		t.Fatalf("Emit emitted %d; want that the source refuses some", most)
	}
	s.Update(2)
	if err := s.Trim(); err != nil || s.Stats().Rows != 0 {
		t.Errorf("Trim: %v, %+v", err, s.Stats())
	}
	if n := s.Emit(&e, most); n != most {
		t.Errorf("Emit after Trim emitted %d, before %d", n, most)
	}
	mustCheck(t, s)
}

func TestClose_TwiceAndUseAfter(t *testing.T) {
	src := memtest.NewFaulty()
	s, err := New(src, Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
	s.Emit(&e, 10)
	src.FailReturns = true
	if s.Close() == nil {
		t.Error("Close hid that the memory could not be returned")
	}
	src.FailReturns = false
	if err := errors.Join(s.Close(), s.Close(), s.Check()); err != nil || src.Reserved() != 0 || s.Len() != 0 {
		t.Errorf("%v, %d left", err, src.Reserved())
	}
	for op, f := range map[string]func(){
		"Emit": func() { s.Emit(&e, 1) }, "Burst": func() { s.Burst(&e) }, "EmitRate": func() { s.EmitRate(&e, dt) },
		"Update": func() { s.Update(dt) }, "Motion": func() { s.Motion() }, "Build": func() { s.Build(View{}, nil, nil, nil, 0) }, "Reset": s.Reset,
		"Reserve": func() { _ = s.Reserve(1) }, "Trim": func() { _ = s.Trim() }, "SetBounds": func() { s.SetBounds(Bounds{}) },
		"Register": func() { _, _ = s.Register(Kind{}) }, "SetKind": func() { _ = s.SetKind(0, Kind{}) },
	} {
		memtest.Misuse(t, f, "particles."+op+": the system is closed")
	}
}

// A callback at a soft mark panics at every height that growth passes; code that recovers makes
// the same call again.
func TestEmitRate_APanicOfTheSourceLosesNoParticle(t *testing.T) {
	life := func(mark uintptr) (*System, *Emitter, int) {
		l, panics := page.NewLimit(nil, 0), 0
		l.OnSoft(mark, func(uintptr, uintptr) {
			if panics++; panics == 1 {
				panic("tight")
			}
		})
		s, err := New(l, Config{Capacity: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		register(t, s, Kind{})
		e := &Emitter{Life: Just(60), Rate: 15_000.3, Speed: Range{1, 2}, Spread: 1}
		for range 4 {
			for done := false; !done; {
				func() {
					before := l.Committed()
					defer func() {
						switch v := recover(); {
						case v != nil && v != "tight":
							panic(v)
						case v != nil && l.Committed() != before:
							t.Errorf("mark %d: %d bytes are committed after the panic, %d were", mark, l.Committed(), before)
						}
					}()
					s.EmitRate(e, 1)
					done = true
				}()
				mustCheck(t, s)
			}
		}
		return s, e, panics
	}
	twin, owed, _ := life(math.MaxUint)
	struck := 0
	for mark := uintptr(0); mark < 60_000*rowBytes; mark += 64 << 10 {
		s, e, panics := life(mark)
		struck += panics
		if s.Hash(0) != twin.Hash(0) || s.Stats() != twin.Stats() || *e != *owed {
			t.Errorf("with a panic at %d bytes: %+v and %v owed, without one %+v and %v", mark, s.Stats(), e.Owed, twin.Stats(), owed.Owed)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if struck < 20 {
		t.Errorf("%d panics", struck)
	}
}

func TestEmit_WritesNoRowThatTheSoftMarkTookAway(t *testing.T) {
	for name, relieve := range map[string]func(*System, *page.Limit){
		"Trim":  func(s *System, _ *page.Limit) { _ = s.Trim() },
		"Close": func(s *System, _ *page.Limit) { _ = s.Close() },
		"Reserve": func(s *System, l *page.Limit) { // which is refused, or panics because its column is committing
			defer l.SetBudget(0)
			defer func() { _ = recover() }()
			l.SetBudget(l.Committed())
			_ = s.Reserve(16_100)
		},
	} {
		for mark := uintptr(0); mark < 24_000*rowBytes; mark += 48 << 10 {
			l, asked := page.NewLimit(nil, 0), 0
			s, err := New(l, Config{Capacity: 100_000})
			if err != nil {
				t.Fatal(err)
			}
			e := &Emitter{Kind: register(t, s, Kind{}), Life: Just(60)}
			l.OnSoft(mark, func(uintptr, uintptr) { asked++; relieve(s, l) })
			for range 3 {
				if !s.closed {
					s.Emit(e, 8000)
				}
			}
			mustCheck(t, s)
			if st := s.Stats(); asked == 0 || s.closed && st.Alive != 0 || !s.closed && st.Alive != 24_000 {
				t.Errorf("%s at %d bytes, called %d times: %+v", name, mark, asked, st)
			}
			if err := s.Close(); err != nil || l.Committed() != 0 {
				t.Errorf("%s at %d bytes: %v, %d bytes committed", name, mark, err, l.Committed())
			}
		}
	}
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*System)
	}{
		{"are not in order", func(s *System) { s.n = s.usable + 1 }},
		{"are not in order", func(s *System) { s.max = s.usable - 1 }},
		{"with a peak of", func(s *System) { s.peak = 9 }},
		{"9 emitted", func(s *System) { s.emitted = 9 }},
		{"or lies elsewhere", func(s *System) { s.vy = s.vy[1:] }},
		{"or lies elsewhere", func(s *System) { s.vx = s.vy }},
		{"or lies elsewhere", func(s *System) { s.kind = s.tint }},
		{"bytes committed", func(s *System) { s.usable = 1 << 18 }},
		{"row 3 has kind 7 of 2", func(s *System) { s.kind[3] = 7 }},
		{"of kind 0 live, counted as 11", func(s *System) { s.alive[0]++ }},
		{"row 4 has 0 s left", func(s *System) { s.left[4] = 0 }},
		{"row 4 has 3 s left of a life of 1 s", func(s *System) { s.left[4] = 3 }},
		{"row 5 has NaN s left", func(s *System) { s.left[5] -= s.left[5]; s.left[5] /= s.left[5] }},
		{"row 6 has", func(s *System) { s.birth[6].inv = 0 }},
	} {
		s := newSystem(t, Config{})
		register(t, s, Kind{})
		register(t, s, Kind{})
		s.Emit(&Emitter{Life: Just(1)}, 10)
		mustCheck(t, s)
		good := *s
		c.corrupt(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		*s = good
	}
}

func TestSystem_TouchesNothingOnceItsSourceHasEnded(t *testing.T) {
	src := memtest.NewFaulty()
	whole, err := src.Reserve(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve, err := page.NewCarve(src, whole)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(carve, Config{Capacity: 1000})
	if err != nil {
		t.Fatal(err)
	}
	id := register(t, s, Kind{})
	e := Emitter{Kind: id, Life: Just(1), Size: Just(1)}
	s.Emit(&e, 100)
	carve.Close()
	if err := src.Release(whole); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, s)
	if st := s.Stats(); st.Alive != 0 || st.Rows != 0 || st.Memory.Committed != 0 || st.Memory.Reserved != 0 {
		t.Errorf("its source has ended, and it has %+v", st)
	}
	for _, use := range []func(){
		func() { s.Emit(&e, 1) },
		func() { s.Update(1) },
		func() { s.Motion() },
		func() { s.Build(View{}, nil, nil, nil, 0) },
		func() { s.Reset() },
		func() { _ = s.Trim() },
	} {
		memtest.Misuse(t, use, "closed")
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	mustCheck(t, s)
}
