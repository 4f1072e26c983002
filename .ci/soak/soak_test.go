package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

func soak(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

func TestSoak_EveryFamilyForAMoment(t *testing.T) {
	code, stdout, stderr := soak("-ops", "6000", "-segment", "3000", "-check", "512", "-seed", "11")
	if code != 0 {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	for _, f := range subjects() {
		if !strings.Contains(stdout, f.name+" ") {
			t.Errorf("no row for %s in\n%s", f.name, stdout)
		}
	}
}

func TestFlags_MistakesExitWith2AndSayWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-family", "slabs"}, "choose from all, linear, growing"},
		{[]string{"-ops", "0"}, "are at least 1"},
		{[]string{"-ops", "10", "-only", "1"}, "-only 1; allowed are -1, and 0 to 0 with -ops 10"}, // it played nothing, and reported success
		{[]string{"-ops", "9223372036854775807", "-segment", "9223372036854775807", "-only", "1"}, "0 to 0 with"},
		{[]string{"now"}, `unexpected argument "now"`},
		{[]string{"-nonsense"}, "flag provided but not defined"},
	} {
		if code, _, stderr := soak(c.args...); code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %q; want exit 2 and %q", c.args, code, stderr, c.want)
		}
	}
}

// A full disk was exit 0.
func TestSoak_AFullDiskFails(t *testing.T) {
	var fault bytes.Buffer
	if code := run([]string{"-ops", "1", "-family", "stack"}, cmdtest.FullDisk{}, &fault); code != 1 || fault.String() != "soak: no space left\n" {
		t.Errorf("exit %d, %q", code, &fault)
	}
}

