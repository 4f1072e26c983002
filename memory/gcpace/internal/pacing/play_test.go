package main

import (
	"errors"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/cputime"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func forced() uint32 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.NumForcedGC
}

// 60 MB of garbage a level beside 4 MiB cannot be made without a collection, unless a pacer
// puts it off to the end of the level.
func TestPlay_CountsWhatTheLevelsTook(t *testing.T) {
	testenv.Long(t)
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	const levels = 2
	for _, mode := range modes {
		cycles, cpu, asked := read(cyclesMetric), cputime.Process(), forced()
		r, err := play(cell{Mode: mode, Live: 4, Garbage: 60, Levels: levels})
		if err != nil {
			t.Fatal(err)
		}
		atMost, within := int(read(cyclesMetric)-cycles)-1, (cputime.Process() - cpu).Seconds() // 1: in front of the levels
		if r.Cycles > atMost || r.InPlay > r.Cycles || r.CPU <= 0 || r.CPU > within || r.Peak < 4 {
			t.Errorf("%s: %+v; %d collections in %v s", mode, r, atMost, within)
		}
		if r.Cycles < 1 || r.Peak > 4+60*levels+64 {
			t.Errorf("%s: %+v", mode, r)
		}
		asked = forced() - asked
		switch mode {
		case plain, again:
			if r.InPlay != r.Cycles || asked != 1 {
				t.Errorf("%s: %+v, %d were asked for", mode, r, asked)
			}
		case paced:
			if r.Cycles < levels || r.InPlay > r.Cycles-levels || asked < levels {
				t.Errorf("%s: %+v, %d were asked for", mode, r, asked)
			}
		case keep:
			if r.InPlay < 1 || r.InPlay > r.Cycles || asked != 1 {
				t.Errorf("%s: %+v, %d were asked for", mode, r, asked)
			}
		}
	}
}

func TestPlay_ThePeakIsOfAllLevels(t *testing.T) {
	r, err := play(cell{Mode: plain, Live: 40, Levels: 3})
	if err != nil || r.Peak < 39 || r.Peak > 39+64 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := play(cell{Mode: plain, Live: 4}); err != nil || r.Peak != 0 {
		t.Errorf("without a level: %+v, %v", r, err)
	}
}

func TestHostOf_AColumnThatIsNoneIsAnError(t *testing.T) {
	if _, err := play(cell{Mode: "C", Levels: 1}); err == nil || err.Error() != `a column "C"` {
		t.Error(err)
	}
}

func TestInPlay_IsThePacersOrAll(t *testing.T) {
	for mode, want := range map[string]int{plain: 3, again: 3, paced: 0, keep: 1} {
		h, err := hostOf(mode)
		if err != nil {
			t.Fatal(err)
		}
		h.BeginLevel()
		if mode == keep {
			percent := debug.SetGCPercent(-1)
			runtime.GC()
			debug.SetGCPercent(percent)
		}
		if n := inPlay(h, 3); n != want {
			t.Errorf("%s: %d of 3, want %d", mode, n, want)
		}
		h.EndLevel()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNodes_FillTheMiBWithTheirPartOfTheSlice(t *testing.T) {
	if size := unsafe.Sizeof(node{}); size != 64 {
		t.Errorf("a node has %d bytes", size)
	}
	each := 64 + int(unsafe.Sizeof((*node)(nil)))
	for _, mib := range []int{0, 1, 9, 1000} {
		if n := nodes(mib); n*each > mib<<20 || (n+1)*each <= mib<<20 {
			t.Errorf("%d MiB: %d nodes of %d bytes", mib, n, each)
		}
	}
}

func TestBuild_LinksEachNodeWithTheOneBeforeAndTheOneAtHalf(t *testing.T) {
	held := build(100)
	for i, n := range held {
		if i == 0 && (n.left != nil || n.right != nil) || i > 0 && (n.left != held[i/2] || n.right != held[i-1]) {
			t.Errorf("node %d", i)
		}
	}
	if len(held) != 100 || slices.Contains(held, nil) {
		t.Errorf("%d nodes", len(held))
	}
}

func TestLeaves_AreTheGarbageOfAFrame(t *testing.T) {
	for mb, want := range map[int]int{0: 0, 1: 130, 200: 26_041, 1000: 130_208} {
		if n := leaves(mb); n != want {
			t.Errorf("%d MB: %d, want %d", mb, n, want)
		}
	}
}

func TestLitter_AllocatesAsMuchAsItIsTold(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { litter(1000) }); n != 1000 {
		t.Errorf("%v objects", n)
	}
}

func TestMib_RoundsDown(t *testing.T) {
	for bytes, want := range map[uint64]int{0: 0, 1<<20 - 1: 0, 1 << 20: 1, 5<<30 + 1: 5120} {
		if got := mib(bytes); got != want {
			t.Errorf("%d bytes: %d, want %d", bytes, got, want)
		}
	}
}

// A listener counts the calls, and fails at Close.
type listener struct{ begun, ended, closed int }

func (l *listener) BeginLevel() { l.begun++ }
func (l *listener) EndLevel()   { l.ended++ }
func (l *listener) Close() error {
	l.closed++
	return fs.ErrInvalid
}

func TestLevel_TouchesOneNodeIn64(t *testing.T) {
	l, held := &listener{}, build(130)
	peak := level(l, held, 10)
	if want := (listener{begun: 1, ended: 1}); *l != want {
		t.Errorf("%+v", *l)
	}
	for i, n := range held {
		if touched := map[bool]uint64{true: 120}[i%64 == 0]; n.touched != touched {
			t.Errorf("node %d is touched %d times, want %d", i, n.touched, touched)
		}
	}
	if peak < 130*uint64(unsafe.Sizeof(node{})) {
		t.Errorf("the largest heap has %d bytes", peak)
	}
}

func TestLevel_MakesItsGarbageInEachFrame(t *testing.T) {
	if n := testing.AllocsPerRun(2, func() { level(unpaced{}, nil, 1000) }); n < 120_000 || n >= 121_000 {
		t.Errorf("%v objects", n)
	}
}

func TestMeasured_PlaysTheLevelsAndReturnsTheErrorOfClose(t *testing.T) {
	l := &listener{}
	if _, err := measured(l, nil, cell{Levels: 2}); !errors.Is(err, fs.ErrInvalid) || *l != (listener{2, 2, 1}) {
		t.Errorf("%v, %+v", err, *l)
	}
}
