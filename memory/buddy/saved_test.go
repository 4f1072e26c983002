package buddy_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

// A program that grows again, after a Trim, has the same canonical bytes the first time and after a load.
func TestHeap_SavedBytesAfterTrimAreEqual(t *testing.T) {
	h, err := buddy.New(nil, buddy.Config{Reserve: 1 << 20})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("heap", h), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var all []unsafe.Pointer
	for range 200 {
		all = append(all, memtest.MustAlloc(t, h, 2048, 16))
	}
	for i := range all {
		h.Free(all[i*7%200], 2048)
	}
	slot, first, again := set.NewSlot(1<<21), set.NewCanonical(1<<21), set.NewCanonical(1<<21)
	err = errors.Join(h.Trim(), set.Save(slot))
	for _, image := range []*save.Slot{first, again} {
		p := memtest.MustAlloc(t, h, 300<<10, 16)
		clear(unsafe.Slice((*byte)(p), 300<<10))
		err = errors.Join(err, set.Save(image), set.Load(slot))
	}
	if err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("%v, or the bytes differ", err)
	}
}
