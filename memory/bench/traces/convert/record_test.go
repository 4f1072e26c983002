package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/trace"
)

const descriptor = 99 // as in record.c

// compile runs the C compiler.
func compile(t *testing.T, args ...string) {
	t.Helper()
	if out, err := testenv.Command(t, "cc", append([]string{"-O2", "-Wall", "-Wextra", "-Werror"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
}

// record runs testdata/calls.c with record.c and a file for so many calls, and returns the events of the trace.
func record(t *testing.T, calls int64) []trace.Event {
	t.Helper()
	requireRecorder(t)
	dir := t.TempDir()
	library, program, file := filepath.Join(dir, "record.so"), filepath.Join(dir, "calls"), filepath.Join(dir, "out")
	compile(t, "-shared", "-fPIC", "-o", library, "../../c/record.c")
	compile(t, "-pthread", "-fno-builtin", "-o", program, "testdata/calls.c")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := out.Truncate(calls * callBytes); err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, program)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+library)
	cmd.ExtraFiles = make([]*os.File, descriptor-2) // the first one has descriptor 3
	cmd.ExtraFiles[descriptor-3] = out
	if text, err := cmd.CombinedOutput(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the program ended with %v, not by its own SIGKILL\n%s", err, text)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return converted(t, in, 1<<40)
}

// converted converts recorded calls, and reads the trace.
func converted(t *testing.T, calls io.Reader, limit uint64) (events []trace.Event) {
	t.Helper()
	var out bytes.Buffer
	w, err := trace.NewWriter(&out, trace.Header{Program: "test"}, trace.Config{Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	n, err := convert(w, calls, limit)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if n != uint64(len(events)) {
		t.Errorf("convert returned %d operations, and the trace has %d", n, len(events))
	}
	return events
}

// text writes events in the order of their list. Blocks are numbered from the first one.
func text(events []trace.Event) string {
	var lines []string
	first := events[0].Block
	for _, e := range events {
		switch e.Kind {
		case trace.Alloc:
			lines = append(lines, fmt.Sprintf("%d alloc %d %d", e.Block-first, e.Size, e.Align))
		case trace.Free:
			lines = append(lines, fmt.Sprintf("%d free", e.Block-first))
		case trace.Resize:
			lines = append(lines, fmt.Sprintf("%d resize %d", e.Block-first, e.Size))
		}
	}
	return strings.Join(lines, "\n")
}

const wantOneThread = `0 alloc 1001 16
0 resize 4194304
0 free
1 alloc 1002 16
1 free
2 alloc 1003 16
3 alloc 1004 64
3 free
4 alloc 8192 4096
4 free
5 alloc 1006 32
5 free
6 alloc 1007 4096
6 free
7 alloc 4096 4096
7 free
8 alloc 0 1
8 free
9 alloc 9 8
9 free
10 alloc 10 8
10 free`

func TestRecord_WritesEveryCallInOrder(t *testing.T) {
	events := record(t, 1<<20)
	at := slices.IndexFunc(events, func(e trace.Event) bool { return e.Kind == trace.Alloc && e.Size == 1001 })
	if at < 0 {
		t.Fatal("no block of 1001 bytes")
	}
	want := strings.Count(wantOneThread, "\n") + 1
	if got := text(events[at:min(at+want, len(events))]); got != wantOneThread {
		t.Errorf("got:\n%s\nwant:\n%s", got, wantOneThread)
	}
	last := events[len(events)-1]
	if last.Kind != trace.Alloc || last.Size != 1009 {
		t.Errorf("the last event before SIGKILL is %v of %d bytes, want alloc of 1009", last.Kind, last.Size)
	}
}

func TestRecord_ThreadsHaveNumbersAndLoseNothing(t *testing.T) {
	const threads, rounds, resized = 4, 2000, 4000 // as in calls.c
	allocs, resizes := map[uint64]uint32{}, 0      // size to thread
	counts, owner := map[uint64]int{}, map[uint64]uint32{}
	foreign, live := 0, map[uint64]bool{}
	for _, e := range record(t, 1<<20) {
		switch {
		case e.Kind == trace.Alloc && e.Size >= 3000 && e.Size < 3000+threads:
			if thread, seen := allocs[e.Size]; seen && thread != e.Thread {
				t.Fatalf("blocks of %d bytes come from threads %d and %d", e.Size, thread, e.Thread)
			}
			allocs[e.Size] = e.Thread
			counts[e.Size]++
			owner[e.Block], live[e.Block] = e.Thread, true
		case e.Kind == trace.Resize && e.Size == resized:
			resizes++
		case e.Kind == trace.Free && live[e.Block]:
			delete(live, e.Block)
			if owner[e.Block] != e.Thread {
				foreign++
			}
		case e.Size == 7777:
			t.Error("a call of the child is in the trace")
		}
	}
	for size := uint64(3000); size < 3000+threads; size++ {
		if counts[size] != rounds || allocs[size] < 1 || allocs[size] > threads {
			t.Errorf("%d blocks of %d bytes by thread %d, want %d by a thread from 1 to %d", counts[size], size, allocs[size], rounds, threads)
		}
	}
	if resizes != threads*rounds/8 || len(live) != 0 || foreign == 0 {
		t.Errorf("%d resizes, %d blocks live, %d freed by another thread: want %d, 0, and more than 0", resizes, len(live), foreign, threads*rounds/8)
	}
}

func TestRecord_SizeOfTheFileIsTheLimit(t *testing.T) {
	if events := record(t, 5); len(events) == 0 || len(events) > 5 {
		t.Errorf("%d events of 5 calls", len(events))
	}
}

// requireRecorder skips the test on other systems, and without a C compiler or glibc.
func requireRecorder(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("record.c is for Linux")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		testenv.Missing(t, "a C compiler")
	}
	out, err := testenv.Command(t, "ldd", "--version").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("GLIBC")) && !bytes.Contains(out, []byte("GNU libc")) {
		testenv.Missing(t, "glibc")
	}
}
