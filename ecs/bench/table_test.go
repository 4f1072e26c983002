package bench

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var only = flag.String("rows", "", "rows of TestTable whose names begin so; all when empty")

// A side is one way to do the work of a row: run does it once, on a world that is made before.
type side struct {
	name string
	run  func()
}

// A row compares sides on the same work for n units each time. The first side is ours, and runs
// twice as itself: what lies between the two is what the machine adds.
type row struct {
	name  string
	unit  string
	n     int
	sides func(tb testing.TB) []side
}

// rounds is how often each side of a row is timed, in turn.
const rounds = 25

// TestTable prints every row beside Ark and loops over slices: the median of nanoseconds per
// unit, and ours as a ratio to each of the others, of the medians and, behind a stroke, of the
// best rounds, which other programs on the machine disturb less. Run it with
//
//	go test -run Table -v -cpu 1
//
// A ratio within that of A/A is a draw. In short runs every side runs once.
func TestTable(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %-6s %9s  %-9s  %s\n", "", "ns per", "strata", "A/A", "the others, and strata as a ratio to them")
	for _, r := range rows {
		if strings.HasPrefix(r.name, *only) {
			b.WriteString(r.measure(t))
		}
	}
	fmt.Fprint(os.Stdout, b.String())
}

func (r row) measure(tb testing.TB) string {
	sides := r.sides(tb)
	sides = append(sides, side{"A/A", sides[0].run})
	times := make([][]float64, len(sides))
	if testing.Short() {
		for _, s := range sides {
			s.run()
		}
		return ""
	}
	repeat := repeats(sides[0].run)
	for round := range rounds {
		for i := range sides {
			k := (i + round) % len(sides)
			runtime.GC()
			start := time.Now()
			for range repeat {
				sides[k].run()
			}
			times[k] = append(times[k], float64(time.Since(start).Nanoseconds())/float64(repeat)/float64(r.n))
		}
	}
	ratio := func(k int) string {
		return fmt.Sprintf("%.2f/%.2f", median(times[0])/median(times[k]), slices.Min(times[0])/slices.Min(times[k]))
	}
	line := fmt.Sprintf("%-34s %-6s %9.2f  %-9s", r.name, r.unit, median(times[0]), ratio(len(sides)-1))
	for k := 1; k < len(sides)-1; k++ {
		line += fmt.Sprintf("  %s %.2f (%s)", sides[k].name, median(times[k]), ratio(k))
	}
	return line + "\n"
}

// repeats returns how often f must run to take two milliseconds.
func repeats(f func()) int {
	for n := 1; ; n *= 2 {
		start := time.Now()
		for range n {
			f()
		}
		if took := time.Since(start); took > 2*time.Millisecond || n >= 1<<20 {
			return max(1, int(math.Ceil(float64(n)*2e6/float64(took.Nanoseconds()))))
		}
	}
}

func median[T cmp.Ordered](s []T) T {
	s = slices.Sorted(slices.Values(s))
	return s[len(s)/2]
}
