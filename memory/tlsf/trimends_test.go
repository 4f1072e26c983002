package tlsf

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// The source of a second pool may end while memory of the first one is returned, which closes the heap.
func TestHeap_AnotherSourceEndsWhileItTrims(t *testing.T) {
	for name, trim := range map[string]func(*Heap) error{
		"Trim":     (*Heap).Trim,
		"TrimStep": func(h *Heap) error { _, err := h.TrimStep(32 << 10); return err },
	} {
		for _, granule := range []uintptr{256, 4 << 10, 64 << 10} {
			for at := 1; at < 6; at++ {
				endsInTrim(t, name, trim, granule, at)
			}
		}
	}
}

// endsInTrim closes the source of the second pool in the given call of Decommit of the first.
func endsInTrim(t *testing.T, name string, trim func(*Heap) error, granule uintptr, at int) {
	src := &counting{Source: page.Default()}
	h, err := New(src, Config{Reserve: 16 << 20, Step: 64 << 10, Granule: granule, Blocks: 1})
	if err != nil {
		t.Fatal(err)
	}
	mem, err := page.Default().Reserve(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve, err := page.NewCarve(page.Default(), mem)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		carve.Close()
		_ = page.Default().Release(mem)
	}()
	if err := h.AddPool(carve, 1<<20); err != nil {
		t.Fatal(err)
	}
	var all []piece
	for range 40 {
		all = append(all, alloc(t, h, 100_000))
	}
	for i := 1; i < 40; i += 2 {
		h.Free(all[i].p, all[i].n)
	}
	calls := 0
	src.fail = func(op string) error {
		if op == "decommit" {
			if calls++; calls == at {
				carve.Close()
				if at%2 == 0 { // this pool's source fails, too
					return errors.New("no")
				}
			}
		}
		return nil
	}
	for i := 0; i < 8 && !h.closed; i++ {
		err = trim(h)
	}
	if calls >= at && !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%s, granule %d: a source ended in call %d: %v", name, granule, at, err)
	}
	src.fail = nil
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