func TestSoak_GoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-family", "stack", "-ops", "4000", "-segment", "1000", "-state", dir}
	if code, stdout, _ := soak(append(args, "-budget", "1ns")...); code != 0 || !strings.Contains(stdout, "not reached: 4000 operations of 4000") {
		t.Errorf("without time: exit %d\n%s", code, stdout)
	}
	if code, stdout, _ := soak(args...); code != 0 || !strings.Contains(stdout, " 4000 ") || strings.Contains(stdout, "not reached") {
		t.Errorf("with time: exit %d\n%s", code, stdout)
	}
	if code, stdout, _ := soak(append(args, "-budget", "1ns")...); code != 0 || !strings.Contains(stdout, " 4000 ") || strings.Contains(stdout, "not reached") {
		t.Errorf("again, without time: exit %d\n%s", code, stdout)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, damaged := range []string{"{", `{"seed":1,"ops":4000,"segment_ops":1000,"families":null}`, `{"seed":2,"ops":4000,"segment_ops":1000,"families":{}}`} {
		if err := os.WriteFile(files[0], []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := soak(args...); code != 1 || !strings.Contains(stderr, "remove it to begin again") {
			t.Errorf("a damaged state: exit %d, %q", code, stderr)
		}
	}
}

// Both wrote one temporary file: the second had nothing to rename, or the state was half of each.
func TestState_TwoRunsWithOneFolderSaveWholeStates(t *testing.T) {
	dir := t.TempDir()
	var runs sync.WaitGroup
	for range 2 {
		runs.Go(func() {
			for range 100 {
				st, err := loadState(dir, 1, 2, 3)
				if err == nil {
					st.of("stack").Ops++
					err = st.save()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	runs.Wait()
}

func TestSegment_TheSameSeedGivesTheSameOperations(t *testing.T) {
	numbers := func(k int) (n [100]uint64) {
		s := newSegment("tlsf", 1, k)
		for i := range n {
			n[i] = s.uint64()
		}
		return n
	}
	if first, again := numbers(0), numbers(0); first != again || first == numbers(1) {
		t.Error("a segment's numbers do not follow from its seed alone")
	}
}

// A broken allocator is a tlsf.Heap with one fault.
type broken struct {
	*tlsf.Heap
	n     int
	fault string
	last  unsafe.Pointer
	bytes uintptr
}

func (b *broken) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	b.n++
	if b.n > 2000 && b.fault == "overlap" && b.last != nil && size <= b.bytes && align <= 16 && size > 0 {
		return b.last, nil
	}
	if b.n > 2000 && b.fault == "shortage" && size < 1<<20 {
		return nil, memory.ErrOutOfMemory
	}
	p, err := b.Heap.Alloc(size, align)
	if err == nil && b.fault == "alignment" && b.n > 2000 && align > 16 {
		return unsafe.Add(p, 8), nil
	}
	if err == nil && size >= 64 {
		if b.last != nil && b.n > 2000 && b.fault == "scribble" {
			*(*byte)(b.last) ^= 1
		}
		b.last, b.bytes = p, size
	}
	return p, err
}

func (b *broken) Free(p unsafe.Pointer, size uintptr) {
	switch {
	case b.fault == "swallow":
		if caught(func() { b.Heap.Free(p, size) }) != nil {
			return
		}
	case b.fault == "leak" && size > 1000:
	default:
		b.Heap.Free(p, size)
	}
	b.forget(p)
}

func (b *broken) FreeAny(p unsafe.Pointer) {
	b.Heap.FreeAny(p)
	b.forget(p)
}

func (b *broken) Reset() {
	b.Heap.Reset()
	b.last = nil
}

func (b *broken) forget(p unsafe.Pointer) {
	if p == b.last {
		b.last = nil
	}
}

func (b *broken) SizeOf(p unsafe.Pointer) uintptr {
	if b.fault == "size" {
		return b.Heap.SizeOf(p) + 1
	}
	return b.Heap.SizeOf(p)
}

func (b *broken) Stats() memory.Stats {
	st := b.Heap.Stats()
	switch b.fault {
	case "requested":
		st.Requested++
	case "peak":
		st.Peak = 0
	case "shortage":
		st.Failures = 1 << 30
	case "count":
		st.Frees += 3
		st.Allocs += 3
	}
	return st
}

func TestModel_FindsEachFault(t *testing.T) {
	for fault, want := range map[string]string{
		"":          "",
		"overlap":   "meets a live block",
		"scribble":  "byte 0 of block",
		"alignment": "not aligned",
		"shortage":  "memory: out of memory; yet LargestFree is",
		"swallow":   "recovered <nil>, want a *memory.Misuse",
		"leak":      "want a *memory.Misuse", // of a block that its model thinks is freed
		"size":      "SizeOf block",
		"requested": "bytes were requested; the books say",
		"peak":      "do not add up",
		"count":     "the books say",
	} {
		s := newSegment("broken", 3, 0)
		_, err := s.play(func(s *segment) model {
			cfg := fit(false)(s, page.Default())
			cfg.a = &broken{Heap: cfg.a.(*tlsf.Heap), fault: fault}
			return newHeap(s, cfg)
		}, 30_000, 1000)
		switch {
		case err == nil && want != "":
			t.Errorf("%s: not found", fault)
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v; want %q", fault, err, want)
		case err != nil && !strings.Contains(err.Error(), "the last operations:\n"):
			t.Errorf("%s: no operations in %v", fault, err)
		}
	}
}

func TestTaken_SeesEverySharedUnit(t *testing.T) {
	block := make([]byte, 1<<16)
	base := unsafe.Pointer(unsafe.SliceData(block))
	tk := taken{maps: map[uintptr]*[takenWords]uint64{}}
	if !tk.take(unsafe.Add(base, 100), 9000) {
		t.Fatal("an empty table is not free")
	}
	for _, c := range []struct {
		off, size uintptr
		free      bool
	}{{0, 100, true}, {0, 101, false}, {9099, 1, false}, {9100, 500, true}, {64, 20000, false}, {5000, 1, false}, {5000, 0, true}} {
		probe := taken{maps: map[uintptr]*[takenWords]uint64{}}
		for n, m := range tk.maps {
			probe.maps[n] = new(*m)
		}
		if got := probe.take(unsafe.Add(base, c.off), c.size); got != c.free {
			t.Errorf("[%d, %d) free: %v, want %v", c.off, c.off+c.size, got, c.free)
		}
	}
	tk.drop(unsafe.Add(base, 100), 9000)
	if !tk.take(base, 1<<16) {
		t.Error("what was dropped is still taken")
	}
}
