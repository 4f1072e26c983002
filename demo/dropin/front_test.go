package dropin_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the README's table of peers")

const readmeFile = "../../README.md"

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A stranger reads one page.
func TestFront_IsShort(t *testing.T) {
	text := readFile(t, readmeFile)
	lines, words := strings.Count(text, "\n"), len(strings.Fields(text))
	t.Logf("%d lines, %d words", lines, words)
	if lines > 150 || words > 1200 {
		t.Errorf("README.md has %d lines and %d words: want at most 150 and 1200", lines, words)
	}
}

// peers are the rows of the README's table: a workload of memory/doc/performance.md, the side that is Strata's, and the
// column of the figures. judged follows the side in the name of the judged ratio. by is what is called, if not the side.
var peers = []struct{ what, workload, side, column, judged, by string }{
	{"a frame's scratch: 16 to 256 bytes", "W9", "arena", "ns", "", "arena.Linear"},
	{"64 bytes, the oldest freed first", "W3", "pool", "ns", "", "pool.Blocks"},
	{"particles of 48 bytes", "W5", "pool", "ns", "", "pool.Blocks"},
	{"16 to 512 bytes, replaced at random", "W4", "slab", "ns", "", ""},
	{"16 bytes to 64 KiB, replaced at random", "W6", "manager", "ns", "", ""},
	{"100,000 blocks, freed at random", "W1", "slab", "ns", "", ""},
	{"freed by another thread", "W8", "slab and remote", "ns", "", ""},
	{"Alloc alone: 99.9 % take at most", "W12", "manager", "p99.9, ns", ", p999", ""},
}

// others are the columns behind Strata's, as the README and performance.md name them.
var others = [][2]string{{"Go heap", "Go runtime"}, {"sync.Pool", "sync.Pool"}, {"mimalloc", "mimalloc"}, {"tcmalloc", "tcmalloc"}}

