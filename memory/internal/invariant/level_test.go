package invariant

import (
	"testing"
	"unsafe"
)

func TestIntact_NamesTheFirstByteWrittenAfterTheFree(t *testing.T) {
	var buf [70]byte
	for _, size := range []uintptr{0, 1, 2, 3, 64, 68} {
		block := unsafe.Pointer(&buf[1])
		Freed(block, size)
		if off, ok := Intact(block, size); off != 0 || !ok {
			t.Errorf("%d bytes as they were freed: %d, %t", size, off, ok)
		}
		for at := range size {
			b := (*byte)(unsafe.Add(block, at))
			*b ^= 0x10
			if off, ok := Intact(block, size); Debug && (off != at || ok) || !Debug && (off != 0 || !ok) {
				t.Errorf("%d bytes with byte %d written: %d, %t", size, at, off, ok)
			}
			*b ^= 0x10
		}
	}
	if buf[0] != 0 || buf[69] != 0 {
		t.Error("the bytes beside the block were written")
	}
}

func TestIntact_WhatWasHandedOutIsNotFree(t *testing.T) {
	var buf [16]byte
	Freed(unsafe.Pointer(&buf), 16)
	Fresh(unsafe.Pointer(&buf), 16)
	if _, ok := Intact(unsafe.Pointer(&buf), 16); ok == Debug {
		t.Errorf("a fresh block is intact: %t", ok)
	}
	if want := [2]byte{FreshByte, FreshByte}; Debug && [2]byte(buf[14:]) != want {
		t.Errorf("fresh bytes are %#x", buf)
	}
}
