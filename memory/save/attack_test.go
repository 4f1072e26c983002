package save_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
)

func TestSlice_ElementsWithoutBytesAreLoaded(t *testing.T) {
	marks := make([]struct{}, 1000)
	set := new(save.Set)
	must(t, save.Slice(set, "marks", &marks), set.Seal())
	slot := filled(t, set, set.NewSlot(100))
	file := fileOf(t, set)
	for name, load := range map[string]func() error{
		"slot": func() error { return set.Load(slot) },
		"file": func() error { return set.Read(file(), nil) },
	} {
		marks = nil
		if err := load(); err != nil || len(marks) != 1000 {
			t.Errorf("%s: %d elements, %v", name, len(marks), err)
		}
	}
}

func TestMetadata_ManyLiveBlocksAreLoaded(t *testing.T) {
	b, err := pool.NewBlocks(nil, pool.BlocksConfig{Size: 16, Capacity: 100_000})
	set := new(save.Set)
	must(t, err, set.Add("blocks", save.Metadata(b)), set.Seal())
	defer b.Close()
	for range 50_000 {
		memtest.MustAlloc(t, b, 16, 16)
	}
	n, err := set.Size()
	must(t, err)
	slot := filled(t, set, set.NewSlot(n))
	p := memtest.MustAlloc(t, b, 16, 16)
	must(t, set.Load(slot), b.Check())
	if q := memtest.MustAlloc(t, b, 16, 16); p != q {
		t.Errorf("the next block is %p, was %p", q, p)
	}
}

func TestSlice_FailedLoadKeepsTheArray(t *testing.T) {
	fail := false
	all := make([]int, 10)
	set := new(save.Set)
	must(t, save.Slice(set, "all", &all), set.Add("part", &failing{func(c *save.Coder) bool { return c.Fitting() && fail }}), set.Seal())
	slot := filled(t, set, set.NewSlot(200))
	all = make([]int, 3)
	other := all[:2]
	fail = true
	if err := set.Load(slot); !errors.Is(err, save.ErrBusy) {
		t.Fatal(err)
	}
	if all[1] = 7; other[1] != 7 {
		t.Error("after a Load that failed two slices no longer share elements")
	}
}

// A comparableState is comparable by its type, but its values are not.
type comparableState struct{ of any }

func (comparableState) SaveState(*save.Coder) {}

func TestSet_AddComparesWhatIsComparable(t *testing.T) {
	set := new(save.Set)
	must(t, set.Add("a", comparableState{[]int{}}), set.Add("b", comparableState{[]int{}}), set.Seal())
}

func TestSet_CallsFromWithinAPassAreBusy(t *testing.T) {
	v, calls := 1, 0
	set := new(save.Set)
	var slot *save.Slot
	var history *save.History
	var file func() io.Reader
	call := func() {
		calls++
		_, size := set.Size()
		_, load := history.Load(1)
		errs := map[string]error{
			"Size": size, "Save": set.Save(slot), "Load": set.Load(slot), "Write": set.Write(io.Discard),
			"Scan": set.Scan(slot, func(save.Piece) bool { return true }), "History.Save": history.Save(9), "History.Load": load,
			"Read": set.Read(file(), nil), "Verify": set.Verify(file(), nil),
		}
		for name, err := range errs {
			if !errors.Is(err, save.ErrBusy) {
				t.Errorf("%s in a pass: %v", name, err)
			}
		}
	}
	on := false
	must(t, save.Value(set, "v", &v), set.AddFunc("f", func(c *save.Coder) {
		if on {
			on = false
			call()
			on = true
		}
		c.Word(1)
	}), set.Seal())
	slot = filled(t, set, set.NewSlot(100))
	h, err := save.NewHistory(set, make([]byte, 1000), 4)
	history = h
	must(t, err, h.Save(1))
	file = fileOf(t, set)
	v, on = 2, true
	must(t, set.Save(set.NewSlot(100)), set.Load(slot), set.Write(io.Discard), set.Read(file(), nil), set.Verify(file(), nil))
	on = false
	must(t, set.Scan(slot, func(save.Piece) bool { call(); return true }))
	func() { // a pass that panics is over
		defer func() { _ = recover() }()
		_ = set.Scan(slot, func(save.Piece) bool { panic("a test") })
	}()
	if must(t, set.Load(slot), h.Check()); v != 1 || calls == 0 {
		t.Errorf("loaded %d, after %d calls", v, calls)
	}
}

