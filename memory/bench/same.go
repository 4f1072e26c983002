package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// tiny are the live blocks and operations of a short run, by workload.
var tiny = map[string][2]int{
	"W1": {200, 1}, "cold": {200, 1}, "W2.1": {1, 256}, "W2.64": {64, 256}, "W3": {200, 2}, "W4": {200, 500}, "W5": {200, 3},
	"W6": {200, 500}, "W7": {8, 50}, "W8": {256, 4}, "W9": {200, 2}, "W10": {200, 2}, "W11": {200, 2}, "W12": {200, 500},
	"W13": {1, 200}, replayed: {1, 1}, "W13.freed": {1, 200}, "two": {200, 500},
}

// same runs every side of every test once, on few blocks, and compares the checksums.
func (b *bench) same(tests []test, out io.Writer) error {
	var wrong []error
	sides, done := 0, map[string]bool{}
	for _, t := range tests {
		var first finding
		var firstName string
		for _, name := range b.o.sidesOf(t) {
			s, err := b.side(name)
			if err != nil {
				return err
			}
			key := fmt.Sprint(t.workload, t.whole, name)
			if done[key] { // W11 and growth have several tests of one workload
				continue
			}
			done[key] = true
			size := tiny[t.workload]
			f, err := b.call(t, s, 0, "-live", strconv.Itoa(size[0]), "-ops", strconv.Itoa(size[1]), "-warm", "1", "-reps", "1", "-core", "-1")
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			if firstName == "" {
				first, firstName = f, name
			}
			sides++
			if err := sameWork(t, firstName, name, first, f); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	if len(wrong) == 0 {
		fmt.Fprintf(out, "%d workloads, %d runs: every side does the same work\n", len(tests), sides)
	}
	return errors.Join(wrong...)
}
