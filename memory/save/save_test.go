package save_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

type monster struct {
	X, Y   float32
	Health [2]int32
}

// must fails the test unless all errors are nil.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// sealed returns a sealed Set of a variable and a slice.
func sealed(t testing.TB, m *monster, s *[]uint16) *save.Set {
	t.Helper()
	set := new(save.Set)
	must(t, save.Value(set, "monster", m), save.Slice(set, "numbers", s), set.Seal())
	return set
}

func filled(t testing.TB, set *save.Set, slot *save.Slot) *save.Slot {
	t.Helper()
	must(t, set.Save(slot))
	return slot
}

func TestSet_LoadsAnySlotAnyNumberOfTimes(t *testing.T) {
	var m monster
	numbers := make([]uint16, 0, 8)
	set := sealed(t, &m, &numbers)
	var slots []*save.Slot
	for i := range 5 {
		m = monster{X: float32(i), Health: [2]int32{int32(i), -1}}
		numbers = append(numbers[:0], make([]uint16, i)...)
		for k := range numbers {
			numbers[k] = uint16(10*i + k)
		}
		n, err := set.Size()
		must(t, err)
		slots = append(slots, filled(t, set, set.NewSlot(n)))
		if len(slots[i].Bytes()) != n || slots[i].Cap() != n {
			t.Errorf("state %d has %d bytes of %d", i, len(slots[i].Bytes()), n)
		}
	}
	for _, i := range []int{4, 0, 3, 3, 1, 4, 2} {
		must(t, set.Load(slots[i]))
		if m.X != float32(i) || m.Health[0] != int32(i) || len(numbers) != i || i > 0 && numbers[i-1] != uint16(11*i-1) {
			t.Errorf("state %d is %+v, %d", i, m, numbers)
		}
	}
}

func TestSlice_TooShortArrayIsReplaced(t *testing.T) {
	var m monster
	numbers := []uint16{1, 2, 3}
	set := sealed(t, &m, &numbers)
	slot := filled(t, set, set.NewSlot(200))
	numbers = nil
	must(t, set.Load(slot))
	if fmt.Sprint(numbers) != "[1 2 3]" {
		t.Errorf("loaded %d", numbers)
	}
}

func TestSet_ErrorsComeBeforeAnyChange(t *testing.T) {
	var m monster
	numbers := []uint16{1, 2, 3}
	set := sealed(t, &m, &numbers)
	var short *memory.Exhausted
	n, err := set.Size()
	must(t, err)
	if err := set.Save(set.NewSlot(n - 1)); !errors.As(err, &short) || short.Need != uintptr(n) {
		t.Errorf("a slot with a byte too few: %v", err)
	}
	empty := set.NewSlot(n)
	if err := set.Load(empty); !errors.Is(err, save.ErrEmpty) {
		t.Errorf("an empty slot: %v", err)
	}
	other := sealed(t, &m, &numbers)
	for _, err := range []error{other.Save(empty), other.Load(empty), other.Save(nil)} {
		if !errors.Is(err, save.ErrForeign) {
			t.Errorf("a slot of another Set: %v", err)
		}
	}
	var open save.Set
	must(t, save.Value(&open, "monster", &m))
	if _, err := open.Size(); !errors.Is(err, save.ErrUnsealed) {
		t.Errorf("before Seal: %v", err)
	}
	slot := filled(t, set, empty)
	slot.Clear()
	if err := set.Load(slot); !errors.Is(err, save.ErrEmpty) || slot.Bytes() != nil || slot.Full() {
		t.Errorf("a cleared slot: %v", err)
	}
}

