package memtest

import (
	"errors"
	"math/bits"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/cputime"
	"github.com/strata-go/strata/memory/page"
)

func TestEveryBit_FlipsEachBitOnceAndAlone(t *testing.T) {
	var word uint32
	seen := map[uint32]int{}
	f := EveryBit(t, func() error {
		seen[word]++
		if word>>31 == 1 {
			return errors.New("the top bit is set")
		}
		return nil
	}, &word)
	if f != (Flips{Integers: 1, Flipped: 32, Named: 1}) {
		t.Errorf("%+v", f)
	}
	if len(seen) != 33 || seen[0] != 2 {
		t.Errorf("%d values, the sound one %d times; want 33, and it before and after", len(seen), seen[0])
	}
	for v, n := range seen {
		if v != 0 && (n != 1 || bits.OnesCount32(v) != 1) {
			t.Errorf("%#x was seen %d times", v, n)
		}
	}
}

func TestEveryNthBit_FlipsTheOthersInTheNextNumber(t *testing.T) {
	var words [3]uint8
	seen := map[[3]uint8]int{}
	f := EveryNthBit(t, 3, func() error { seen[words]++; return nil }, &words)
	if flipped := map[bool]int{false: 8, true: 6}[brief()]; f != (Flips{Integers: 3, Flipped: flipped}) {
		t.Errorf("%+v", f)
	}
	for _, w := range [][3]uint8{{1}, {0, 2}, {0, 0, 4}} { // bit i of word i, and others
		if seen[w] != 1 {
			t.Errorf("%v was seen %d times", w, seen[w])
		}
	}
}

// spin takes so much processor time.
func spin(d time.Duration) {
	for d > 0 {
		d -= cputime.Of(func() {
			for range 10_000 {
				spun++
			}
		})
	}
}

var spun int

func TestEveryBit_TellsWhatCheckMustNotDo(t *testing.T) {
	t.Cleanup(Keep(&checkTime))
	t.Cleanup(Keep(&hangTime))
	const second = time.Second
	m, err := page.Default().Reserve(1 << 20) // nothing is committed: a touch is a fault
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Default().Release(m) }()
	var sink []byte
	forever := make(chan struct{})
	defer close(forever)
	for name, c := range map[string]struct {
		second  time.Duration        // what stands for the second that Check has
		flipped func(call int) error // what Check does then
		want    string
	}{
		"panics":                 {second, func(int) error { panic("oops") }, "Check with bit 0 of *bool flipped: panic: oops"},
		"touches what is none":   {second, func(int) error { sink = []byte{*(*byte)(m.Base)}; return nil }, "Check with bit 0 of *bool flipped: panic: runtime error: "},
		"is slow":                {second / 40, func(int) error { spin(2 * checkTime); return nil }, "Check with bit 0 of *bool flipped takes "},
		"is slow and names it":   {second / 40, func(int) error { spin(2 * checkTime); return errors.ErrUnsupported }, "Check with bit 0 of *bool flipped takes "},
		"is slow the first time": {second / 40, func(n int) error { spin(2 * checkTime * time.Duration(1-n)); return nil }, ""},
		"asks for 65 MiB":        {second, func(int) error { sink = make([]byte, 65<<20); return nil }, "Check with bit 0 of *bool flipped takes "},
		"asks for 60 MiB":        {second, func(int) error { sink = make([]byte, 60<<20); return nil }, ""},
		"hangs":                  {second, func(int) error { <-forever; return nil }, "Check hangs with bit 0 of *bool flipped"},
	} {
		if name == "touches what is none" && page.Default() == page.Heap() {
			continue // memory of the Go heap is all there
		}
		checkTime, hangTime = c.second, time.Minute
		if name == "hangs" {
			hangTime = 100 * time.Millisecond
		}
		book, calls := false, 0
		r := record(func(tb testing.TB) {
			EveryBit(tb, func() error {
				if !book {
					return nil
				}
				calls++
				return c.flipped(calls - 1)
			}, &book)
		})
		if !strings.HasPrefix(r.said, c.want) || r.failed != (c.want != "") || strings.Count(r.said, "\n") > 1 {
			t.Errorf("a Check that %s: %q; want %q", name, r.said, c.want)
		}
		if book && name != "hangs" {
			t.Errorf("a Check that %s: the bit is not put back", name)
		}
	}
	_ = sink
}

func TestEveryBit_WantsSoundBooksBeforeAndAfter(t *testing.T) {
	for _, panics := range []bool{false, true} {
		fault := func() error {
			if panics {
				panic("oops")
			}
			return errors.New("wrong")
		}
		book := false
		r := record(func(tb testing.TB) { EveryBit(tb, fault, &book) })
		if !strings.HasPrefix(r.said, "Check of sound metadata: ") {
			t.Errorf("%q", r.said)
		}
		was := false
		r = record(func(tb testing.TB) {
			EveryBit(tb, func() error {
				if was = was || book; was && !book {
					return fault()
				}
				return nil
			}, &book)
		})
		if !strings.HasPrefix(r.said, "Check once every bit is back: ") {
			t.Errorf("%q", r.said)
		}
	}
}

// A shelf has a book of every kind.
type shelf struct {
	_      uint64
	byte   uint8
	float  float32
	flag   bool
	array  [3]int16
	many   []uint8 // 100 of them
	none   *shelf
	self   *shelf
	next   *uint16
	any    any           // a pointer is followed
	value  any           // a number in an interface has no address
	src    page.Source   // has books of its own
	number atomic.Uint32 // is one word
	when   time.Time     // is no book
	whens  []time.Time
	later  *time.Time
	at     unsafe.Pointer
	name   string
	words  map[int]int
}

func TestEveryBit_FindsEveryIntegerFloatAndBool(t *testing.T) {
	other, limit, now := uint16(1), page.NewLimit(nil, 0), time.Now()
	s := &shelf{byte: 1, float: 0.5, flag: true, array: [3]int16{1, 2, 3}, none: nil, when: now, name: "shelf", many: make([]uint8, 100), next: &other, any: new(uint64), value: 5, src: limit,
		whens: []time.Time{now}, later: &now, at: unsafe.Pointer(&other), words: map[int]int{1: 1}}
	s.self = s
	s.number.Store(5)
	f := EveryBit(t, func() error { return nil }, s, s)
	// byte, float, flag, array, many, next, any and number
	if want := (Flips{Integers: 1 + 1 + 1 + 3 + 24 + 1 + 1 + 1, Flipped: 8 + 32 + 1 + 3*16 + 24*8 + 16 + 64 + 32}); f != want {
		t.Errorf("%+v; want %+v", f, want)
	}
}

// A long slice is flipped at both ends and evenly between them.
func TestEveryBit_OfALongSliceTheEndsAreFlipped(t *testing.T) {
	flipped := map[int]bool{}
	for _, n := range []int{1, 23, 24, 25, 1000} {
		clear(flipped)
		book := make([]uint8, n)
		EveryBit(t, func() error {
			for i, b := range book {
				if b != 0 {
					flipped[i] = true
				}
			}
			return nil
		}, &book)
		gap, last := 0, -1
		for i := range n {
			if flipped[i] {
				gap, last = max(gap, i-last), i
			}
		}
		if len(flipped) != min(n, 24) || !flipped[0] || !flipped[n-1] || gap > (n+22)/23 {
			t.Errorf("of %d elements %d are flipped, with gaps of %d: %v", n, len(flipped), gap, flipped)
		}
	}
}
