package main

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"
)

// known returns results that depend on how often it was asked for the column.
func known(asked *[]cell) runner {
	return func(c cell, limit time.Duration) (result, error) {
		k := 0
		for _, before := range *asked {
			if before == c {
				k++
			}
		}
		*asked = append(*asked, c)
		column := slices.Index(modes, c.Mode)
		slow := []int{2, 0, 3, 1}[k] // the median of four is the upper one of two
		return result{
			CPU: 0.1 + float64(column)*0.05 + float64(slow)*0.01, Cycles: 10*column + slow,
			InPlay: 5*column + slow, Peak: c.Live + 100*column + slow,
		}, nil
	}
}

const table = `3 levels a process; medians of 4 processes

live MiB  garbage MB                 CPU ms          spread  to plain  collections  in play  peak MiB
      16         200  plain Go          120      100 to 130      1.00            2        2        18
      16         200  plain again       170      150 to 180      1.42           12        7       118
      16         200  paced             220      200 to 230      1.83           22       12       218
      16         200  Keep              270      250 to 280      2.25           32       17       318

     100         200  plain Go          120      100 to 130      1.00            2        2       102
     100         200  plain again       170      150 to 180      1.42           12        7       202
     100         200  paced             220      200 to 230      1.83           22       12       302
     100         200  Keep              270      250 to 280      2.25           32       17       402

      16           0  plain Go          120      100 to 130      1.00            2        2        18
      16           0  plain again       170      150 to 180      1.42           12        7       118
      16           0  paced             220      200 to 230      1.83           22       12       218
      16           0  Keep              270      250 to 280      2.25           32       17       318

`

func TestCompare_PrintsARowForEachSizeAndOneWithoutGarbage(t *testing.T) {
	var out bytes.Buffer
	var asked []cell
	if err := compare(&out, options{rounds: 4, levels: 3, live: []int{16, 100}, garbage: 200}, known(&asked)); err != nil {
		t.Fatal(err)
	}
	if out.String() != table {
		t.Errorf("\n%s\nwant\n%s", &out, table)
	}
	if want := (cell{Mode: plain, Live: 16, Levels: 3}); len(asked) != 48 || asked[32] != want {
		t.Errorf("%+v of %d", asked[32], len(asked))
	}
}

func TestMeasure_TheColumnsTakeTurns(t *testing.T) {
	var asked []cell
	row := cell{Live: 4, Garbage: 5, Levels: 6}
	all, err := measure(row, options{rounds: 3}, known(&asked))
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	var want []cell
	for _, mode := range []string{plain, again, paced, keep, again, paced, keep, plain, paced, keep, plain, again} {
		row.Mode = mode
		want = append(want, row)
	}
	if !slices.Equal(asked, want) {
		t.Errorf("%+v, want %+v", asked, want)
	}
	for mode, rs := range all {
		if len(rs) != 3 {
			t.Errorf("%s: %+v", mode, rs)
		}
	}
}

func TestMeasure_GivesEachProcessItsLimit(t *testing.T) {
	_, err := measure(cell{}, options{rounds: 1, limit: time.Minute}, func(_ cell, limit time.Duration) (result, error) {
		if limit != time.Minute {
			t.Error(limit)
		}
		return result{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCompare_TheFirstCellThatFailsEndsIt(t *testing.T) {
	var out bytes.Buffer
	calls, broken := 0, errors.New("broken")
	err := compare(&out, options{rounds: 1, levels: 1, live: []int{16}}, func(cell, time.Duration) (result, error) {
		if calls++; calls == 3 {
			return result{}, broken
		}
		return result{}, nil
	})
	if !errors.Is(err, broken) || err.Error() != "paced with 16 MiB live: broken" || calls != 3 || bytes.Contains(out.Bytes(), []byte(plain)) {
		t.Errorf("%v after %d calls\n%s", err, calls, &out)
	}
}
