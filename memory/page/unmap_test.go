package page

import (
	"errors"
	"slices"
	"testing"
	"unsafe"
)

// unmapPlace is no local variable: a stack moves, and the list of mapped memory has its address.
var unmapPlace [16]byte

// What the system does not take back is still the process's, and is listed.
func TestUnmap_WhatTheSystemKeepsStaysListed(t *testing.T) {
	m := Memory{raw: unsafe.Pointer(&unmapPlace), rawSize: uintptr(len(unmapPlace))}
	want := Span{uintptr(m.raw), m.rawSize}
	refusal := errors.New("kept")
	if err := unmap(m, func() error { return refusal }); err != refusal || !slices.Contains(AppendMapped(nil), want) {
		t.Errorf("refused: %v, and listed is %v; want %v among them", err, AppendMapped(nil), want)
	}
	if err := unmap(m, func() error { return nil }); err != nil || slices.Contains(AppendMapped(nil), want) {
		t.Errorf("taken back: %v, and listed is %v; want no %v", err, AppendMapped(nil), want)
	}
}
