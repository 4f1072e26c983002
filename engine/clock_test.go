package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-gl/mathgl/mgl32"
)

func TestClock_CountsWholeSteps(t *testing.T) {
	c := NewClock(0)
	for i, s := range []struct {
		elapsed time.Duration
		want    int
	}{{0, 0}, {Step - 1, 0}, {1, 1}, {3 * Step / 2, 1}, {Step / 2, 1}, {-time.Hour, 0}, {5 * Step, 5}} {
		if n := c.Advance(s.elapsed); n != s.want {
			t.Errorf("call %d, %v: %d steps, want %d", i, s.elapsed, n, s.want)
		}
	}
	if c.Tick() != 8 || c.Dropped() != 0 {
		t.Errorf("tick %d, dropped %v", c.Tick(), c.Dropped())
	}
}

func TestClock_CapsCatchingUpAndSaysWhatItDropped(t *testing.T) {
	c := NewClock(3)
	c.Advance(Step / 2)
	if n := c.Advance(10 * Step); n != 3 {
		t.Errorf("%d steps, want 3", n)
	}
	if got, want := c.Dropped(), 10*Step+Step/2-(4*Step-1); got != want {
		t.Errorf("dropped %v, want %v", got, want)
	}
	if a := c.Alpha(); a < 0 || a > 1 {
		t.Errorf("alpha %v", a)
	}
	if n := c.Advance(1<<63 - 1); n != 3 {
		t.Errorf("%d steps after the longest time there is", n)
	}
	c.Restart()
	if c.Alpha() != 0 || c.Tick() != 6 {
		t.Errorf("after Restart: alpha %v, tick %d", c.Alpha(), c.Tick())
	}
}

func TestClock_AnyLimitIsAllowed(t *testing.T) {
	for _, limit := range []int{1 << 20, math.MaxInt32, math.MaxInt - 1, math.MaxInt} {
		c := NewClock(limit)
		for i := range 3 {
			if n := c.Advance(Step + 1); n != 1 || c.Alpha() < 0 {
				t.Errorf("limit %d, call %d: %d steps, alpha %v", limit, i, n, c.Alpha())
			}
		}
		if c.Tick() != 3 || c.Dropped() != 0 {
			t.Errorf("limit %d: tick %d, dropped %v", limit, c.Tick(), c.Dropped())
		}
	}
}

func TestClock_DroppedStopsAtTheLongestTime(t *testing.T) {
	c := NewClock(1)
	for range 3 {
		c.Advance(math.MaxInt64)
	}
	if d := c.Dropped(); d != math.MaxInt64 {
		t.Errorf("dropped %v", d)
	}
}

func TestClock_AnHourOfFramesIsAnHourOfTicks(t *testing.T) {
	c := NewClock(0)
	steps := 0
	for range 144 * 3600 {
		steps += c.Advance(time.Second / 144)
	}
	if steps < 215990 || steps > 216010 {
		t.Errorf("%d ticks in an hour of 144 Hz", steps)
	}
}

func TestSchedule_RunsInOrderAndNamesWhatFailed(t *testing.T) {
	var s Schedule
	var ran []string
	broken := errors.New("broken")
	fail := false
	for _, name := range []string{"input", "steer", "collide"} {
		s.MustAdd(name, func(tick *Tick) error {
			ran = append(ran, name)
			if fail && name == "steer" {
				return broken
			}
			return nil
		})
	}
	if err := s.Run(&Tick{}); err != nil || !slices.Equal(ran, []string{"input", "steer", "collide"}) {
		t.Errorf("ran %v, %v", ran, err)
	}
	fail, ran = true, nil
	err := s.Run(&Tick{N: 7})
	if !errors.Is(err, broken) || err.Error() != `engine: tick 7: system "steer": broken` || len(ran) != 2 {
		t.Errorf("ran %v, %v", ran, err)
	}
	if s.Timing(2).Last != 0 {
		t.Error("a system that did not run has a time")
	}
}

func TestSchedule_RefusesBadSystems(t *testing.T) {
	var s Schedule
	ok := func(*Tick) error { return nil }
	s.MustAdd("a", ok)
	for want, err := range map[string]error{
		"has no name": s.Add("", ok), "is nil": s.Add("b", nil), `"a" is already number 0`: s.Add("a", ok),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustAdd does not panic")
		}
	}()
	s.MustAdd("a", ok)
}

func TestSchedule_TimesAreARing(t *testing.T) {
	var s Schedule
	s.MustAdd("sleep", func(tick *Tick) error {
		if tick.N == 3 {
			time.Sleep(2 * time.Millisecond)
		}
		return nil
	})
	if tm := s.Timing(0); tm != (Timing{Name: "sleep"}) || len(s.AppendTimes(nil, 0)) != 0 {
		t.Errorf("before the first tick: %+v", tm)
	}
	for n := range uint64(5) {
		if err := s.Run(&Tick{N: n}); err != nil {
			t.Fatal(err)
		}
	}
	times, tm := s.AppendTimes(nil, 0), s.Timing(0)
	if len(times) != 5 || times[3] < 2*time.Millisecond || tm.Max != times[3] || tm.Last != times[4] || tm.Mean <= 0 {
		t.Errorf("times %v, %+v", times, tm)
	}
	for n := range uint64(samples) {
		_ = s.Run(&Tick{N: n + 10})
	}
	if times := s.AppendTimes(nil, 0); len(times) != samples || s.Timing(0).Max > 2*time.Millisecond && slices.Max(times) != s.Timing(0).Max {
		t.Errorf("%d times, max %v", len(times), s.Timing(0).Max)
	}
}