// The table of the README is an extract of what memory/bench has printed.
func TestFront_PeersAreThoseOfTheBench(t *testing.T) {
	const begin, end = "<!-- peers: ", "<!-- end of peers -->"
	text, bench := readFile(t, readmeFile), readFile(t, "../../memory/doc/performance.md")
	head, rest, ok := strings.Cut(text, begin)
	mark, rest, ok2 := strings.Cut(rest, "-->\n")
	old, tail, ok3 := strings.Cut(rest, end)
	if !ok || !ok2 || !ok3 {
		t.Fatalf("README.md has no table between %q and %q", begin, end)
	}
	want := "\n" + peerTable(t, bench) + "\n"
	if *update {
		if err := os.WriteFile(readmeFile, []byte(head+begin+mark+"-->\n"+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Errorf("the table of peers is\n%s\nperformance.md has\n%s\ngo test -run Front ./demo/dropin -update writes it", old, want)
	}
}

// peerTable returns the table. The least figure of a row is bold, and so are those within the spread of A/A above it.
func peerTable(t *testing.T, bench string) string {
	t.Helper()
	machine := regexp.MustCompile(`(?m)^(go[\d.]+), \w+/\w+, (.*?);`).FindStringSubmatch(bench)
	if machine == nil {
		t.Fatal("performance.md does not name the processor")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| ns for untyped Alloc and Free, %s, %s | Strata |", machine[1], machine[2])
	for _, o := range others {
		b.WriteString(" " + o[0] + " |")
	}
	b.WriteString("\n|---|---:" + strings.Repeat("|---:", len(others)) + "|\n")
	for _, p := range peers {
		table := benchTable(t, bench, p.workload, p.column)
		figures := []string{table[p.side]}
		for _, o := range others {
			figures = append(figures, table[o[1]])
		}
		least := math.Inf(1)
		for _, f := range figures {
			least = min(least, number(t, f))
		}
		for i, f := range figures {
			if number(t, f) <= least*(1+spreadOf(t, bench, p.workload+", "+p.side+p.judged)) {
				figures[i] = "**" + f + "**"
			}
		}
		fmt.Fprintf(&b, "| %s (%s) | %s |\n", p.what, cmp.Or(p.by, p.side), strings.Join(figures, " | "))
	}
	return b.String()
}

// spreadOf returns the spread of A/A of a judged ratio, as a share.
func spreadOf(t *testing.T, bench, ratio string) float64 {
	t.Helper()
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(ratio) + ` \|.* ±([\d.]+) % \|`).FindStringSubmatch(bench)
	if row == nil {
		t.Fatalf("performance.md does not judge %s", ratio)
	}
	return number(t, row[1]) / 100
}

// benchTable returns a column of a workload's table by side.
func benchTable(t *testing.T, bench, workload, column string) map[string]string {
	t.Helper()
	_, rest, ok := strings.Cut(bench, "\n| "+workload+" | ns | ")
	if !ok {
		t.Fatalf("performance.md has no table of %s", workload)
	}
	rest = "| " + workload + " | ns | " + rest
	rows, _, _ := strings.Cut(rest, "\n\n")
	at := -1
	values := map[string]string{}
	for row := range strings.SplitSeq(rows, "\n") {
		cells := strings.Split(row, " | ")
		if at < 0 {
			for i, c := range cells {
				if strings.Trim(c, "| ") == column {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("the table of %s has no column %s", workload, column)
			}
		} else if at < len(cells) {
			values[strings.TrimPrefix(cells[0], "| ")] = strings.Trim(cells[at], "| ")
		}
	}
	return values
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatalf("%q in performance.md is no figure", s)
	}
	return v
}

// The figures of the programs are in the table of the README beside them, in the row of the same program.
func TestFront_FiguresAreThoseOfThePrograms(t *testing.T) {
	programs := readFile(t, "README.md")
	rows := 0
	for row := range strings.Lines(readFile(t, readmeFile)) {
		if !strings.HasPrefix(row, "| `server`") && !strings.HasPrefix(row, "| `sprites`") {
			continue
		}
		rows++
		figures := regexp.MustCompile(`\d+\.\d+`).FindAllString(row, -1)
		if len(figures) != 2 {
			t.Errorf("%q: figures %q, want two", row, figures)
		}
		for _, f := range figures {
			if !regexp.MustCompile(`\| ` + regexp.QuoteMeta(f) + ` [|(]`).MatchString(programs) {
				t.Errorf("demo/dropin/README.md has no %s: %s", f, row)
			}
		}
	}
	if rows < 5 {
		t.Errorf("%d rows with figures of programs", rows)
	}
}

// The sentences in front of the table have its figures, and those of the demo's comparison.
func TestFront_SentencesHaveTheFiguresOfTheTables(t *testing.T) {
	text := strings.Join(strings.Fields(readFile(t, readmeFile)), " ")
	bench := readFile(t, "../../memory/doc/performance.md")
	tail, tie := benchTable(t, bench, "W12", "p99.9, ns"), ""
	if number(t, tail["sync.Pool"]) <= number(t, tail["manager"])*(1+spreadOf(t, bench, "W12, manager, p999")) {
		tie = " (a tie)"
	}
	// tiers are played twice
	play := regexp.MustCompile(`(?m)^\| in play \| 0 \((\d+)–(\d+)\) \| 0 \((\d+)–(\d+)\) \| .*?\| (\d+) \(.*?\| .*?\| (\d+) \(`).FindStringSubmatch(readFile(t, "../README.md"))
	if play == nil {
		t.Fatal("demo/README.md has no row of collections in play with a median of 0")
	}
	span := min(play[1], play[3])
	if most := max(play[2], play[4]); most != span {
		span += " to " + most
	}
	judged, missed := 0, 0
	for _, row := range regexp.MustCompile(`(?m)^\| [^|]*[^|)] \|.* \| (met|missed) ?[^|]*\|$`).FindAllStringSubmatch(bench, -1) { // "(… not judged)" ends in a parenthesis
		judged++
		if row[1] == "missed" {
			missed++
		}
	}
	for _, want := range []string{
		fmt.Sprintf("Of %d goals set beforehand, as ratios to peers, %d are missed.", judged, missed),
		fmt.Sprintf("99.9 %% of allocations take at most %s ns; sync.Pool needs %s ns%s, the Go heap %.0f µs (GOMAXPROCS=1).", tail["manager"], tail["sync.Pool"], tie, number(t, tail["Go runtime"])/1000),
		fmt.Sprintf("Half a minute of the demo's fullest play, with `GOGC` unset, has %s collections; pools by hand have %s, the Go heap has %s.", span, play[6], play[5]),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}

// The page about Go's own memory has figures of two workloads, and they are those of their tables.
func TestFront_EnoughHasTheFiguresOfTheTables(t *testing.T) {
	bench, page := readFile(t, "../../memory/doc/performance.md"), readFile(t, "../../memory/doc/enough.md")
	w3, w9 := benchTable(t, bench, "W3", "ns"), benchTable(t, bench, "W9", "ns")
	want := fmt.Sprintf("| pool.Blocks, arena.Linear | %s | %s |\n", w3["pool"], w9["arena"])
	for _, side := range []string{"sync.Pool", "Go runtime", "GOEXPERIMENT=arenas"} {
		want += fmt.Sprintf("| %s | %s | %s |\n", side, w3[side], w9[side])
	}
	if !strings.Contains(page, want) {
		t.Errorf("enough.md has no\n%s", want)
	}
}

// What the README counts is what other tests of this folder count.
func TestFront_CountsAreThoseOfTheTests(t *testing.T) {
	text := strings.Join(strings.Fields(readFile(t, readmeFile)), " ")
	for _, want := range []string{
		fmt.Sprintf("main file has under %d lines", mostLines),
		"The overlay takes six lines",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}
