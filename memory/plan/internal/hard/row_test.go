package main

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/plan/internal/hard/instances"
)

func TestRow_IsALineOfTheTable(t *testing.T) {
	known := row{
		name: "I", n: 374, bound: 1 << 20, rule: 1.41, fast: 1.41019, exact: 1.02544,
		fastTook: 15_449 * time.Microsecond, exactTook: 5_000_499 * time.Microsecond, proof: plan.Proof{Steps: 1_234_999},
	}
	fits, missed, minimal := known, known, known
	fits.capacity, fits.reached, fits.reachTook = 1000, 1000, 29_500*time.Microsecond
	missed.capacity, missed.reached = 1000, 1001
	minimal.proof.Optimal = true
	const head1 = "instance               n          bound    rule  Fast             Exact                      within the capacity"
	if head != head1 {
		t.Errorf("\n%s\n%s", head, head1)
	}
	for want, r := range map[string]row{
		"I                    374        1048576  1.4100  1.4102 15.4ms    1.0254 5s        1234k":                    known,
		"I                    374        1048576  1.4100  1.4102 15.4ms    1.0254 5s        1234k     30ms":           fits,
		"I                    374        1048576  1.4100  1.4102 15.4ms    1.0254 5s        1234k     missed: 1.0010": missed,
		"I                    374        1048576  1.4100  1.4102 15.4ms    1.0254 5s        minimal":                  minimal,
	} {
		if got := r.String(); got != want {
			t.Errorf("\n%s\n%s", got, want)
		}
	}
}

func TestTimed_RunsItOnceAndSaysHowLong(t *testing.T) {
	ran := 0
	if took := timed(func() { ran++; time.Sleep(time.Millisecond) }); ran != 1 || took < time.Millisecond {
		t.Errorf("%d times, %v", ran, took)
	}
}

// by returns what measure found, with the times left out: they were taken, or not.
func (r row) by(t *testing.T) row {
	if r.fastTook <= 0 || r.exactTook <= 0 || (r.reachTook > 0) != (r.capacity > 0) {
		t.Errorf("%s: it took %v, %v and %v", r.name, r.fastTook, r.exactTook, r.reachTook)
	}
	r.fastTook, r.exactTook, r.reachTook = 0, 0, 0
	r.proof.Elapsed = 0
	return r
}

// slow is plan.Exact, and takes long enough for any clock.
func slow(set []plan.Buffer, limits plan.Limits) (*plan.Plan, plan.Proof, error) {
	time.Sleep(time.Millisecond)
	return plan.Exact(set, limits)
}

func TestMeasure_HasTheRuleFastAndExactOfAPublicInstance(t *testing.T) {
	set, err := instances.Load(filepath.Join("..", "..", "testdata", "minimalloc", "F.1048576.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	const load = 1 << 20
	want := row{
		name: "F.1048576", n: 296, bound: load, rule: 1.3671875, fast: 1.123046875, exact: 1,
		proof: plan.Proof{Bound: load, Optimal: true}, capacity: 1 << 20, reached: load,
	}
	r, err := measure("F.1048576.csv.gz", set, slow, plan.Limits{Steps: 100_000})
	if got := r.by(t); err != nil {
		t.Error(err)
	} else if want.proof.Steps = got.proof.Steps; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.name, want.capacity, want.reached = "F.csv", 0, 0
	r, err = measure("F.csv", set, slow, plan.Limits{Steps: 100_000})
	if got := r.by(t); err != nil || got != want {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
}

func TestMeasure_SearchesWithTheLimitsAndThenForTheCapacity(t *testing.T) {
	set := instances.Graph(1, 10)
	limits := plan.Limits{Steps: 1000, Time: time.Hour}
	within := limits
	within.Capacity = 1 << 20
	var asked []plan.Limits
	_, err := measure("1048576", set, func(set []plan.Buffer, l plan.Limits) (*plan.Plan, plan.Proof, error) {
		asked = append(asked, l)
		return plan.Exact(set, l)
	}, limits)
	if err != nil || len(asked) != 2 || asked[0] != limits || asked[1] != within {
		t.Errorf("%+v, %v", asked, err)
	}
}

func TestMeasure_EveryErrorEndsIt(t *testing.T) {
	if _, err := measure("x", []plan.Buffer{{Size: 1}}, plan.Exact, plan.Limits{}); err == nil {
		t.Error("a set that is none is planned")
	}
	for failing := range 2 {
		calls := 0
		_, err := measure("1048576", instances.Graph(1, 10), func(set []plan.Buffer, l plan.Limits) (*plan.Plan, plan.Proof, error) {
			if calls++; calls > failing {
				return nil, plan.Proof{}, plan.ErrTime
			}
			return plan.Exact(set, l)
		}, plan.Limits{Steps: 1})
		if !errors.Is(err, plan.ErrTime) || calls != failing+1 {
			t.Errorf("%v after %d searches", err, calls)
		}
	}
}
