package shell

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/strata-go/strata/demo/strictjson"
)

// A Run is a game in the table of best runs. A game that was rewound counts like any other, and the table marks it.
type Run struct {
	Score int64  `json:"score"`
	Realm string `json:"realm"` // the last realm that was reached
	Ticks uint64 `json:"ticks"` // sixtieths of a second
	Kills uint64 `json:"kills"`
	Seed  uint64 `json:"seed"`
	Won   bool   `json:"won"`
	Day   string `json:"day,omitempty"` // the day of a daily run, such as 2026-11-24

	Rewinds int `json:"rewinds,omitempty"` // charges that the player has used
}

// BestRuns is the largest number of runs in the table.
const BestRuns = 10

type runsFile struct {
	header
	Runs []Run `json:"runs"`
}

// ReadRuns reads the content of a file of [WriteRuns] and returns the runs, the best first. If the file is malformed,
// the error describes the mistake.
func ReadRuns(data []byte) ([]Run, error) {
	if err := check(data, runsKind); err != nil {
		return nil, err
	}
	var f runsFile
	if _, err := strictjson.Decode(data, &f); err != nil {
		return nil, err
	}
	if len(f.Runs) > BestRuns {
		return nil, fmt.Errorf("%d runs; allowed are %d", len(f.Runs), BestRuns)
	}
	for i, r := range f.Runs {
		if r.Score < 0 || r.Rewinds < 0 || len(r.Realm) > realmNameLength || len(r.Day) > dayLength {
			return nil, fmt.Errorf("run %d: score %d in %.20q is not valid", i, r.Score, r.Realm)
		}
	}
	slices.SortStableFunc(f.Runs, better)
	return f.Runs, nil
}

// WriteRuns returns the content of a file with these runs, as JSON. [ReadRuns] refuses the file if there are more than
// BestRuns runs, if a Score or Rewinds is negative, or if a Realm exceeds 64 bytes or a Day 10 bytes.
func WriteRuns(runs []Run) ([]byte, error) {
	return json.MarshalIndent(runsFile{header{runsKind, fileVersion}, runs}, "", "  ")
}

// better orders runs: the higher score, and of equals the shorter.
func better(a, b Run) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ticks, b.Ticks))
}

// dayLength is the most that a day may have.
const dayLength = len("2026-11-24")

// months are the names of a day's month.
var months = [...]string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}

// dayLabel returns the displayed form of a day: 2026-11-24 is 24 NOV. Any other text is returned as it is.
func dayLabel(day string) string {
	var y, m, d int
	if n, err := fmt.Sscanf(day, "%4d-%2d-%2d", &y, &m, &d); n != 3 || err != nil || m < 1 || m > len(months) {
		return day
	}
	return fmt.Sprintf("%d %s", d, months[m-1])
}

// insert puts r into the table and returns its place, or -1 if ten others are better.
func insert(runs []Run, r Run) ([]Run, int) {
	at, _ := slices.BinarySearchFunc(runs, r, func(a, b Run) int {
		if better(a, b) <= 0 { // a new run comes after equal ones
			return -1
		}
		return 1
	})
	if at >= BestRuns {
		return runs, -1
	}
	runs = slices.Insert(runs, at, r)
	return runs[:min(len(runs), BestRuns)], at
}
