package container

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

// What was overwritten is refused, or answered with what is there; nothing hangs or runs wild.
func TestContainers_WhatWasWrittenOverEndsAllTheSame(t *testing.T) {
	h, sp := heap(t)
	for _, with := range []byte{0, 0xDD, 0xFF} {
		var m Map[uint32, uint32]
		var s Strings
		for i := range uint32(40) {
			must(t, m.Set(sp, i, i))
			_, err := s.Intern(sp, string(rune('a'+i)))
			must(t, err)
		}
		over := func(off uint64, size uintptr) (restore func()) {
			bytes := unsafe.Slice((*byte)(sp.at(off)), size)
			was := string(bytes)
			for i := range bytes {
				bytes[i] = with
			}
			return func() { copy(bytes, was) }
		}
		restore := over(m.off, m.bytes())
		live := h.Stats().Live
		for range m.All(sp) {
		}
		if _, ok := m.Get(sp, 1000); ok {
			t.Errorf("%#x: 1000 is found", with)
		}
		memtest.Misuse(t, func() { must(t, m.Shrink(sp)); must(t, m.Reserve(sp, 1000)) }, "container.Map", "as many entries as the Map", "freed by a Reset")
		if with != 0 {
			memtest.Misuse(t, func() { must(t, m.Set(sp, 1000, 1)) }, "container.Map: no slot is vacant")
			tab := m.table(sp)
			closeSlot(tab, 0)
		}
		if m.Check(sp) == nil || h.Stats().Live != live {
			t.Errorf("%#x: Check is nil, or %d blocks are left of %d", with, h.Stats().Live, live)
		}
		restore()
		must(t, m.Check(sp))
		m.Free(sp)

		restore = over(s.index.off, uintptr(s.index.cap)*8)
		if with != 0 {
			memtest.Misuse(t, func() { _, err := s.Intern(sp, "new"); must(t, err) }, "container.Strings: no place of the index is vacant")
			s.leave(sp, 0)
		} else if id, ok := s.Lookup(sp, "a"); ok {
			t.Errorf("a is %d in an empty index", id)
		}
		if s.Check(sp) == nil {
			t.Errorf("%#x: Check is nil", with)
		}
		restore()
		s.Forget()
		h.Reset()
	}
	var s Strings
	_, err := s.Intern(sp, "x")
	must(t, err)
	s.text(sp, 1).at = 77 << slotBits
	memtest.Misuse(t, func() { s.Free(sp) }, "container.Strings: a text is on a page that is not there")
	s.text(sp, 1).at = 0
	s.Free(sp)
	var v Vec[uint64]
	must(t, v.Append(sp, 1))
	v.cap++
	memtest.Misuse(t, func() { sp.mustBeBlock(v.off, uintptr(v.cap)*8) }, "container.Space: the block is smaller")
	v.cap--
	v.Free(sp)
}

func TestMap_CheckNamesAnEntryOutOfOrderAndAKeyThatNoSetLeaves(t *testing.T) {
	_, sp := heap(t)
	var m Map[int, int]
	for i := range 90 {
		must(t, m.Set(sp, i, i))
	}
	tab, swapped := m.table(sp), 0
	for i := uint64(1); i <= maskOf(tab); i++ {
		if *ctrlAt(tab, i) == 0 || *ctrlAt(tab, i-1) == 0 || homeOf(tab, hashAt(tab, i)) != homeOf(tab, hashAt(tab, i-1)) {
			continue
		}
		swap := func() {
			a, b, c, d := entryAt(tab, i-1), entryAt(tab, i), ctrlAt(tab, i-1), ctrlAt(tab, i)
			*a, *b, *c, *d = *b, *a, *d, *c
		}
		swap()
		want := fmt.Sprintf("the entry in slot %d belongs in front of the one in slot %d", i, i-1)
		if err := m.Check(sp); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		swap()
		swapped++
	}
	must(t, m.Check(sp))
	m.Free(sp)
	if swapped == 0 {
		t.Error("no two entries have one home")
	}

	var f Map[[2]float32, int]
	must(t, f.Set(sp, [2]float32{0, 2}, 1))
	for i := range uint64(8) {
		if e := entryAt(f.table(sp), i); e.key[1] == 2 {
			e.key[0] = float32(math.Copysign(0, -1))
		}
	}
	if err := f.Check(sp); err == nil || !strings.Contains(err.Error(), "or a -0") {
		t.Errorf("a key with -0: %v", err)
	}
	f.Free(sp)
}
