package trace_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/strata-go/strata/memory/trace"
)

// A recording of three operations, read back and compiled for a replay.
func Example() {
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Program: "game", Unit: "frame"}, trace.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	enemy := w.Alloc(trace.Where{}, 48, 8)
	w.Tick(trace.Where{})
	w.Resize(trace.Where{}, enemy, 96)
	w.Free(trace.Where{}, enemy)
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	stored := file.Bytes()
	r, err := trace.NewReader(bytes.NewReader(stored))
	for err == nil {
		var e trace.Event
		if e, err = r.Next(); err == nil {
			fmt.Println(e.Kind, e.Block, e.Size)
		}
	}
	if err != io.EOF {
		fmt.Println(err)
	}

	if r, err = trace.NewReader(bytes.NewReader(stored)); err != nil {
		fmt.Println(err)
		return
	}
	p, err := trace.Compile(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Operations, "operations,", p.Slots, "slot, at most", p.Peak, "bytes")
	// Output:
	// alloc 0 48
	// tick 0 0
	// resize 0 96
	// free 0 0
	// 3 operations, 1 slot, at most 96 bytes
}