func TestRead_ManyPartsTakeLinearTime(t *testing.T) {
	const n = 150_000 // quadratic time takes minutes
	head := le32(nil, n)
	for i := range n {
		head = append(head, 8, 0)
		head = fmt.Appendf(head, "%08x", i)
	}
	head = le32(head, 0)
	set := new(save.Set)
	v := 1
	must(t, save.Value(set, "v", &v), set.Seal())
	if err := set.Read(fileWith(head, make([]byte, 8*n)), nil); !errors.Is(err, save.ErrLayout) {
		t.Errorf("%v", err)
	}
}

// fileOf returns a function that returns the Set's file, from its beginning.
func fileOf(t *testing.T, set *save.Set) func() io.Reader {
	t.Helper()
	var b bytes.Buffer
	must(t, set.Write(&b))
	return func() io.Reader { return bytes.NewReader(b.Bytes()) }
}

func le32(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

// fileWith returns a file with this head and these parts, whose sums are right.
func fileWith(head, parts []byte) io.Reader {
	head = append(head, make([]byte, -len(head)&7)...)
	b := binary.LittleEndian.AppendUint64([]byte("strata\x00S"), uint64(32+len(head)+len(parts)+8))
	b = binary.LittleEndian.AppendUint64(b, fnv(head))
	b = append(le32(le32(b, 1), len(head)), head...)
	b = append(b, parts...)
	return bytes.NewReader(resum(append(b, make([]byte, 8)...)))
}

func TestSet_LoadWhileOnSoftTakesMemoryBack(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	a, err := slab.New(limit, slab.Config{})
	b, err2 := slab.New(limit, slab.Config{})
	set := new(save.Set)
	must(t, err, err2, set.Add("a", a), set.Add("b", b), set.Seal())
	defer a.Close()
	defer b.Close()
	var blocks []unsafe.Pointer
	for i := range 400 {
		p := memtest.MustAlloc(t, [...]*slab.Heap{a, b}[i%2], 4000, 16)
		*(*int)(p) = i
		blocks = append(blocks, p)
	}
	n, err := set.Size()
	must(t, err)
	slot := filled(t, set, set.NewSlot(n))
	for _, c := range []struct {
		forever bool
		want    error
	}{{false, nil}, {true, memory.ErrOutOfMemory}, {false, nil}} {
		a.Reset()
		b.Reset()
		must(t, a.Trim(), b.Trim())
		calls := 0
		limit.OnSoft(limit.Committed()+1000<<10, func(uintptr, uintptr) {
			if calls++; calls == 1 || c.forever {
				must(t, a.Trim(), b.Trim())
			}
		})
		err := set.Load(slot)
		if !errors.Is(err, c.want) || calls == 0 {
			t.Fatalf("Load: %v, after %d calls", err, calls)
		}
		if must(t, a.Check(), b.Check()); err != nil {
			if n := a.Stats().Live + b.Stats().Live; n != 0 {
				t.Errorf("after an error %d bytes are live", n)
			}
			continue
		}
		for i, p := range blocks {
			if got := *(*int)(p); got != i {
				t.Fatalf("block %d has %d", i, got)
			}
		}
	}
}

func TestSet_PoolOfElementsWithoutBytes(t *testing.T) {
	p, err := pool.New[struct{}](nil, pool.Config{Capacity: 10_000})
	set := new(save.Set)
	must(t, err, set.Add("pool", p), set.Seal())
	defer p.Close()
	var all []memory.Handle[struct{}]
	for range 5000 {
		h, _, err := p.New()
		must(t, err)
		all = append(all, h)
	}
	n, err := set.Size()
	must(t, err)
	slot, file := filled(t, set, set.NewSlot(n)), fileOf(t, set)
	for _, load := range []func() error{func() error { return set.Load(slot) }, func() error { return set.Read(file(), nil) }} {
		p.Free(all[3])
		must(t, load(), p.Check())
		if _, ok := p.Get(all[3]); !ok || p.Len() != 5000 {
			t.Errorf("%d objects", p.Len())
		}
	}
}

func TestDiff_RefusesSlotsOfNoSet(t *testing.T) {
	var s save.Set
	x := 1
	if err := errors.Join(save.Value(&s, "x", &x), s.Seal()); err != nil {
		t.Fatal(err)
	}
	slot := s.NewSlot(100)
	if err := s.Save(slot); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*save.Slot{{nil, slot}, {slot, nil}, {new(save.Slot), slot}, {slot, new(save.Slot)}} {
		if _, _, err := save.Diff(pair[0], pair[1]); !errors.Is(err, save.ErrForeign) {
			t.Error(err)
		}
	}
}

func TestSlot_UsesNoByteBehindItsMemory(t *testing.T) {
	var s save.Set
	x := [20]uint64{1, 2, 3}
	if err := errors.Join(save.Value(&s, "x", &x), s.Seal()); err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, 400)
	if err := s.Save(s.NewSlotIn(memory[:100])); err == nil {
		t.Error("a state of more than 160 bytes fits into 100")
	}
	for i, b := range memory[100:] {
		if b != 0 {
			t.Fatalf("byte %d was written", 100+i)
		}
	}
}

