package invariant

import (
	"sync"
	"testing"
	"unsafe"
)

func TestLives_KeepTheNewestSizeAndCountBlocks(t *testing.T) {
	var l Lives
	granules := []uintptr{0, 1, 1<<10 - 1, 1 << 10, 5000, 3, 70_000, 12}
	for round := range uint32(3) {
		for i, g := range granules {
			if got := l.Generation(g); Debug && got != round || !Debug && got != 0 {
				t.Fatalf("granule %d in round %d: generation %d", g, round, got)
			}
			l.Begin(g, uintptr(i)*1000+uintptr(round))
		}
		for i, g := range granules {
			want := uintptr(i)*1000 + uintptr(round)
			if got := l.Size(g); Debug && got != want || !Debug && got != 0 {
				t.Errorf("granule %d: size %d, want %d", g, got, want)
			}
		}
	}
	for _, g := range []uintptr{2, 1<<10 + 1, 1 << 20, ^uintptr(0)} {
		if l.Size(g) != 0 || l.Generation(g) != 0 {
			t.Errorf("granule %d, where no block started: size %d, generation %d", g, l.Size(g), l.Generation(g))
		}
	}
	l.Prepare(200_000)
	if l.Generation(5000) != l.Generation(3) || l.Generation(100_000) != 0 {
		t.Error("Prepare changed an entry")
	}
	if n := testing.AllocsPerRun(1, func() { l.Begin(199_999, 1); l.Begin(150_000, 1) }); n != 0 {
		t.Errorf("%v Go allocations after Prepare", n)
	}
	l.Resize(5000, 77)
	if size, generation := l.Size(5000), l.Generation(5000); Debug && (size != 77 || generation != 3) {
		t.Errorf("after Resize: size %d, generation %d", size, generation)
	}
}

func TestLives_AnAddressIsItsGranule(t *testing.T) {
	var l Lives
	buf := make([]byte, 64)
	at := func(off int) unsafe.Pointer { return unsafe.Pointer(&buf[off]) }
	l.Begin(1, 5)
	if l.GenerationAt(at(32)) != 0 {
		t.Error("a generation before Open")
	}
	l.Open(at(16), 32, 4)
	l.BeginAt(at(32), 6)
	if got := l.SizeAt(at(32)); Debug && got != 6 || l.SizeAt(at(33)) != 0 || l.SizeAt(at(16)) != 0 || l.SizeAt(at(48)) != 0 {
		t.Errorf("size %d at byte 32; want 6, and 0 elsewhere", got)
	}
	for off, want := range map[int]uint32{15: 0, 16: 0, 31: 0, 32: 2, 33: 0, 47: 0, 48: 0, 0: 0} {
		if got := l.GenerationAt(at(off)); Debug && got != want || !Debug && got != 0 {
			t.Errorf("generation %d at byte %d; want %d", got, off, want)
		}
	}
}

func TestLives_ManyGoroutinesLoseNoBlock(t *testing.T) {
	var l Lives
	var wg sync.WaitGroup
	const workers, granules = 4, 40_000
	for w := range uintptr(workers) {
		wg.Go(func() {
			for g := w; g < granules; g += workers {
				l.Begin(g, g)
				_ = l.Generation(granules - g)
			}
		})
	}
	wg.Wait()
	for g := range uintptr(granules) {
		if size, generation := l.Size(g), l.Generation(g); Debug && (size != g || generation != 1) {
			t.Fatalf("granule %d: size %d, generation %d", g, size, generation)
		}
	}
}
