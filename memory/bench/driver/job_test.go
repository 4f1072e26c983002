package main

import (
	"os"
	"regexp"
	"testing"
	"time"
)

// The C driver has another implementation: that both draw the same is tested by their checksums in every run.
func TestRNG_IsXorshift64Star(t *testing.T) {
	r := rng(1)
	if a, b := r.next(), r.next(); a != 0x47E4CE4B896CDD1D || b != 0xABCFA6A8E079651D {
		t.Errorf("%#x, %#x", a, b)
	}
	for range 1000 {
		if v := r.between(8, 10); v < 8 || v > 10 {
			t.Fatal(v)
		}
	}
}

func TestWorkloads_TheCDriverHasTheSameTable(t *testing.T) {
	text, err := os.ReadFile("../c/driver.c")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\t\{"([^"]+)", `).FindAllSubmatch(text, -1)
	if len(rows) != len(workloads) {
		t.Fatalf("%d and %d workloads", len(rows), len(workloads))
	}
	for i, w := range workloads {
		if string(rows[i][1]) != w.name || find(w.name) != &workloads[i] {
			t.Errorf("workload %d is %s, in C %s", i, w.name, rows[i][1])
		}
	}
	if find("nosuch") != nil {
		t.Error("there is such a workload")
	}
}

func TestRepeat_IsTheMedianAfterTheWarmUp(t *testing.T) {
	j := job{warm: 2, reps: 3, figures: map[string]float64{}}
	took := []time.Duration{900, 800, 30, 10, 20}
	calls := 0
	got := j.repeat(2, func() time.Duration {
		t := took[min(calls, len(took)-1)]
		calls++
		return t
	})
	if j.figures["cold"] != 450 || calls != 5+j.repeated || j.repeated == 0 && got != 10 {
		t.Errorf("%g, cold %g, %d calls, %d repeated", got, j.figures["cold"], calls, j.repeated)
	}
}
