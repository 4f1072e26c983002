package compose_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// stateless has what a part needs, and is no save.State.
type stateless struct {
	memory.Allocator
	memory.Owner
	memory.StatsReporter
	memory.Checker
	io.Closer
}

func TestSaved_PartWithoutStateIsNamed(t *testing.T) {
	heap := func() *tlsf.Heap {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	in := heap()
	f, err2 := compose.NewFallback(heap(), stateless{in, in, in, in, in})
	b, err3 := compose.NewBySize(100, f, heap())
	l, err4 := compose.NewLocked(b, nil)
	c, err5 := compose.NewCounted(l, compose.CountedConfig{})
	if err := errors.Join(err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	err := new(save.Set).Add("blocks", c)
	if want := "the small allocator: compose: the second allocator, a compose_test.stateless, is no save.State"; !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// asked is a heap that says whether it was called under a mutex.
type asked struct {
	*tlsf.Heap
	mu   sync.Mutex
	free bool // it was called without
}

func (a *asked) CanSave() error {
	if a.mu.TryLock() {
		a.mu.Unlock()
		a.free = true
	}
	return nil
}

func TestPair_StatesEndWhenYieldReturnsFalse(t *testing.T) {
	var heaps [2]*tlsf.Heap
	for i := range heaps {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		heaps[i] = h
	}
	f, err := compose.NewFallback(heaps[0], heaps[1])
	if err != nil {
		t.Fatal(err)
	}
	for s := range f.(save.Composite).States {
		if s != save.State(heaps[0]) {
			t.Errorf("the first State is a %T at %p", s, s)
		}
		break
	}
}

func TestLocked_AsksWhetherItCanSaveUnderTheMutex(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	in := &asked{Heap: h}
	l, err2 := compose.NewLocked(in, &in.mu)
	if err := errors.Join(err, err2, new(save.Set).Add("locked", l)); err != nil || in.free {
		t.Errorf("called without the mutex: %v, %v", in.free, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestCounted_SaveFromOnEventIsBusy(t *testing.T) {
	set := new(save.Set)
	var slot *save.Slot
	var busy error
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	c, err2 := compose.NewCounted(h, compose.CountedConfig{OnEvent: func(compose.Event) { busy = set.Save(slot) }})
	if err := errors.Join(err, err2, set.Add("counted", c), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slot = set.NewSlot(2 << 20)
	memtest.MustAlloc(t, c, 10, 8)
	if !errors.Is(busy, save.ErrBusy) || !strings.Contains(busy.Error(), "OnEvent") {
		t.Errorf("Save within OnEvent: %v", busy)
	}
	if err := errors.Join(set.Save(slot), c.Close()); err != nil {
		t.Error(err)
	}
	if err := set.Load(slot); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Load after Close: %v", err)
	}
}

// Equal states are equal bytes, although the tables have other addresses and grew at other times.
func TestCounted_CanonicalStatesOfEqualBlocksAreEqual(t *testing.T) {
	state := func(extra int) []byte {
		a, err := counted(compose.CountedConfig{}, newTLSF(1<<20))(nil)
		set := new(save.Set)
		if err := errors.Join(err, set.Add("counted", a.(save.State)), set.Seal()); err != nil {
			t.Fatal(err)
		}
		defer a.(io.Closer).Close()
		var blocks []unsafe.Pointer
		for i := range 100 {
			blocks = append(blocks, memtest.MustAlloc(t, a, 40, 16))
			clear(unsafe.Slice((*byte)(blocks[i]), 40))
		}
		slot := set.NewSlot(2 << 20)
		if err := set.Save(slot); err != nil {
			t.Fatal(err)
		}
		for range extra { // the table becomes larger
			memtest.MustAlloc(t, a, 40, 16)
		}
		canonical := set.NewCanonical(2 << 20)
		if err := errors.Join(set.Load(slot), set.Save(canonical)); err != nil {
			t.Fatal(err)
		}
		return canonical.Bytes()
	}
	if a, b := state(0), state(300); !bytes.Equal(a, b) && !invariant.Debug {
		t.Error("two equal states differ")
	}
}
