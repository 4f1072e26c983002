package tlsf

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// Under a limit on address space a heap is as large as it and its books can be together. Books
// for which there is no room would end the process.
func TestNew_UnderALimitOnAddressSpaceTheBooksHaveRoom(t *testing.T) {
	if !memtest.UnderUlimit(t, 1<<20) {
		return
	}
	h, err := New(nil, Config{Reserve: far(4 << 30), Granule: 16})
	if err != nil {
		t.Fatal(err)
	}
	fillUp(t, h)
	if s := h.Stats(); s.Reserved < 32<<20 || s.Reserved >= 1<<30 {
		t.Errorf("%d bytes are reserved", s.Reserved)
	}
	if _, err := New(nil, Config{Blocks: maxDescriptors}); err == nil {
		t.Error("512 MiB of descriptors found room beside it")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if h, err = New(nil, Config{Reserve: far(4 << 30), Granule: 16, Step: 16 << 10}); err != nil { // as much as there is
		t.Fatal(err)
	}
	defer h.Close()
	fillUp(t, h)
}

// fillUp allocates until the heap refuses, which must be an error where the room of the books is
// what is missing, too.
func fillUp(t *testing.T, h *Heap) {
	var err error
	for err == nil {
		_, err = h.Alloc(1<<20, 16)
	}
	if s := h.Stats(); !errors.Is(err, memory.ErrOutOfMemory) || s.Live == 0 {
		t.Errorf("%v after %d MiB of %d", err, s.Live, s.Reserved>>20)
	}
	memtest.MustCheck(t, h)
}
