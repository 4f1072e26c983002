package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// stairs are n buffers, each of which lives with the next.
func stairs(n int) []Buffer {
	set := make([]Buffer, n)
	for i := range set {
		set[i] = Buffer{ID: uint32(i), Size: uintptr(1 + i%7), Align: 1, Birth: i, Death: i + 2}
	}
	return set
}

func TestExact_WhereTheTimeIsTooShortForAPlanThereIsAnError(t *testing.T) {
	set := stairs(Count)
	p, proof, err := Exact(set, Limits{Time: time.Nanosecond})
	if p != nil || !errors.Is(err, ErrTime) || err.Error() != "plan: no plan in the time: 1ns for 262144 buffers" || proof.Optimal || proof.Elapsed < grace {
		t.Errorf("%v, %+v, %v", p, proof, err)
	}
	for n, l := range map[int]time.Duration{0: 1, 1: 2 * time.Microsecond, 1000: 2 * time.Millisecond, 1001: math.MaxInt64} {
		if p, _, err := Exact(stairs(n), Limits{Time: l}); err != nil || p.Len() != n {
			t.Errorf("%d buffers in %v: %v", n, l, err)
		}
	}
}

// Every phase looks at the clock: whichever look it is that says that the time is over, there is
// a plan or an error, and never half a plan.
func TestExact_EveryPhaseEndsWithTheTime(t *testing.T) {
	set, err := declared(stairs(5000))
	if err != nil {
		t.Fatal(err)
	}
	looks, most := 0, 0
	gone := func() bool { looks++; return looks > most }
	ends := map[string]int{}
	for ; ; most++ {
		looks = 0
		g := newGreedy(set, 0, func() bool { return true }, gone)
		if g == nil {
			ends["timeline"]++
			continue
		}
		if g.run(); g.total == nowhere {
			ends["places"]++
			continue
		}
		p := newPlan(set, g.best, g.bound)
		if err := p.verify(g.time, gone); err == ErrTime {
			ends["proof"]++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		break
	}
	if ends["timeline"] != 2 || ends["places"] != 4 || ends["proof"] != 4 {
		t.Errorf("it looked at the clock %v", ends)
	}
	// It may become too late in the midst of the first attempt.
	looks = 0
	g := newGreedy(set, 0, func() bool { return g0(&looks) }, untimed)
	if g.run(); g.total == nowhere {
		t.Error("no plan")
	}
	looks = 0
	g = newGreedy(set, 0, func() bool { return g0(&looks) }, func() bool { return looks > 10 })
	if g.run(); g.total != nowhere {
		t.Errorf("a plan of %d bytes", g.total)
	}
}

// g0 is late from the tenth look on.
func g0(looks *int) bool { *looks++; return *looks > 10 }

func TestBudget_TheSearchEndsBeforeTheProofMust(t *testing.T) {
	begin := time.Now()
	b := newBudget(Limits{Time: time.Second}, begin, 1000)
	if b.end.Sub(begin) != time.Second-time.Millisecond || b.last.Sub(begin) != 1100*time.Millisecond+grace || b.firm {
		t.Errorf("%+v", b)
	}
	b.expect(10 * time.Millisecond) // which the tenth has room for
	if b.end.Sub(begin) != time.Second-time.Millisecond {
		t.Errorf("the end is %v", b.end.Sub(begin))
	}
	b.expect(300 * time.Millisecond)
	if b.end.Sub(begin) != 800*time.Millisecond {
		t.Errorf("the end is %v", b.end.Sub(begin))
	}
	for l, firm := range map[time.Duration]bool{0: false, 1: true, 2*time.Millisecond - 1: true, 2 * time.Millisecond: false} {
		if b := newBudget(Limits{Time: l}, begin.Add(-time.Hour), 1000); b.firm != firm || b.gone() != firm {
			t.Errorf("%v for 1000 buffers: firm is %t", l, b.firm)
		}
	}
	b = newBudget(Limits{Time: math.MaxInt64}, begin, 1)
	if b.last.Before(begin) || b.gone() || b.over() {
		t.Errorf("the longest time ends at %v", b.last)
	}
	if b := newBudget(Limits{}, begin, 1000); b.gone() || !b.counted || b.left != DefaultSteps || b.timed {
		t.Error("no limit is over")
	}
	if err := (&budget{}).short(Limits{Time: 3}, 7); !strings.HasSuffix(err.Error(), "3ns for 7 buffers") {
		t.Error(err)
	}
}