func TestSet_AddNamesWhatItRefuses(t *testing.T) {
	var m monster
	var set save.Set
	type brain struct{ Names []string }
	must(t, save.Value(&set, "monster", &m))
	h, err := slab.New(nil, slab.Config{})
	must(t, err, set.Add("heap", h))
	defer h.Close()
	pointers := []error{save.Value(&set, "brain", new(brain)), save.Slice(&set, "brains", new([]brain))}
	for _, err := range pointers {
		var pointer *memory.PointerError
		if !errors.As(err, &pointer) || !strings.Contains(err.Error(), "brain") {
			t.Errorf("a type with pointers: %v", err)
		}
	}
	for want, err := range map[string]error{
		"the name is taken":     set.AddFunc("monster", func(*save.Coder) {}),
		"a part needs a name":   set.AddFunc("", func(*save.Coder) {}),
		"the State is nil":      set.Add("nothing", nil),
		`both save the`:         set.Add("again", h),
		"the variable is nil":   save.Value[int](&set, "v", nil),
		`"f": the State is nil`: set.AddFunc("f", nil),
	} {
		if !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	must(t, set.Seal())
	if err := set.AddFunc("late", func(*save.Coder) {}); err == nil || !strings.Contains(err.Error(), "sealed") || set.Parts() != 2 {
		t.Errorf("after Seal: %v, %d parts", err, set.Parts())
	}
}

// Words visits the same bytes as Word, in all passes.
func TestCoder_WordsAreWords(t *testing.T) {
	var now, got [3]uint64
	var one, all bool
	set := new(save.Set)
	must(t, set.AddFunc("words", func(c *save.Coder) {
		if got = now; !one {
			c.Words(got[:])
		} else {
			for i, v := range got {
				got[i] = c.Word(v)
			}
		}
		if c.Fitting() || c.Loading() {
			all = got == [3]uint64{1, 2, 3 << 60}
		}
	}), set.Seal())
	n, err := set.Size()
	must(t, err)
	now = [3]uint64{1, 2, 3 << 60}
	words, each := filled(t, set, set.NewSlot(n)), set.NewSlot(n)
	if one = true; n != 32 || !bytes.Equal(words.Bytes(), filled(t, set, each).Bytes()) {
		t.Errorf("Words visits %x, Word %x", words.Bytes(), each.Bytes())
	}
	for range 2 {
		one, now = !one, [3]uint64{}
		if must(t, set.Load(words)); !all {
			t.Errorf("loaded %d", got)
		}
		pieces := 0
		must(t, set.Scan(words, func(p save.Piece) bool { pieces++; return p.Size == 8 }))
		if pieces != 3 {
			t.Errorf("Scan yields %d pieces", pieces)
		}
	}
	var more save.Set
	long := false
	must(t, more.AddFunc("words", func(c *save.Coder) {
		got = [3]uint64{1, 1, 1}
		if c.Words(got[:2]); long {
			c.Words(got[:])
		}
	}), more.Seal())
	slot := filled(t, &more, more.NewSlot(24))
	long = true
	if err := more.Load(slot); !errors.Is(err, save.ErrLayout) || got != [3]uint64{} {
		t.Errorf("more words than were saved: %v, %d", err, got)
	}
}

// failing is a State that fails in one pass.
type failing struct{ in func(c *save.Coder) bool }

func (f *failing) SaveState(c *save.Coder) {
	c.Enter("inner")
	defer c.Leave()
	if c.Word(7); f.in(c) {
		c.Busy("it is a test")
	}
}

func TestSet_FailedFitChangesNothing(t *testing.T) {
	v := 1
	fail := false
	set := new(save.Set)
	must(t, save.Value(set, "v", &v), set.Add("part", &failing{func(c *save.Coder) bool { return c.Fitting() && fail }}), set.Seal())
	slot := filled(t, set, set.NewSlot(100))
	v, fail = 2, true
	if err := set.Load(slot); !errors.Is(err, save.ErrBusy) || !strings.Contains(err.Error(), "part/inner") || v != 2 {
		t.Errorf("a part that does not fit: %v, and the variable is %d", err, v)
	}
	fail = false
	if must(t, set.Load(slot)); v != 1 {
		t.Errorf("loaded %d", v)
	}
}

// A Load that fails decommits what it has committed, unless the source refuses to. Then the next Load does, or a Trim.
// The heap does not count this memory.
func TestSet_FailedLoadDecommits(t *testing.T) {
	src := memtest.NewFaulty()
	limit := page.NewLimit(src, 0)
	h, err := tlsf.New(limit, tlsf.Config{Reserve: 8 << 20})
	fail, fits := false, 0
	set := new(save.Set)
	must(t, err, set.Add("heap", h), set.Add("part", &failing{func(c *save.Coder) bool {
		if c.Fitting() {
			fits++
		}
		return c.Fitting() && fail && fits > 1 // the heap has committed
	}}), set.Seal())
	defer h.Close()
	p, err := h.Alloc(4<<20, 16)
	must(t, err)
	large := filled(t, set, set.NewSlot(5<<20))
	had := h.Stats().Committed
	h.Free(p, 4<<20)
	must(t, h.Trim())
	small := filled(t, set, set.NewSlot(5<<20))
	few := h.Stats().Committed
	before := filled(t, set, set.NewCanonical(1<<20)).Bytes()
	for i, end := range []func() error{nil, h.Trim, func() error { return set.Load(small) }} {
		fail, fits, src.FailReturns = true, 0, end != nil
		stays := few
		if end != nil {
			stays = had
		}
		if err := set.Load(large); !errors.Is(err, save.ErrBusy) || uint64(limit.Committed()) != stays || h.Stats().Committed != few || h.Stats().InUse != 0 || h.Check() != nil {
			t.Errorf("%v: %d bytes committed, want %d, %v", err, limit.Committed(), stays, h.Check())
		}
		if fail, src.FailReturns = false, false; end != nil {
			must(t, end())
		}
		if h.Stats().Committed != few || uint64(limit.Committed()) != few || few >= had || !bytes.Equal(filled(t, set, set.NewCanonical(1<<20)).Bytes(), before) {
			t.Errorf("%d: %d bytes committed, before %d; or the canonical bytes differ", i, limit.Committed(), few)
		}
	}
	if must(t, set.Load(large)); h.Stats().Committed != had {
		t.Errorf("%d bytes committed, want %d", h.Stats().Committed, had)
	}
	h.Free(p, 4<<20)
}

func TestSet_ClosedPartIsNamed(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	set := new(save.Set)
	must(t, err, set.Add("heap", h), set.Seal())
	slot := filled(t, set, set.NewSlot(100<<10))
	must(t, h.Close())
	for _, err := range []error{set.Save(slot), set.Load(slot)} {
		if !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "heap") {
			t.Errorf("a closed heap: %v", err)
		}
	}
}

