package memtest

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// progress verifies that what was freed is found again: twenty times the memory there is goes
// through the allocator, in large blocks, in small ones, and in large ones again.
func progress(t testing.TB, s Subject) {
	a := s.make(t, nil)
	blocks, _, _ := fillUp(t, s, a)
	first := len(blocks)
	for round := range Rounds(20) {
		if !giveBack(a, blocks, s) {
			return // nothing comes back but by Reset, and there is none
		}
		check(t, a)
		if round%4 == 3 && s.FixedSize == 0 {
			small := s
			small.MaxSize = min(s.MaxSize, 48)
			blocks, _, _ = fillUp(t, small, a)
			giveBack(a, blocks, small)
		}
		few := first
		if s.Hoards {
			few = first * 9 / 10 // the rest waits somewhere
		}
		if blocks, _, _ = fillUp(t, s, a); len(blocks) < few {
			t.Fatalf("round %d: of %d blocks of %d bytes that were freed only %d are found again", round, first, s.MaxSize, len(blocks))
		}
	}
	if s.LIFO || s.KeepsFreed || s.Hoards {
		return
	}
	for i := 0; i < len(blocks); i += 2 {
		a.Free(blocks[i], s.MaxSize)
	}
	for i := 0; i < len(blocks); i += 2 {
		if _, err := a.Alloc(s.MaxSize, 1); err != nil {
			t.Fatalf("every second of %d blocks was freed; the hole of block %d is lost: %v", len(blocks), i, err)
		}
	}
	check(t, a)
}

// giveBack frees blocks newest first, or all at once where freeing gives nothing back.
func giveBack(a memory.Allocator, blocks []unsafe.Pointer, s Subject) bool {
	if s.KeepsFreed || s.Hoards {
		r, ok := a.(memory.Resetter)
		if ok {
			r.Reset()
		}
		return ok
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		a.Free(blocks[i], s.MaxSize)
	}
	return true
}

// honestStats runs programs on an allocator that starts and ends small, so that every figure
// rises, falls and stays; the machine compares the books with its own at each step.
func honestStats(t testing.TB, s Subject) {
	a := s.make(t, nil)
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
	for seed := range uint64(Rounds(4)) {
		m.run(RandomProgram(seed+50, 300))
		m.finish()
		m.count()
	}
	before := stats(t, a).Failures
	if _, err := a.Alloc(^uintptr(0), 1); !exhausts(err) || stats(t, a).Failures != before+1 {
		t.Errorf("a request for the whole address space: %v, counted as %d failures", err, stats(t, a).Failures-before)
	}
}

// honestSizes has every byte that SizeOf calls usable used, in all blocks at once.
func honestSizes(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	z, ok := a.(memory.Sizer)
	if !ok {
		return
	}
	var asked, usable uintptr
	for i := range uint32(60) {
		size, al := s.size(i*977+3), s.align(i)
		p, err := a.Alloc(size, al)
		if err != nil {
			continue
		}
		n := z.SizeOf(p)
		if n < size || s.ExactSizes && n != size {
			t.Fatalf("SizeOf(%p) = %d for a block of %d bytes", p, n, size)
		}
		shadow.Add(p, n, al)
		asked, usable = asked+size, usable+n
	}
	shadow.VerifyAll()
	if st := stats(t, a); st.InUse < uint64(usable) {
		t.Errorf("SizeOf grants %d bytes for %d asked; %d are in use", usable, asked, st.InUse)
	}
	for _, b := range shadow.Live() {
		if n := z.SizeOf(b.Ptr); n != b.Size {
			t.Errorf("SizeOf(%p) = %d, was %d", b.Ptr, n, b.Size)
		}
	}
	check(t, a)
	sizesAfterResize(t, s)
}

// sizesAfterResize resizes blocks among others that lie close to them, and has every byte used that
// SizeOf calls usable then.
func sizesAfterResize(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	z := a.(memory.Sizer)
	r, ok := a.(memory.Resizer)
	if !ok || s.FixedSize != 0 {
		return
	}
	m := &machine{tb: t, s: s, a: a, shadow: shadow}
	asked := map[unsafe.Pointer]uintptr{}
	for i := range uint32(40) {
		size, al := s.size(i*977+3)%2048, s.align(i)
		if p, err := a.Alloc(size, al); err == nil {
			shadow.Add(p, z.SizeOf(p), al)
			asked[p] = size
		}
	}
	for i := range uint32(300) {
		k := m.pick(i * 31 << 4)
		b, size := shadow.Live()[k], s.size(i*2_654_435_761>>7)%3072
		if !r.Resize(b.Ptr, asked[b.Ptr], size) {
			size = asked[b.Ptr]
		}
		n := z.SizeOf(b.Ptr)
		if n < size || s.ExactSizes && n != size {
			t.Fatalf("SizeOf(%p) = %d after Resize to %d bytes", b.Ptr, n, size)
		}
		asked[b.Ptr] = size
		m.shadow.Resize(k, n)
		var usable uint64
		for _, b := range shadow.Live() {
			usable += uint64(z.SizeOf(b.Ptr))
		}
		if st := stats(t, a); st.InUse < usable {
			t.Fatalf("after Resize of %p to %d bytes SizeOf grants %d bytes in all; %d are in use", b.Ptr, size, usable, st.InUse)
		}
	}
	shadow.VerifyAll()
	check(t, a)
}

// honestLargest takes the system away from a heap full of holes: a request of LargestFree
// bytes must succeed, one beyond all rounding must not.
func honestLargest(t testing.TB, s Subject) {
	if s.FixedSize != 0 || s.LIFO || s.KeepsFreed || s.Hoards {
		return
	}
	for seed := range uint64(Rounds(6)) {
		src := NewFaulty()
		a := s.make(t, src)
		m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
		m.run(RandomProgram(seed+80, 200))
		st := stats(t, a)
		if st.Free > st.Committed-st.InUse {
			t.Fatalf("%d bytes are free of %d committed with %d in use", st.Free, st.Committed, st.InUse)
		}
		if st.Free == 0 {
			continue
		}
		src.FailAt, src.ForGood = src.Calls()+1, true
		beyond := 2*uintptr(st.LargestFree) + page.Granule
		if _, err := a.Alloc(beyond, 1); err == nil {
			t.Errorf("seed %d: LargestFree is %d, yet %d bytes can be had without more memory", seed, st.LargestFree, beyond)
		}
		if st.LargestFree > 0 {
			if _, err := a.Alloc(uintptr(st.LargestFree), 1); err != nil {
				t.Errorf("seed %d: LargestFree is %d, which cannot be had: %v", seed, st.LargestFree, err)
			}
		}
		check(t, a)
	}
}

// unchanged reports whether a call that failed has left every figure but Failures as it was. To find
// memory such a call may give up what waits in quarantine: of a subject that hoards, what is free or
// committed may have changed.
func (s Subject) unchanged(before, after memory.Stats) bool {
	if s.Hoards {
		after.Reserved, after.Committed = before.Reserved, before.Committed
		after.Free = before.Free
	}
	after.LargestFree = before.LargestFree // slab gives up what it has recycled before it fails
	after.Failures = before.Failures
	return after == before
}

// sameBlocks reports whether the figures speak of the same blocks.
func sameBlocks(a, b memory.Stats) bool {
	return a.InUse == b.InUse && a.Live == b.Live && a.Allocs == b.Allocs && a.Frees == b.Frees && a.Requested == b.Requested && a.Measured == b.Measured
}

// exhausts reports whether err is one of the two refusals for want of memory.
func exhausts(err error) bool {
	return errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge)
}
