package tlsf_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// What lies between a block and the next one is saved only if it is a quarter of the block or less, and never in a
// canonical slot.
func TestHeap_SavedBytesBehindBlocks(t *testing.T) {
	if invariant.Debug {
		t.Skip("this build saves free memory, too")
	}
	const granule = 4096
	for _, size := range []uintptr{1, granule / 2, granule*4/5 - 1, granule * 4 / 5, granule*4/5 + 1, granule} {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, Granule: granule})
		set, metadata := new(save.Set), new(save.Set)
		if err := errors.Join(err, set.Add("heap", h), set.Seal(), metadata.Add("heap", save.Metadata(h)), metadata.Seal()); err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		var slack [10][]byte
		for i := range slack {
			slack[i] = unsafe.Slice((*byte)(memtest.MustAlloc(t, h, size, 16)), granule)[size:]
		}
		n, err := set.Size()
		without, err2 := metadata.Size()
		first, again := set.NewCanonical(1<<17), set.NewCanonical(1<<17)
		if err := errors.Join(err, err2, set.Save(first)); err != nil {
			t.Fatal(err)
		}
		if n -= without; n > len(slack)*int(size+size/4+8) {
			t.Errorf("%d blocks of %d bytes are saved in %d", len(slack), size, n)
		}
		for _, s := range slack {
			for i := range s {
				s[i]++
			}
		}
		if err := set.Save(again); err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf("blocks of %d bytes: canonical bytes contain what lies behind a block: %v", size, err)
		}
	}
}

// except is a heap without the contents of one block.
type except struct {
	*tlsf.Heap
	scratch unsafe.Pointer
}

func (e *except) SaveState(c *save.Coder) {
	e.SaveStateExcept(c, func(p unsafe.Pointer) bool { return p == e.scratch })
}

func TestHeap_ScratchContentsAreNotLoaded(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var blocks [3]*[512]byte // neighbors
	for i := range blocks {
		blocks[i] = (*[512]byte)(memtest.MustAlloc(t, h, 512, 16))
		blocks[i][0], blocks[i][511] = byte(i), byte(i)
	}
	set := new(save.Set)
	slot := set.NewSlot(1 << 21)
	if err := errors.Join(set.Add("heap", &except{h, unsafe.Pointer(blocks[1])}), set.Seal(), set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		b[0], b[511] = 9, 9
	}
	if err := errors.Join(set.Load(slot), h.Check()); err != nil {
		t.Fatal(err)
	}
	for i, b := range blocks {
		want := byte(i)
		if i == 1 && !invariant.Debug {
			want = 9
		}
		if b[0] != want || b[511] != want {
			t.Errorf("block %d has %d and %d after a load, want %d", i, b[0], b[511], want)
		}
	}
}

// A game may hand over to a new heap between save and load. One that lets fewer or more bytes wait refuses the state.
func TestHeap_LoadRefusedWithOtherQuickBytes(t *testing.T) {
	set, heap := new(save.Set), new(handedOver)
	slot := set.NewSlot(1 << 16)
	for i, quick := range []uintptr{64 << 10, 0, 128 << 10, 64 << 10} {
		var err error
		if heap.Heap, err = tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, QuickBytes: quick}); err != nil {
			t.Fatal(err)
		}
		defer heap.Heap.Close()
		if i == 0 {
			if err := errors.Join(set.Add("heap", heap), set.Seal(), set.Save(slot)); err != nil {
				t.Fatal(err)
			}
		}
		err = set.Load(slot)
		if (err == nil) != (quick == 64<<10) || err != nil && !errors.Is(err, save.ErrLayout) {
			t.Errorf("QuickBytes %d: %v", quick, err)
		}
		if err := heap.Check(); err != nil {
			t.Errorf("QuickBytes %d: %v", quick, err)
		}
	}
}

// A handedOver is the State of the newest of several heaps.
type handedOver struct{ *tlsf.Heap }
