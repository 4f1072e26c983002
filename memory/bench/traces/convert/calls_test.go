package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/trace"
)

// stream returns the calls as record.c writes them.
func stream(calls ...call) *bytes.Buffer {
	var b bytes.Buffer
	for _, c := range calls {
		binary.Write(&b, binary.LittleEndian, struct {
			call
			Written uint32
		}{c, 1})
	}
	return &b
}

func alloc(address, size uint64, thread uint32) call {
	return call{address: address, size: size, thread: thread, op: callAlloc}
}

func free(address uint64, thread uint32) call {
	return call{address: address, thread: thread, op: callFree}
}

func move(address uint64, thread uint32) call {
	return call{address: address, thread: thread, op: callMove}
}

func moved(address, size uint64, thread uint32) call {
	return call{address: address, size: size, thread: thread, op: callMoved}
}

func TestConvert_NamesBlocksThroughReuseAndMoves(t *testing.T) {
	events := converted(t, stream(
		alloc(10, 100, 0), alloc(20, 200, 1),
		move(10, 0), alloc(10, 300, 1), moved(30, 400, 0), // thread 1 gets the address during the realloc
		move(20, 1), moved(0, 500, 1), // fails
		free(20, 0), free(30, 0), free(10, 1), alloc(20, 7, 0),
	), 100)
	const want = `0 alloc 100 16
1 alloc 200 16
2 alloc 300 16
0 resize 400
1 free
0 free
2 free
3 alloc 7 4`
	if got := text(events); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if events[1].Thread != 1 || events[3].Thread != 0 {
		t.Errorf("threads %d and %d, want 1 and 0", events[1].Thread, events[3].Thread)
	}
}

func TestConvert_EndsAtTheLimitAndAtAnIncompleteCall(t *testing.T) {
	three := []call{alloc(10, 1, 0), alloc(20, 2, 0), free(10, 0)}
	if n := len(converted(t, stream(three...), 2)); n != 2 {
		t.Errorf("%d events, the limit is 2", n)
	}
	incomplete := stream(three...)
	incomplete.Bytes()[2*callBytes-4] = 0
	if n := len(converted(t, incomplete, 100)); n != 1 {
		t.Errorf("%d events, and the second call is incomplete", n)
	}
	cut := stream(three...)
	cut.Truncate(cut.Len() - 1)
	if n := len(converted(t, cut, 100)); n != 2 {
		t.Errorf("%d events, and the third call is cut", n)
	}
}

func TestConvert_RefusesCallsThatDoNotFit(t *testing.T) {
	for want, calls := range map[string][]call{
		"call 1: an allocation at 0xa, where a block is live":      {alloc(10, 1, 0), alloc(10, 1, 0)},
		"call 0: a free or realloc of 0xa, where no block is live": {free(10, 0)},
		"call 1: a free or realloc of 0xb, where no block is live": {alloc(10, 1, 0), move(11, 0)},
		"call 1: thread 2 ends a realloc that it has not begun":    {alloc(10, 1, 0), moved(11, 1, 2)},
		"call 3: a realloc to 0x14, where a block is live":         {alloc(10, 1, 0), alloc(20, 1, 0), move(10, 0), moved(20, 1, 0)},
		"call 0: operation 9: there are 1 to 4":                    {{op: 9}},
	} {
		w, err := trace.NewWriter(io.Discard, trace.Header{}, trace.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := convert(w, stream(calls...), 100); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAlignment_MallocsAndAskedFor(t *testing.T) {
	for _, c := range []struct {
		size  uint64
		asked uint32
		want  uint64
	}{{0, 0, 1}, {1, 0, 1}, {7, 0, 4}, {8, 0, 8}, {15, 0, 8}, {16, 0, 16}, {5000, 0, 16}, {5, 64, 64}, {0, 4096, 4096}} {
		if got := alignment(c.size, c.asked); got != c.want {
			t.Errorf("size %d, asked %d: %d, want %d", c.size, c.asked, got, c.want)
		}
	}
}

func TestRun_RefusesAnEmptyRecordingAndMissingTexts(t *testing.T) {
	dir := t.TempDir()
	full := []string{"-dir", dir, "-name", "n", "-kind", "k", "-program", "p", "-command", "c"}
	for want, args := range map[string][]string{
		"no calls":               append(full, "-calls", "/dev/null"),
		"no such file":           full,
		"are wanted":             {"-dir", dir, "-name", "n"},
		"without | and line end": append(full, "-kind", "a|b"),
		"0 more arguments":       append(full, "-calls", "a", "-trace", "b"),
		"1 more arguments":       append(full, "x"),
		"-limit 0 and":           append(full, "-limit", "0"),
		"for flag -limit":        append(full, "-limit", "x"),
	} {
		var fault strings.Builder
		if err := run(args, io.Discard, &fault); err == nil || !strings.Contains(err.Error()+fault.String(), want) {
			t.Errorf("%v: %v, %s, want %s", args, err, &fault, want)
		}
	}
}
