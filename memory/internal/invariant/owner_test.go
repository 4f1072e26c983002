package invariant

import (
	"sync"
	"testing"
	"unsafe"
)

func TestOwner_CostsNothingUnlessTheBuildDebugs(t *testing.T) {
	var o Owner
	var both sync.Locker = &o // what makes `go vet` name copies
	for _, f := range []func(){both.Lock, both.Unlock} {
		f()
	}
	bytes := func() string { return string(unsafe.Slice((*byte)(unsafe.Pointer(&o)), unsafe.Sizeof(o))) } // a copy would be named
	before := bytes()
	o.Touch()
	if want := map[bool]uintptr{true: 8, false: 0}[Debug]; unsafe.Sizeof(o) != want {
		t.Errorf("an Owner has %d bytes; want %d", unsafe.Sizeof(o), want)
	}
	if wrote := bytes() != before; wrote != Debug {
		t.Errorf("Touch writes: %t; want %t", wrote, Debug)
	}
}

func TestLevel_DialHasThreePositions(t *testing.T) {
	if FreshByte != 0xCD || FreedByte != 0xDD {
		t.Errorf("the patterns of other debug heaps are 0xCD and 0xDD, not %#x and %#x", FreshByte, FreedByte)
	}
	if Level < 0 || Level > 2 || Exact != (Level > 0) || Debug != (Level == 2) {
		t.Errorf("level %d: exact %t, debug %t", Level, Exact, Debug)
	}
}

func TestFill_EverySizeAndNotAByteMore(t *testing.T) {
	for size := range uintptr(200) {
		var buf [202]byte
		for what, fill := range map[byte]func(unsafe.Pointer, uintptr){FreshByte: Fresh, FreedByte: Freed} {
			fill(unsafe.Pointer(&buf[1]), size)
			for i, b := range buf {
				want := byte(0)
				if Debug && i >= 1 && uintptr(i) <= size {
					want = what
				}
				if b != want {
					t.Fatalf("%d bytes of %#x: byte %d is %#x", size, what, i, b)
				}
			}
			clear(buf[:])
		}
	}
}
