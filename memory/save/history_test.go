package save_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// A state of random length is saved under each tick. Any state can be loaded, until it makes space for newer ones.
func TestHistory_KeepsTheNewestBesideAModel(t *testing.T) {
	var m monster
	var numbers []uint16
	set := sealed(t, &m, &numbers)
	h, err := save.NewHistory(set, make([]byte, 3000), 12)
	must(t, err)
	rng := rand.New(rand.NewPCG(3, 4))
	var ticks []uint64 // of the states
	now, most, loads := uint64(0), 0, 0
	for range 4000 {
		switch k := rng.IntN(10); {
		case k < 6:
			now += 1 + uint64(rng.IntN(5))
			m.X, numbers = float32(now), make([]uint16, rng.IntN(500))
			for i := range numbers {
				numbers[i] = uint16(now)
			}
			n, err := set.Size()
			spare := h.Spare()
			must(t, err, h.Save(now))
			before := len(ticks)
			ticks = append(ticks, now)
			ticks = ticks[len(ticks)-h.Len():]
			if spare != (len(ticks) == before+1) {
				t.Fatalf("tick %d of %d bytes: spare %v, then %d states, now %d", now, n, spare, before, len(ticks))
			}
		case k < 9 && len(ticks) > 0:
			i := rng.IntN(len(ticks))
			of, err := h.Load(ticks[i] + uint64(rng.IntN(2)))
			must(t, err)
			if of != ticks[i] && !(i+1 < len(ticks) && of == ticks[i]+1) || m.X != float32(of) || slices.ContainsFunc(numbers, func(n uint16) bool { return n != uint16(of) }) {
				t.Fatalf("state %d of tick %d: tick %d, %+v, %d", i, ticks[i], of, m, numbers)
			}
			loads++
		case k == 9 && len(ticks) > 0 && rng.IntN(4) == 0:
			now = ticks[rng.IntN(len(ticks))]
			h.DropAfter(now)
			ticks = ticks[:slices.Index(ticks, now)+1]
		case rng.IntN(300) == 0:
			h.Clear()
			ticks = nil
		}
		oldest, ok := h.Oldest()
		newest, _ := h.Newest()
		if must(t, h.Check()); h.Len() != len(ticks) || ok != (len(ticks) > 0) || ok && (oldest != ticks[0] || newest != ticks[len(ticks)-1]) {
			t.Fatalf("%d states from %d to %d, want %d", h.Len(), oldest, newest, ticks)
		}
		most = max(most, h.Len())
	}
	if used, size := h.Bytes(); loads < 500 || most < 5 || used > size {
		t.Errorf("%d loads, at most %d states, %d of %d bytes", loads, most, used, size)
	}
}

func TestHistory_FillsItsMemory(t *testing.T) {
	var m monster
	var numbers []uint16
	set := sealed(t, &m, &numbers)
	n, err := set.Size()
	must(t, err)
	h, err := save.NewHistory(set, make([]byte, 10*n), 100)
	must(t, err)
	for tick := range uint64(35) {
		must(t, h.Save(tick), h.Check())
		if want := min(int(tick)+1, 10); h.Len() != want {
			t.Fatalf("%d states after tick %d, want %d", h.Len(), tick, want)
		}
	}
	if used, size := h.Bytes(); used != size || size != 10*n {
		t.Errorf("%d of %d bytes are used by states of %d", used, size, n)
	}
}

func TestHistory_ErrorsChangeNothing(t *testing.T) {
	var m monster
	var numbers []uint16
	set := sealed(t, &m, &numbers)
	for _, f := range []func() (*save.History, error){
		func() (*save.History, error) { return save.NewHistory(nil, nil, 1) },
		func() (*save.History, error) { return save.NewHistory(set, nil, 0) },
	} {
		if _, err := f(); !errors.Is(err, memory.ErrConfig) {
			t.Error(err)
		}
	}
	h, err := save.NewHistory(set, make([]byte, 200), 5)
	must(t, err)
	if _, err := h.Load(9); !errors.Is(err, save.ErrEmpty) {
		t.Errorf("an empty History: %v", err)
	}
	must(t, h.Save(5))
	if err := h.Save(5); !errors.Is(err, memory.ErrConfig) {
		t.Errorf("a tick twice: %v", err)
	}
	if _, err := h.Load(4); !errors.Is(err, save.ErrEmpty) {
		t.Errorf("before the first state: %v", err)
	}
	numbers = make([]uint16, 200)
	short := (*memory.Exhausted)(nil)
	if err := h.Save(6); !errors.As(err, &short) || short.Need <= 400 || short.Have != 200 {
		t.Errorf("a state that is too large: %v", err)
	}
	if h.Spare() {
		t.Error("there is no spare memory for it")
	}
	if of, err := h.Load(6); err != nil || of != 5 || len(numbers) != 0 {
		t.Errorf("loaded tick %d, %d numbers: %v", of, len(numbers), err)
	}
	unsealed, err := save.NewHistory(new(save.Set), make([]byte, 100), 1)
	must(t, err)
	_, load := unsealed.Load(1)
	if err := unsealed.Save(1); !errors.Is(err, save.ErrUnsealed) || !errors.Is(load, save.ErrUnsealed) {
		t.Errorf("before Seal: %v, %v", err, load)
	}
}

// The last states of a counter, at any of which it can go on.
func ExampleHistory() {
	var set save.Set
	count := 0
	if err := errors.Join(save.Value(&set, "count", &count), set.Seal()); err != nil {
		panic(err)
	}
	h, err := save.NewHistory(&set, make([]byte, 100), 50)
	if err != nil {
		panic(err)
	}
	for tick := range uint64(20) {
		count++
		if err := h.Save(tick); err != nil {
			panic(err)
		}
	}
	oldest, _ := h.Oldest()
	tick, err := h.Load(17)
	fmt.Println(h.Len(), oldest, tick, count, err)
	// Output: 4 16 17 18 <nil>
}
