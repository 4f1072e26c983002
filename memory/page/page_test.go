package page_test

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

var sources = map[string]page.Source{
	"OS": page.OS(), "Heap": page.Heap(), "Limit": page.NewLimit(nil, 0),
	"OSWith": page.OSWith(page.Options{HugePages: true, Prefault: true}),
}

func bytesOf(m page.Memory, off, n uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.Base, off)), n)
}

func TestSource_CommittedMemoryIsZeroAndWritable(t *testing.T) {
	for name, src := range sources {
		m, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(name, err)
		}
		if uintptr(m.Base)%page.BaseAlign != 0 || m.Size != 1<<20 {
			t.Errorf("%s: base %p, size %d", name, m.Base, m.Size)
		}
		for round := range 3 { // a decommitted range comes back zeroed
			if err := src.Commit(m, 64<<10, 128<<10); err != nil {
				t.Fatal(name, err)
			}
			b := bytesOf(m, 64<<10, 128<<10)
			for i := range b {
				if b[i] != 0 {
					t.Fatalf("%s: round %d: byte %d is %#x", name, round, i, b[i])
				}
				b[i] = 0xAB
			}
			if err := src.Decommit(m, 64<<10, 128<<10); err != nil {
				t.Fatal(name, err)
			}
		}
		if err := src.Release(m); err != nil {
			t.Error(name, err)
		}
	}
}

func TestSource_SizesAreRoundedAndImpossibleOnesRefused(t *testing.T) {
	for name, src := range sources {
		m, err := src.Reserve(1)
		if err != nil || m.Size != page.Granule {
			t.Errorf("%s: Reserve(1) gives %d bytes, %v", name, m.Size, err)
		}
		if err := src.Release(m); err != nil {
			t.Error(name, err)
		}
		if _, err := src.Reserve(0); err == nil {
			t.Errorf("%s: Reserve(0) succeeded", name)
		}
		for _, size := range []uintptr{math.MaxUint, math.MaxUint - page.Granule, math.MaxInt} {
			if _, err := src.Reserve(size); !errors.Is(err, memory.ErrTooLarge) {
				t.Errorf("%s: Reserve(%d): %v, want ErrTooLarge", name, size, err)
			}
		}
	}
}

func TestSource_RangesOutsideTheReservationPanic(t *testing.T) {
	for name, src := range sources {
		m, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, r := range [][2]uintptr{{0, 1}, {1, page.Granule}, {0, 2 << 20}, {1 << 20, page.Granule}, {math.MaxUint &^ (page.Granule - 1), page.Granule}} {
			memtest.Misuse(t, func() { _ = src.Commit(m, r[0], r[1]) }, "page.Commit", "inside a reservation of 1048576 bytes")
			memtest.Misuse(t, func() { _ = src.Decommit(m, r[0], r[1]) }, "page.Decommit")
		}
		_ = src.Release(m)
	}
}

func reserve(t *testing.T, src page.Source, size uintptr) page.Memory {
	t.Helper()
	m, err := src.Reserve(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Release(m) })
	return m
}

func TestHeap_ARefusalOfTheSystemIsAnError(t *testing.T) {
	src := page.Heap()
	each := uintptr(math.MaxInt) >> 18 // 32 TiB, which no machine has
	if math.MaxUint == math.MaxUint32 {
		each = 512 << 20 // of which an address space of 4 GiB has eight at most
	}
	refused := func(err error) bool {
		full := (*memory.Exhausted)(nil)
		return errors.As(err, &full) && full.Cause != nil
	}
	if runtime.GOARCH == "wasm" { // whose system cannot be asked: the source itself refuses
		refused = func(err error) bool { return errors.Is(err, memory.ErrTooLarge) && errors.Is(err, memory.ErrConfig) }
	}
	var held []page.Memory
	for range 9 {
		m, err := src.Reserve(each)
		if err == nil {
			held = append(held, m)
			continue
		}
		if !refused(err) {
			t.Errorf("%d bytes: %v; want a refusal", each, err)
		}
		if p, err := page.NewPrefix(src, each, each, 0); !refused(err) {
			t.Errorf("%d bytes and no less: %d, %v", each, p.Reserved(), err)
		}
		runtime.KeepAlive(held)
		return
	}
	t.Errorf("the system has given %d bytes nine times", each)
}

func BenchmarkCommitTouch(b *testing.B) {
	for name, src := range map[string]page.Source{
		"plain": page.OS(), "prefault": page.OSWith(page.Options{Prefault: true}),
		"huge": page.OSWith(page.Options{HugePages: true, Prefault: true}), "goheap": page.Heap(),
	} {
		b.Run(name, func(b *testing.B) {
			const size = 8 << 20
			b.SetBytes(size)
			for b.Loop() {
				m, err := src.Reserve(size)
				if err != nil {
					b.Fatal(err)
				}
				if err := src.Commit(m, 0, size); err != nil {
					b.Fatal(err)
				}
				mem := bytesOf(m, 0, size)
				for i := 0; i < size; i += 4096 {
					mem[i] = 1
				}
				if err := src.Release(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Small sizes fit; half of all addresses do not.
func TestProbeAddresses_RefusesWithAnError(t *testing.T) {
	for _, size := range []uintptr{1, page.Granule, 8 << 20} {
		if err := page.ProbeAddresses(size); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if page.Default() == page.Heap() {
		return // nothing is mapped here
	}
	if err := page.ProbeAddresses(math.MaxUint / 2 &^ (1<<20 - 1)); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("half of all addresses: %v", err)
	}
}

func TestProbeHeap_IsRefusedAsAnErrorAndNotAsAnEnd(t *testing.T) {
	for _, size := range []uintptr{0, 1, 1<<20 - 1, 1 << 20, 8 << 20} {
		if err := page.ProbeHeap(size); err != nil {
			t.Errorf("room for %d bytes: %v", size, err)
		}
	}
	for range 4 * (^uintptr(0)>>63 ^ 1) { // of 4 GiB of addresses, two may be free, and more must not be
		if m, err := page.OS().Reserve(512 << 20); err == nil {
			defer page.OS().Release(m)
		}
	}
	for _, size := range []uintptr{math.MaxUint, math.MaxUint - 1<<20, math.MaxUint / 2, math.MaxUint/2 + 1} {
		var full *memory.Exhausted
		if err := page.ProbeHeap(size); !errors.As(err, &full) || full.Need != size || full.Cause == nil {
			t.Errorf("room for %d bytes: %v", size, err)
		}
	}
}

func TestReturnsMemory_NotOnTheGoHeap(t *testing.T) {
	limit := page.NewLimit(page.Heap(), 0)
	carve := newCarve(t, limit, reserve(t, limit, 1<<20))
	for _, c := range []struct {
		src  page.Source
		want bool
	}{{page.Heap(), false}, {carve, false}, {unknown{page.Heap()}, true}, {page.OS(), page.OS() != page.Heap()}, {page.NewLimit(page.OS(), 0), page.OS() != page.Heap()}} {
		if got := page.ReturnsMemory(c.src); got != c.want {
			t.Errorf("%T: %t", c.src, got)
		}
	}
}

// The type unknown has no Under.
type unknown struct{ page.Source }