func TestPortable_WrapsItsErrorForEachKindOfPart(t *testing.T) {
	type bad struct{ Address uintptr }
	p, err := pool.New[bad](nil, pool.Config{Capacity: 10, Name: "bad"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var s save.Set
	if err := errors.Join(s.Add("pool", p), s.Seal()); err != nil {
		t.Fatal(err)
	}
	if err := s.Portable(); !errors.Is(err, save.ErrPortable) || !strings.Contains(err.Error(), "Address") {
		t.Error(err)
	}
}

// A sparse array has words without a live slot, and slots at both ends of a word.
func TestCoder_SlotsAreLoadedAcrossWords(t *testing.T) {
	const end = 70*64 + 10
	for _, live := range [][]uint{{}, {0}, {63}, {64}, {0, 200}, {127, 128, end - 1}, {5, 6, 7, 300, 302}, {end - 1}} {
		var values [end]uint32
		var bits [end/64 + 1]uint64
		for _, i := range live {
			bits[i/64] |= 1 << (i % 64)
		}
		set := new(save.Set)
		must(t, set.AddFunc("part", func(c *save.Coder) { c.Slots("slot", nil, unsafe.Pointer(&values), 4, bits[:], end) }), set.Seal())
		for i := range values {
			values[i] = 7 // also dead ones
		}
		slot := filled(t, set, set.NewCanonical(1000))
		clear(values[:])
		must(t, set.Load(slot))
		for i, v := range values {
			if want := uint32(7 * (bits[i/64] >> (i % 64) & 1)); v != want {
				t.Errorf("live slots %v: slot %d has %d after a load, want %d", live, i, v, want)
			}
		}
	}
}

func TestCoder_PathHasTwelveLabels(t *testing.T) {
	set := new(save.Set)
	must(t, set.AddFunc("part", func(c *save.Coder) {
		for i := range 14 {
			c.EnterAt("n", i)
		}
		c.Fail(io.ErrNoProgress)
		if p := c.Pointer(unsafe.Pointer(set), unsafe.Pointer(set)); p != nil {
			t.Errorf("Pointer returns %p after an error", p)
		}
	}), set.Seal())
	const want = "save: part/n[0]/n[1]/n[2]/n[3]/n[4]/n[5]/n[6]/n[7]/n[8]/n[9]/n[10]: "
	if _, err := set.Size(); !errors.Is(err, io.ErrNoProgress) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCoder_StreamOutsideOfAFileFails(t *testing.T) {
	set := new(save.Set)
	must(t, set.AddFunc("part", func(c *save.Coder) {
		c.Stream(func(io.Writer) error { return nil }, func(io.Reader) error { return nil })
	}), set.Seal())
	if err := set.Save(set.NewSlot(100)); !errors.Is(err, save.ErrPortable) {
		t.Errorf("Save: %v", err)
	}
}

func TestSet_DiffNamesAFieldOfOneByte(t *testing.T) {
	var v struct {
		A    uint8
		None struct{}
		B    uint8
	}
	set := new(save.Set)
	must(t, save.Value(set, "v", &v), set.Seal())
	a := filled(t, set, set.NewCanonical(100))
	for want, change := range map[string]func(){"v .A: 0, and 3": func() { v.A = 3 }, "v .B: 0, and 5": func() { v.B = 5 }} {
		v.A, v.B = 0, 0
		change()
		d, _, err := set.Diff(a, filled(t, set, set.NewCanonical(100)))
		if must(t, err); d.String() != want {
			t.Errorf("Diff: %v; want %s", d, want)
		}
	}
}

// A value is padded to a multiple of eight bytes with zeros, whatever was in the slot.
func TestSlot_PaddingIsZeroInASlotThatWasUsed(t *testing.T) {
	bytes := [24]byte{}
	for n := uintptr(1); n <= 17; n++ {
		size := n
		set := new(save.Set)
		must(t, set.AddFunc("v", func(c *save.Coder) { c.Raw(unsafe.Pointer(&bytes), size) }), set.Seal())
		for i := range bytes {
			bytes[i] = 0xff
		}
		slot := set.NewSlot(200)
		size = 24
		filled(t, set, slot)
		size = n
		if used, fresh := filled(t, set, slot).Bytes(), filled(t, set, set.NewSlot(200)).Bytes(); string(used) != string(fresh) {
			t.Errorf("%d bytes: the slot has %x, a fresh one %x", n, used, fresh)
		}
	}
}
