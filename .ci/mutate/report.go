package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// needed is the share of mutants to kill, of those that are not equivalent.
const needed = 0.95

// A tally is the row of one package.
type tally struct {
	rel                             string
	candidates, sampled             int // sampled: judged, and built
	killed, equivalent, owed        int
	unexplained, unreachable, stale int
	pending                         int // not judged: the budget ended
	seconds                         float64
	unexplainedKeys                 []string
}

// rates are killed/all and killed/(all - equivalent); 1 where there was nothing to kill.
func (t *tally) rates() (all, real float64) {
	share := func(n int) float64 {
		if n == 0 {
			return 1
		}
		return float64(t.killed) / float64(n)
	}
	return share(t.sampled), share(t.sampled - t.equivalent)
}

// tally counts the sample: the first mutants in order that build.
func (r *runner) tally() tally {
	t := tally{rel: r.target.rel, candidates: len(r.ordered)}
	keys := map[string]bool{}
	for _, m := range r.ordered {
		keys[m.key()] = true
		res, ok := r.state.known[m.key()]
		if t.sampled+t.pending == r.want() || res.Verdict == unbuildable {
			continue
		}
		if !ok {
			t.pending++
			continue
		}
		t.sampled++
		t.count(r.explained, res)
	}
	stale := r.explained.stale(keys, r.state.known)
	t.stale = len(stale)
	for _, s := range stale {
		fmt.Fprintf(r.out, "stale     %s: %s\n", r.target.rel, s)
	}
	return t
}

func (t *tally) count(e *explained, res result) {
	if res.Verdict == killed {
		t.killed++
		return
	}
	if res.Verdict == unreached {
		t.unreachable++
	}
	switch e.class(res.Key) {
	case equivalent:
		t.equivalent++
	case owed:
		t.owed++
	default:
		t.unexplained++
		t.unexplainedKeys = append(t.unexplainedKeys, res.Key)
	}
}

// report prints the line of a survivor, and with -v that of any mutant.
func (r *runner) report(m *mutant, res result) {
	survivor := res.Verdict == survived || res.Verdict == unreached
	if !survivor && !r.o.verbose {
		return
	}
	class := ""
	if survivor {
		class = " (" + r.explained.class(res.Key) + ")"
	}
	fmt.Fprintf(r.out, "%-11s %s/%s:%d: %s%s %.1fs %s\n", res.Verdict, r.target.rel, m.file, m.line, res.Key, class, res.Seconds, res.By)
	if survivor {
		lines := strings.Split(string(r.target.sources[m.file].data), "\n")
		fmt.Fprintf(r.out, "            %s\n", strings.TrimSpace(lines[m.line-1]))
	}
}

// table aligns the rows and adds their sum.
func table(rows []tally) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "package\tcandidates\tsampled\tkilled\tequivalent\towed\tunexplained\tunreached\tpending\tkilled/all\tkilled/real\tseconds\t")
	sum := tally{rel: "all"}
	for _, t := range rows {
		writeRow(w, t)
		sum.candidates += t.candidates
		sum.sampled += t.sampled
		sum.killed += t.killed
		sum.equivalent += t.equivalent
		sum.owed += t.owed
		sum.unexplained += t.unexplained
		sum.unreachable += t.unreachable
		sum.pending += t.pending
		sum.seconds += t.seconds
	}
	if len(rows) != 1 {
		writeRow(w, sum)
	}
	w.Flush()
	fmt.Fprintln(&b, "\nreal: all but the equivalent; unreached: survivors on lines that no test runs; pending: not judged")
	if sum.pending > 0 {
		fmt.Fprintf(&b, "\nNot finished: %d mutants are pending. The same command goes on.\n", sum.pending)
	}
	return b.String()
}

func writeRow(w *tabwriter.Writer, t tally) {
	all, real := t.rates()
	first, second := fmt.Sprintf("%.1f %%", 100*all), fmt.Sprintf("%.1f %%", 100*real)
	if t.sampled == 0 {
		first, second = "-", "-"
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%.0f\t\n", t.rel, t.candidates, t.sampled, t.killed,
		t.equivalent, t.owed, t.unexplained, t.unreachable, t.pending, first, second, t.seconds)
}

// verdict says what is wrong, one line a package.
func verdict(rows []tally) []string {
	var faults []string
	for _, t := range rows {
		if _, real := t.rates(); real < needed {
			faults = append(faults, fmt.Sprintf("%s: %.1f %% of the mutants that are not equivalent were killed, %.0f %% are needed", t.rel, 100*real, 100*needed))
		}
		if t.unexplained > 0 {
			faults = append(faults, fmt.Sprintf("%s: %d survivors are unexplained; -write lists them in survivors/%s.txt", t.rel, t.unexplained, fileName(t.rel)))
		}
	}
	return faults
}
