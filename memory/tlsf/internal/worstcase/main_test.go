package main

import (
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory/tlsf"
)

func TestRun_KnowsTwoOperations(t *testing.T) {
	for _, op := range []string{"churn", "worst"} {
		if err := run(1<<20, 200, op); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	if err := run(1<<20, 200, "best"); fmt.Sprint(err) != `worstcase: -op "best"; churn and worst are possible` {
		t.Error(err)
	}
}

func fragmented(t *testing.T) (*tlsf.Heap, []block) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 4 << 20, Blocks: 8192})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Check(); err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, fragment(h, 4<<20)
}

func TestFragment_LeavesOneHoleFarLargerThanAnyOther(t *testing.T) {
	h, live := fragmented(t)
	s := h.Stats()
	if s.Live != uint64(len(live)) || len(live) < 100 || s.LargestFree < holeBytes || s.Free-s.LargestFree < 1<<20 {
		t.Errorf("%d blocks are known, %+v", len(live), s)
	}
	hole, err := h.Alloc(holeBytes, 16)
	if err != nil {
		t.Fatal(err)
	}
	if most := h.Stats().LargestFree; most > 64<<10 {
		t.Errorf("beside the hole %d bytes are free at once", most)
	}
	h.Free(hole, holeBytes)
	for _, b := range live {
		if b.size < 256 || b.size >= 16<<10 {
			t.Errorf("a block of %d bytes", b.size)
		}
		h.Free(b.p, b.size)
	}
	if s := h.Stats(); s.Live != 0 || s.InUse != 0 {
		t.Errorf("%+v", s)
	}
}

func TestMeasured_RunsAsManyPairsAsItIsTold(t *testing.T) {
	for name, f := range map[string]func(*tlsf.Heap, []block, int){"churn": Churn, "worst": Worst} {
		h, live := fragmented(t)
		before := h.Stats()
		Measured(f, h, live, 100)
		if s := h.Stats(); s.Allocs-before.Allocs != 100 || s.Frees-before.Frees != 100 || s.Live != before.Live {
			t.Errorf("%s: %+v, was %+v", name, s, before)
		}
	}
}