func TestSet_LoadWithoutMemoryChangesNothing(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	h, err := slab.New(limit, slab.Config{})
	v := 1
	set := new(save.Set)
	must(t, err, save.Value(set, "v", &v), set.Add("heap", h), set.Seal())
	defer h.Close()
	for range 200 {
		memtest.MustAlloc(t, h, 4000, 16)
	}
	n, err := set.Size()
	must(t, err)
	slot := filled(t, set, set.NewSlot(n))
	h.Reset()
	must(t, h.Trim())
	limit.SetBudget(page.Granule)
	v = 2
	if err := set.Load(slot); !errors.Is(err, memory.ErrOutOfMemory) || v != 2 || h.Stats().Live != 0 {
		t.Errorf("Load beyond the budget: %v, the variable is %d", err, v)
	}
	must(t, h.Check())
	limit.SetBudget(0)
	if must(t, set.Load(slot), h.Check()); h.Stats().Live != 200 {
		t.Errorf("loaded %+v", h.Stats())
	}
}

func TestSet_DiffNamesThePlace(t *testing.T) {
	var m monster
	numbers := []uint16{1, 2, 3}
	set := sealed(t, &m, &numbers)
	a, b := set.NewCanonical(200), set.NewCanonical(200)
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, ""},
		{func() { m.Health[1] = 5 }, "monster .Health[1]: 0, and 5"},
		{func() { m.Y = 2 }, "monster .Y: 0, and 2"},
		{func() { numbers[2] = 9 }, "numbers row 2: 3, and 9"},
		{func() { numbers = numbers[:2] }, "numbers: 0x0300000000000000, and 0x0200000000000000"},
	} {
		m, numbers = monster{}, []uint16{1, 2, 3}
		filled(t, set, a)
		c.change()
		filled(t, set, b)
		d, differ, err := set.Diff(a, b)
		must(t, err)
		if differ != (c.want != "") || differ && d.String() != c.want || differ == bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("Diff: %q, want %q", d, c.want)
		}
	}
}

// A table whose name ends in "contents" was taken for blocks. A number below the labels of a table had the name of the
// first entity.
func TestSet_DiffTakesNamesAsNames(t *testing.T) {
	var ids, chests [2]int32
	var last, n int64
	set := new(save.Set)
	must(t, set.AddFunc("units", func(c *save.Coder) {
		c.Enter("all")
		c.Rows(save.Entity, reflect.TypeFor[int32](), unsafe.Pointer(&ids), 4, len(ids))
		c.Rows("chest contents", nil, unsafe.Pointer(&chests), 4, len(chests))
		save.Var(c, &n)
		c.Leave()
		save.Var(c, &last)
	}), set.Seal())
	ids = [2]int32{7, 8}
	a := filled(t, set, set.NewCanonical(200))
	for _, c := range []struct {
		n, last int64
		chest   int32
		want    string
	}{
		{1, 0, 0, "units/all: 0x0000000000000000, and 0x0100000000000000"},
		{0, 3, 9, "units/all/chest contents row 1 entity 8: 0x0000000000000000, and 0x0000000009000000"},
	} {
		n, last, chests = c.n, c.last, [2]int32{0, c.chest}
		d, _, err := set.Diff(a, filled(t, set, set.NewCanonical(200)))
		if must(t, err); d.String() != c.want {
			t.Errorf("Diff: %v, want %s", d, c.want)
		}
	}
}