func TestSchedule_ASystemMayAddSystems(t *testing.T) {
	var s Schedule
	ran := 0
	s.MustAdd("first", func(tick *Tick) error {
		if tick.N == 0 {
			s.MustAdd("second", func(*Tick) error { ran++; return nil })
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	for n := range uint64(2) {
		if err := s.Run(&Tick{N: n}); err != nil || ran != int(n) {
			t.Fatalf("tick %d: %v, the second system ran %d times", n, err, ran)
		}
	}
	if times := s.AppendTimes(nil, 0); times[0] < time.Millisecond {
		t.Errorf("the times of the first system are %v", times)
	}
}

func TestSchedule_RunDoesNotAllocate(t *testing.T) {
	var s Schedule
	rnd := NewRand(1, 1)
	for _, name := range []string{"a", "b", "c"} {
		s.MustAdd(name, func(t *Tick) error { t.Rand.Uint32(); return nil })
	}
	l := NewLoop(&s, &rnd, 0)
	in := Input{Down: 1}
	buf := make([]time.Duration, 0, samples)
	if n := testing.AllocsPerRun(300, func() {
		_, _ = l.Frame(Step, &in)
		_ = s.Timing(1)
		buf = s.AppendTimes(buf[:0], 1)
	}); n != 0 {
		t.Errorf("%v Go allocations a tick", n)
	}
}

func TestLoop_PressesLastOneTick(t *testing.T) {
	var s Schedule
	var dashes, fires int
	var numbers []uint64
	s.MustAdd("count", func(t *Tick) error {
		numbers = append(numbers, t.N)
		if t.Input.Pressed.Has(2) {
			dashes++
		}
		if t.Input.Down.Has(1) && t.Input.Move[0] == 1 {
			fires++
		}
		return nil
	})
	l := NewLoop(&s, nil, 0)
	n, err := l.Frame(3*Step, &Input{Move: mgl32.Vec2{1, 0}, Pressed: 2, Down: 1})
	if n != 3 || err != nil || dashes != 1 || fires != 3 || !slices.Equal(numbers, []uint64{0, 1, 2}) {
		t.Errorf("%d ticks (%v), %v; %d dashes, %d fires", n, err, numbers, dashes, fires)
	}
	if err := l.Run(2, &Input{Pressed: 2}); err != nil || dashes != 2 || l.Tick() != 5 || l.Clock().Tick() != 3 {
		t.Errorf("%v; %d dashes, tick %d", err, dashes, l.Tick())
	}
}

func TestLoop_StopsAtTheFirstError(t *testing.T) {
	var s Schedule
	s.MustAdd("second", func(t *Tick) error {
		if t.N == 1 {
			return errors.New("enough")
		}
		return nil
	})
	l := NewLoop(&s, nil, 0)
	if n, err := l.Frame(4*Step, &Input{}); n != 1 || err == nil {
		t.Errorf("%d ticks, %v", n, err)
	}
	l = NewLoop(&s, nil, 0)
	if err := l.Run(4, &Input{}); err == nil || l.Tick() != 2 {
		t.Errorf("tick %d, %v", l.Tick(), err)
	}
}

func TestSchedule_ASystemThatPanicsLeavesTheScheduleUsable(t *testing.T) {
	var s Schedule
	armed, ran := false, 0
	s.MustAdd("first", func(*Tick) error { ran++; return nil })
	s.MustAdd("second", func(*Tick) error {
		if armed {
			panic("second")
		}
		return nil
	})
	loop := NewLoop(&s, nil, 0)
	if err := loop.Run(1, &Input{}); err != nil {
		t.Fatal(err)
	}
	armed = true
	func() {
		defer func() { _ = recover() }()
		_ = loop.Run(1, &Input{})
		t.Error("the panic did not go on")
	}()
	if n := len(s.AppendTimes(nil, 0)); n != 1 || loop.Tick() != 1 {
		t.Errorf("%d times after one whole tick, next tick %d", n, loop.Tick())
	}
	armed = false
	if err := loop.Run(1, &Input{}); err != nil || loop.Tick() != 2 || ran != 3 {
		t.Errorf("%v, tick %d, %d runs", err, loop.Tick(), ran)
	}
}

func TestSchedule_APanicKeepsTheTimesOfCompleteTicks(t *testing.T) {
	var s Schedule
	armed := false
	s.MustAdd("first", func(*Tick) error {
		if armed {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	s.MustAdd("second", func(*Tick) error {
		if armed {
			panic("second")
		}
		return nil
	})
	loop := NewLoop(&s, nil, 0)
	if err := loop.Run(samples+7, &Input{}); err != nil {
		t.Fatal(err)
	}
	want := make([]time.Duration, samples)
	for i := range want {
		want[i] = time.Duration(i + 1)
		s.systems[0].ring[(int(s.runs)-samples+i)%len(s.systems[0].ring)] = want[i]
	}
	armed = true
	func() {
		defer func() { _ = recover() }()
		_ = loop.Run(1, &Input{})
	}()
	if got := s.AppendTimes(nil, 0); !slices.Equal(got, want) {
		t.Errorf("the times are %v", got)
	}
	if v := s.Timing(0); v.Last != samples || v.Max != samples || v.Mean != (samples+1)/2 {
		t.Errorf("%+v", v)
	}
}