func TestSet_CanonicalStatesOfEqualHeapsAreEqual(t *testing.T) {
	state := func(rubbish byte) []byte {
		h, err := slab.New(nil, slab.Config{})
		p, err2 := pool.New[monster](nil, pool.Config{Capacity: 100})
		set := new(save.Set)
		must(t, err, err2, set.Add("heap", h), set.Add("pool", p), set.Seal())
		defer h.Close()
		defer p.Close()
		for i := range 100 {
			b := memtest.MustAlloc(t, h, 48, 16)
			s := unsafe.Slice((*byte)(b), 48)
			hm, v, err := p.New()
			must(t, err)
			for k := range s {
				s[k] = rubbish
			}
			if v.X = float32(rubbish); i%3 == 0 {
				h.Free(b, 48)
				p.Free(hm)
				continue
			}
			v.X = 1
			for k := range s {
				s[k] = 1
			}
		}
		return filled(t, set, set.NewCanonical(100<<10)).Bytes()
	}
	if a, b := state(7), state(8); !bytes.Equal(a, b) && invariant.Exact && !invariant.Debug {
		t.Error("two equal states differ in what was left in free blocks")
	}
}

func TestMetadata_LeavesContentsToTheirOwner(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	set, all := new(save.Set), new(save.Set)
	must(t, err, set.Add("heap", save.Metadata(h)), set.Seal(), all.Add("heap", h), all.Seal())
	defer h.Close()
	p := memtest.MustAlloc(t, h, 100<<10, 16)
	n, err := set.Size()
	whole, err2 := all.Size()
	must(t, err, err2)
	if n > whole-100<<10 && !invariant.Debug {
		t.Errorf("metadata has %d bytes, all is %d", n, whole)
	}
	slot := filled(t, set, set.NewSlot(whole))
	*(*byte)(p) = 1
	h.Free(p, 100<<10)
	if must(t, set.Load(slot), h.Check()); h.SizeOf(p) != 100<<10 {
		t.Error("the block is not live")
	}
}

// mixed returns a Set of a slab, a large heap, a pool and a slice, whose states have about the given bytes.
func mixed(t testing.TB, bytes int) *save.Set {
	t.Helper()
	h, err := slab.New(nil, slab.Config{})
	l, err2 := tlsf.New(nil, tlsf.Config{})
	p, err3 := pool.New[monster](nil, pool.Config{Capacity: bytes/60 + 10})
	set := new(save.Set)
	list := make([]uint32, bytes/16+1)
	must(t, err, err2, err3, set.Add("slab", h), set.Add("large", l), set.Add("pool", p), save.Slice(set, "list", &list), set.Seal())
	t.Cleanup(func() { must(t, h.Close(), l.Close(), p.Close()) })
	for i := 0; 3*i*120 < bytes; i++ {
		block := memtest.MustAlloc(t, h, uintptr(16+i%200), 16)
		hm, _, err := p.New()
		if must(t, err); i%4 == 0 {
			h.Free(block, uintptr(16+i%200))
			p.Free(hm)
		}
	}
	for n := 0; 2*n < bytes; n += 5000 {
		memtest.MustAlloc(t, l, 5000, 16)
	}
	return set
}

func TestSet_SaveHashIsTheHashOfTheBytes(t *testing.T) {
	for _, bytes := range []int{0, 3000, 50_000, 300_000} {
		set := mixed(t, bytes)
		n, err := set.Size()
		must(t, err)
		for _, slot := range []*save.Slot{set.NewSlot(n), set.NewCanonical(2*n + 1000)} {
			h, err := set.SaveHash(slot)
			must(t, err)
			if want := save.Hash(slot.Bytes()); h != want || h == 0 {
				t.Errorf("%d bytes: SaveHash %#x, want %#x", len(slot.Bytes()), h, want)
			}
			bytes := string(slot.Bytes())
			if must(t, set.Save(slot)); string(slot.Bytes()) != bytes {
				t.Error("Save and SaveHash write other bytes")
			}
		}
		slot := set.NewSlot(n)
		if allocs := testenv.LeastObjects(4, func() { _, err = set.SaveHash(slot) }); err != nil || allocs > 0 && !testenv.Short() {
			t.Errorf("%v allocations, %v", allocs, err)
		}
		if _, err := set.SaveHash(set.NewSlot(n - 1)); err == nil {
			t.Error("a slot that is too small has no error")
		}
	}
}

// Pieces from 1 KiB on are hashed before they are copied, in blocks. They may begin at any word of 64 bytes.
func TestSet_SaveHashOfPiecesOfAnySize(t *testing.T) {
	const mib = 1 << 20
	sizes := []uintptr{8, mib, 64, 3*mib + 5, 24, mib - 8, 16 << 10, 2*mib - 3, 1, 2 * mib, mib + 1, 40, 2*mib + 56, 7,
		4 << 10, 1023, 1 << 10, 56, 5<<10 - 1, 8<<10 + 63, 1016, 1000, 1000, 1000, 1000, 1087}
	memory := make([]byte, 4*mib)
	for i := range memory {
		memory[i] = byte(i * 7 >> 3)
	}
	for first := range sizes {
		set := new(save.Set)
		must(t, set.AddFunc("pieces", func(c *save.Coder) {
			for i := range sizes[first:] {
				c.Raw(unsafe.Pointer(&memory[9*i]), sizes[first+i])
			}
		}), set.Seal())
		n, err := set.Size()
		must(t, err)
		slot := set.NewSlot(n)
		h, err := set.SaveHash(slot)
		if must(t, err); h != save.Hash(slot.Bytes()) {
			t.Errorf("from piece %d on, SaveHash is not the hash of the bytes", first)
		}
		hashed := string(slot.Bytes())
		if must(t, set.Save(slot)); string(slot.Bytes()) != hashed {
			t.Errorf("from piece %d on, Save and SaveHash write other bytes", first)
		}
		was := bytes.Clone(memory)
		clear(memory)
		must(t, set.Load(slot))
		for i, n := range sizes[first:] {
			if !bytes.Equal(memory[9*i:][:n], was[9*i:][:n]) {
				t.Errorf("from piece %d on, Load does not restore the bytes of piece %d", first, i)
			}
		}
		copy(memory, was)
	}
}

func TestSet_StateThatVisitsOtherBytesIsNamed(t *testing.T) {
	for name, visit := range map[string]func(c *save.Coder, again int){
		"more":  func(c *save.Coder, again int) { c.Raw(unsafe.Pointer(new([64]byte)), uintptr(16+8*again)) },
		"fewer": func(c *save.Coder, again int) { c.Raw(unsafe.Pointer(new([64]byte)), uintptr(32-8*again)) },
		"content": func(c *save.Coder, again int) {
			c.BeginContent()
			c.Word(1)
			c.EndContent()
			c.BeginContent()
			c.EndContent()
		},
	} {
		set, again := new(save.Set), 0
		must(t, set.AddFunc("part", func(c *save.Coder) { again++; visit(c, again) }), set.Seal())
		slot := set.NewSlot(32) // as measured
		if err := set.Save(slot); (err == nil) != (name == "content") || err != nil && (!errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "part")) {
			t.Errorf("%s: %v", name, err)
		}
		if slot.Full() != (name == "content") {
			t.Errorf("%s: the slot is full: %v", name, slot.Full())
		}
	}
}

// BenchmarkSet compares states of several sizes with copies of as many bytes.
func BenchmarkSet(b *testing.B) {
	for _, size := range []int{16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprintf("KiB=%d", size>>10), func(b *testing.B) { memtest.BenchSaved(b, mixed(b, size)) })
	}
}

// A Set keeps neither the memory of a slot that was dropped nor what the yield of a Scan refers to.
func TestSet_DroppedSlotIsCollected(t *testing.T) {
	var set save.Set
	v := 1
	if err := errors.Join(save.Value(&set, "v", &v), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slot, seen := set.NewSlot(1<<10), new([64]int)
	if _, err := set.SaveHash(slot); err != nil {
		t.Fatal(err)
	}
	func(n *[64]int) {
		defer func() { _ = recover() }()
		_ = set.Scan(slot, func(save.Piece) bool { n[0]++; panic("stop") })
	}(seen)
	memory, yield := weak.Make(&slot.Bytes()[0]), weak.Make(seen)
	slot, seen = nil, nil
	runtime.GC()
	if memory.Value() != nil || yield.Value() != nil {
		t.Errorf("the slot is kept: %v; the yield: %v", memory.Value() != nil, yield.Value() != nil)
	}
	runtime.KeepAlive(&set)
}
