package save_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

// visited returns a sealed Set with a part for each function, named a, b and so on.
func visited(t testing.TB, visits ...func(c *save.Coder)) *save.Set {
	t.Helper()
	set := new(save.Set)
	for i, f := range visits {
		must(t, set.AddFunc(string(rune('a'+i)), f))
	}
	must(t, set.Seal())
	return set
}

func TestCoder_NumbersAreLoaded(t *testing.T) {
	now, moved := new([16]byte), new([16]byte)
	n, on, off, typed := int16(-7), true, false, [2]int32{3, 4}
	at := [...]unsafe.Pointer{unsafe.Pointer(now), unsafe.Pointer(&now[5]), nil}
	set := visited(t, func(c *save.Coder) {
		c.Covers(unsafe.Pointer(now), unsafe.Sizeof(*now))
		save.Num(c, &n)
		save.Bool(c, &on)
		save.Bool(c, &off)
		save.Typed(c, "typed", &typed)
		for i, p := range at {
			if p = c.Pointer(p, unsafe.Pointer(now)); c.Loading() {
				at[i] = p
			}
		}
		c.Same("the size", 3)
	})
	slot := filled(t, set, set.NewSlot(200))
	if w := slot.Bytes()[8 : 8+8*3]; !bytes.Equal(w, append(append(bytes.Repeat([]byte{255}, 8), 1, 0, 0, 0, 0, 0, 0, 0), make([]byte, 8)...)) && w[0] != 249 {
		t.Errorf("the numbers are %x", w)
	}
	n, on, off, typed, now, at = 1, false, true, [2]int32{}, moved, [3]unsafe.Pointer{nil, nil, unsafe.Pointer(moved)}
	must(t, set.Load(slot))
	if want := [...]unsafe.Pointer{unsafe.Pointer(moved), unsafe.Pointer(&moved[5]), nil}; n != -7 || !on || off || typed != [2]int32{3, 4} || at != want {
		t.Errorf("loaded %d, %t, %t, %d, %v of %v", n, on, off, typed, at, want)
	}
}

// An address in memory that no State saves is refused, and so is one whose State comes later.
func TestCoder_PointerNeedsMemoryThatIsSaved(t *testing.T) {
	base := unsafe.Pointer(new([64]byte))
	for _, c := range []struct {
		name string
		off  int // of the address; -1: nil
		from int // what is covered, 32 bytes; -1: nothing
		late bool
		ok   bool
	}{
		{"nil", -1, -1, false, true}, {"nothing", 8, -1, false, false}, {"first", 16, 16, false, true}, {"last", 47, 16, false, true},
		{"in front", 15, 16, false, false}, {"behind", 48, 16, false, false}, {"later", 20, 16, true, false},
	} {
		covers := func(x *save.Coder) {
			if c.from >= 0 {
				x.Covers(unsafe.Add(base, c.from), 32)
			}
		}
		p := unsafe.Pointer(nil)
		points := func(x *save.Coder) {
			if q := x.Pointer(p, base); x.Loading() {
				p = q
			}
		}
		set := visited(t, covers, points)
		if c.late {
			set = visited(t, points, covers)
		}
		empty := filled(t, set, set.NewSlot(100)) // an address that is nil
		if c.off >= 0 {
			p = unsafe.Add(base, c.off)
		}
		slot, same := set.NewSlot(100), set.NewCanonical(100)
		_, sized := set.Size()
		for what, err := range map[string]error{"Size": sized, "Save": set.Save(slot)} {
			if (err == nil) != c.ok || err != nil && !errors.Is(err, memory.ErrConfig) {
				t.Errorf("%s: %s: %v", c.name, what, err)
			}
		}
		// A hash needs no allocator; a load does.
		must(t, set.Save(same), set.Load(empty))
		was := p
		if err := set.Load(same); (err == nil) != c.ok || err != nil && (!errors.Is(err, memory.ErrConfig) || p != was) {
			t.Errorf("%s: Load: %v", c.name, err)
		}
	}
}

// After an error methods return 0 and change nothing, and the error is the first one.
func TestCoder_NothingIsVisitedAfterAnError(t *testing.T) {
	fail, n, list := false, 5, []int{1, 2}
	var got []any
	visit := func(c *save.Coder) {
		if fail && !c.Saving() {
			c.Differs("first")
		}
		w := []uint64{1, 2}
		c.Covers(unsafe.Pointer(&n), unsafe.Sizeof(n))
		c.Words(w)
		save.Num(c, &n)
		save.List(c, &list)
		c.Same("another", 9)
		got = []any{c.Word(7), c.Count(8), c.Flag(true), c.Pointer(unsafe.Pointer(&n), unsafe.Pointer(&n)), w[0] + w[1], c.Fitting(), c.Failed(), c.Scanning()}
		if c.BeginContent() {
			c.Raw(unsafe.Pointer(&n), 8)
			c.EndContent()
		} else if c.Loading() {
			t.Error("no contents are loaded")
		}
		bits := []uint64{6}
		c.Slots("slot", nil, unsafe.Pointer(&n), 8, bits, 0)
	}
	set := visited(t, visit)
	slot := filled(t, set, set.NewSlot(300))
	n, list, fail = 6, list[:1], true
	scan := set.Scan(slot, func(save.Piece) bool { t.Error("a piece after an error"); return true })
	if text := fmt.Sprint(got); text != "[0 0 false <nil> 0 false true true]" {
		t.Errorf("Scan: %s", text)
	}
	for _, err := range []error{scan, set.Load(slot)} {
		if !errors.Is(err, save.ErrLayout) || !strings.HasSuffix(err.Error(), "first") || n != 6 || len(list) != 1 {
			t.Errorf("%v; %d, %d", err, n, list)
		}
	}
	if text := fmt.Sprint(got); text != "[0 0 false <nil> 0 true true false]" {
		t.Errorf("Load: %s", text)
	}
}

// A State that visits other data than it did in another pass gets an error that names the difference.
func TestSet_OtherVisitsAreNamed(t *testing.T) {
	var x [4]uint64
	content := func(c *save.Coder, words int) {
		if c.BeginContent() {
			c.Raw(unsafe.Pointer(&x), uintptr(8*words))
			c.EndContent()
		}
	}
	for _, v := range []struct {
		in   string // the pass in which the State changes
		want string
		f    func(c *save.Coder, changed bool)
	}{
		{"saving", "more parts and contents than were measured", func(c *save.Coder, changed bool) {
			if changed {
				c.BeginContent()
			}
		}},
		{"saving", "8 bytes were measured, and 16 visited", func(c *save.Coder, changed bool) { content(c, 1); content(c, 1+count(changed)); c.Word(0) }},
		{"saving", "in the contents", func(c *save.Coder, changed bool) {
			if content(c, 1); c.BeginContent() {
				if changed {
					c.Fail(errors.New("in the contents"))
				}
				c.EndContent()
			}
		}},
		{"fitting", "24 bytes of 32 were visited", func(c *save.Coder, changed bool) { c.Raw(unsafe.Pointer(&x), uintptr(32-8*count(changed))) }},
		{"fitting", "8 bytes are needed, the state has 0 left", func(c *save.Coder, changed bool) {
			for range 1 + count(changed) {
				c.Word(1)
			}
		}},
		{"fitting", "1 bytes are needed, the state has 0 left", func(c *save.Coder, changed bool) { c.Raw(unsafe.Pointer(&x), uintptr(count(changed))) }},
		{"fitting", "9 bytes are needed, the state has 8 left", func(c *save.Coder, changed bool) { c.Raw(unsafe.Pointer(&x), uintptr(8+count(changed))) }},
		{"fitting", "the size was 0 and is 1", func(c *save.Coder, changed bool) { c.Same("the size", uint64(count(changed))) }},
		{"fitting", "a count of 33 in a state of 32 bytes", func(c *save.Coder, changed bool) {
			if !changed {
				c.Word(33)
			} else if c.Count(1) != 0 {
				t.Error("a count that is too large is returned")
			}
		}},
		{"fitting", "contents of 16 bytes, the state has 8 left", func(c *save.Coder, changed bool) {
			if !changed {
				c.Word(16)
				c.Word(0)
			} else if c.BeginContent() {
				t.Error("contents that are too long begin")
			}
		}},
		{"fitting", "contents of 7 bytes, the state has 8 left", func(c *save.Coder, changed bool) {
			if !changed {
				c.Word(7)
				c.Word(0)
			} else {
				c.BeginContent()
			}
		}},
		{"loading", "8 bytes of contents were loaded of 16", func(c *save.Coder, changed bool) { content(c, 2-count(changed)) }},
		{"loading", "slot 9 of 3", slots(9, 1)},
		{"loading", "slot 3 of 3", slots(3, 1)},
		{"loading", "slot 1 of 3", slots(1, 3)},
	} {
		set, calls := new(save.Set), 0
		must(t, set.AddFunc("before", func(c *save.Coder) { c.Word(1) }), set.AddFunc("part", func(c *save.Coder) {
			calls++ // the second call saves
			v.f(c, v.in == "loading" && c.Loading() || v.in == "fitting" && !c.Saving() || v.in == "saving" && calls == 2)
		}), set.Seal())
		slot := set.NewSlot(200)
		err := set.Save(slot)
		if v.in != "saving" {
			must(t, err)
			err = set.Load(slot)
		}
		if err == nil || !strings.Contains(err.Error(), "part") || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%v, want %s", err, v.want)
		}
	}
}

// slots visits the words of a run of slots, and then them as slots of an array of three.
func slots(first, n uint64) func(c *save.Coder, changed bool) {
	var x [8]uint64
	return func(c *save.Coder, changed bool) {
		if changed {
			c.Slots("slot", nil, unsafe.Pointer(&x), 8, nil, 3)
			return
		}
		c.Word(first)
		c.Word(n)
		c.Raw(unsafe.Pointer(&x), 8*uintptr(n))
		c.Word(0)
		c.Word(0)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A refuser cannot be saved while it has an error.
type refuser struct{ err error }

func (*refuser) SaveState(c *save.Coder) { c.Word(1) }
func (r *refuser) CanSave() error        { return r.err }

func TestSet_RefusersAreAsked(t *testing.T) {
	set, r := new(save.Set), &refuser{io.ErrNoProgress}
	for _, s := range []save.State{r, save.Metadata(r)} {
		if err := set.Add("r", s); !errors.Is(err, io.ErrNoProgress) || !strings.Contains(err.Error(), `"r" cannot be saved`) || set.Parts() != 0 {
			t.Errorf("Add: %v, %d parts", err, set.Parts())
		}
	}
	if r.err = nil; set.Loads() != 0 {
		t.Error("a Set is loaded at first")
	}
	x, y := 1, 2
	must(t, save.Value(set, "x", &x), set.Add("r", r), set.Seal())
	slot := filled(t, set, set.NewSlot(100))
	r.err = io.ErrNoProgress
	if err := set.Seal(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Seal: %v", err)
	}
	if err := set.Load(slot); !errors.Is(err, save.ErrUnsealed) {
		t.Errorf("Load: %v", err)
	}
	r.err = nil
	must(t, save.Value(set, "y", &y), set.Seal()) // the slot has no such part
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "y: ") || set.Loads() != 0 {
		t.Errorf("a slot without the last part: %v", err)
	}
	slot = filled(t, set, set.NewSlot(100))
	if must(t, set.Load(slot), set.Load(slot)); set.Loads() != 2 {
		t.Errorf("%d loads", set.Loads())
	}
}

func TestSlice_NilVariableIsRefused(t *testing.T) {
	if err := save.Slice[int](new(save.Set), "s", nil); !errors.Is(err, memory.ErrConfig) {
		t.Error(err)
	}
}

// The owner of the memory of a slot has written over it.
func TestSet_DamagedSlotIsRefused(t *testing.T) {
	list := []uint64{1, 2}
	set := new(save.Set)
	must(t, save.Slice(set, "list", &list), set.Seal())
	memory := make([]byte, 100)
	slot := set.NewSlotIn(memory)
	for want, damage := range map[string]func(){
		"8 bytes of 32 belong to no part":                   func() { memory[0], memory[8] = 16, 1 },
		"the part has 23 bytes, the state has 32 left":      func() { memory[0] = 23 },
		"the part has 32 bytes, the state has 32 left":      func() { memory[0] = 32 },
		"a count of 33 in a state of 32 bytes":              func() { memory[8] = 33 },
		"24 bytes are needed, the state has 16 left":        func() { memory[8] = 3 },
		"the part has 9223372036854775832 bytes, the state": func() { memory[7] = 128 },
	} {
		must(t, set.Save(slot))
		damage()
		if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// States that commit memory again and again are fitted four times.
func TestSet_FitsFourTimes(t *testing.T) {
	few, fitted := 0, 0
	set := visited(t, func(c *save.Coder) {
		if c.Word(1); c.Fitting() {
			if fitted++; fitted <= few {
				c.Commit(nil)
			}
		} else {
			c.Commit(nil) // without effect
		}
	}, func(c *save.Coder) { c.Word(2) })
	slot, file := filled(t, set, set.NewSlot(100)), fileOf(t, set)
	for i, load := range []func() error{func() error { return set.Load(slot) }, func() error { return set.Read(file(), nil) }, func() error { return set.Verify(file(), nil) }} {
		for few = range 5 {
			fitted = 0
			if err := load(); errors.Is(err, memory.ErrOutOfMemory) != (few == 4) || fitted != min(few+1, 4) || (err == nil) != (few < 4) {
				t.Errorf("load %d: %v, after %d passes", i, err, fitted)
			}
		}
	}
}

// If a function that Commit has got panics, the others run nevertheless.
func TestSet_RestsAfterAPanic(t *testing.T) {
	rests := ""
	set := visited(t, func(c *save.Coder) {
		if c.Word(1); c.Fitting() {
			c.Commit(func() { rests += "a" })
			c.Commit(func() { rests += "b"; panic("it is a test") })
			c.Commit(func() { rests += "c" })
			c.Differs("it is refused")
		}
	})
	slot := filled(t, set, set.NewSlot(100))
	func() {
		defer func() { _ = recover() }()
		_ = set.Load(slot)
		t.Error("no panic")
	}()
	if rests != "cba" {
		t.Errorf("%q have run", rests)
	}
}

// A History at its limits: no more states than allowed, and a State that visits other bytes.
func TestHistory_LimitsOfStates(t *testing.T) {
	more, x := 0, [2]uint64{}
	set := visited(t, func(c *save.Coder) { c.Raw(unsafe.Pointer(&x), uintptr(8+8*more)) })
	h, err := save.NewHistory(set, make([]byte, 16*4), 3) // memory for one more
	must(t, err)
	for tick := range uint64(4) {
		if h.Spare() != (tick < 3) {
			t.Errorf("tick %d: spare %t", tick, h.Spare())
		}
		must(t, h.Save(tick), h.Check())
	}
	oldest, _ := h.Oldest()
	if used, size := h.Bytes(); h.Len() != 3 || oldest != 1 || used != 48 || size != 64 {
		t.Errorf("%d states from %d on, %d bytes of %d", h.Len(), oldest, used, size)
	}
	h.Clear()
	if used, _ := h.Bytes(); h.Len() != 0 || used != 0 || !h.Spare() {
		t.Errorf("a cleared History has %d states, %d bytes", h.Len(), used)
	}
	calls := 0
	other := visited(t, func(c *save.Coder) {
		if calls++; calls%2 == 0 { // in the pass that saves
			c.Word(1)
		}
		c.Word(1)
	})
	h, err = save.NewHistory(other, make([]byte, 64), 3)
	must(t, err)
	if err := h.Save(1); !errors.Is(err, save.ErrLayout) || h.Len() != 0 {
		t.Errorf("%v, %d states", err, h.Len())
	}
	h, err = save.NewHistory(new(save.Set), make([]byte, 64), 3)
	if must(t, err); h.Spare() {
		t.Error("a Set that is not sealed has no state to be saved")
	}
}

func TestMetadata_VisitsNoSlots(t *testing.T) {
	p, err := pool.New[monster](nil, pool.Config{Capacity: 1000})
	set, all := new(save.Set), new(save.Set)
	must(t, err, set.Add("pool", save.Metadata(p)), set.Seal(), all.Add("pool", p), all.Seal())
	defer p.Close()
	h, _, err := p.New()
	must(t, err)
	n, err := set.Size()
	whole, err2 := all.Size()
	if must(t, err, err2); n >= whole && !invariant.Debug {
		t.Errorf("metadata has %d bytes, all is %d", n, whole)
	}
	slot := filled(t, set, set.NewSlot(n))
	p.Free(h)
	if must(t, set.Load(slot), p.Check()); p.Len() != 1 {
		t.Errorf("%d objects", p.Len())
	}
}

// A State that visits an address of a file, or goes on after that.
func TestCoder_AddressesOfFilesAreRefused(t *testing.T) {
	var address struct{ P uintptr }
	n := uint64(5)
	set := visited(t, func(c *save.Coder) {
		if c.Migration() != nil && (!c.Portable() || c.Saving()) {
			t.Error("a pass that does not read a file has a Migration")
		}
		if c.Portable() && !c.Saving() {
			save.Var(c, &address)
			save.Typed(c, "n", &n)
			c.Stream(nil, nil)
			c.Fail(io.ErrNoProgress)
		} else {
			save.Var(c, &n)
		}
	})
	file, slot := fileOf(t, set), filled(t, set, set.NewSlot(100))
	if err := set.Read(file(), nil); !errors.Is(err, save.ErrPortable) || !strings.Contains(err.Error(), "P: uintptr") || errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	must(t, set.Load(slot))
}

func TestCoder_PadsWithZeros(t *testing.T) {
	x := [11]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	set := visited(t, func(c *save.Coder) { save.Var(c, &x) })
	slot := set.NewSlotIn(bytes.Repeat([]byte{0xFF}, 100))
	if b := filled(t, set, slot).Bytes(); !bytes.Equal(b[8:], append(x[:], 0, 0, 0, 0, 0)) {
		t.Errorf("saved as %x", b)
	}
	if _, err := set.SaveHash(slot); err != nil || !bytes.Equal(slot.Bytes()[8:], append(x[:], 0, 0, 0, 0, 0)) {
		t.Errorf("saved as %x", slot.Bytes())
	}
}

// A length or a condition that does not come from the state is refused before anything changes, and the error says what
// to call instead.
func TestCoder_LengthsNeedCount(t *testing.T) {
	list, score := []int32{}, 0
	length := func(c *save.Coder, n int) int {
		if save.Num(c, &n); c.Loading() {
			list = make([]int32, n)
		}
		return n
	}
	for name, f := range map[string]func(c *save.Coder){
		"rows": func(c *save.Coder) { length(c, len(list)); save.Vec(c, list) },
		"loop": func(c *save.Coder) {
			for i := range length(c, len(list)) {
				save.Num(c, &list[i])
			}
		},
		"typed": func(c *save.Coder) { n := uint16(len(list)); save.Typed(c, "n", &n); save.Vec(c, list) },
		"bool": func(c *save.Coder) {
			has := len(list) == 4
			if save.Bool(c, &has); has {
				c.Word(0)
			}
		},
	} {
		list, score = []int32{1, 2, 3, 4}, 7
		set := new(save.Set)
		must(t, save.Value(set, "score", &score), set.AddFunc("squad", f), set.Seal())
		slot, file := filled(t, set, set.NewSlot(1000)), fileOf(t, set)
		list, score = []int32{5, 6}, 8
		want := "(2 instead of 4"
		if name == "bool" {
			want = "(0 instead of 1"
		}
		for how, err := range map[string]error{"Load": set.Load(slot), "Read": set.Read(file(), nil)} {
			if !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "squad: ") || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "from Flag") {
				t.Errorf("%s: %s: %v", name, how, err)
			}
		}
		if len(list) != 2 || score != 8 {
			t.Errorf("%s: %v, %d", name, list, score)
		}
		list = []int32{5, 6, 7, 8}
		if must(t, set.Load(slot), set.Read(file(), nil)); score != 7 {
			t.Errorf("%s: %d", name, score)
		}
	}
}

// A number of a file that does not fit its variable is refused with the allowed ones, and is not truncated.
func TestNum_RefusesWhatDoesNotFit(t *testing.T) {
	was, name := int64(0), "zone"
	var now int8
	var mask uint16
	write, signed, unsigned := new(save.Set), new(save.Set), new(save.Set)
	must(t, write.AddFunc(name, func(c *save.Coder) { save.Num(c, &was) }), write.Seal(),
		signed.AddFunc(name, func(c *save.Coder) { save.Num(c, &now) }), signed.Seal(),
		unsigned.AddFunc(name, func(c *save.Coder) { save.Num(c, &mask) }), unsigned.Seal())
	for n, want := range map[int64][2]string{
		5: {}, math.MaxInt8: {}, 128: {"zone: save: the layout differs: the number 128 does not fit the variable; allowed are -128 to 127", ""},
		-128: {"", "allowed are 0 to 65535"}, -129: {"the number -129 does", "0 to 65535"}, math.MaxUint16: {"the number 65535", ""},
		math.MaxUint16 + 1: {"-128 to 127", "the number 65536 does not fit"}, math.MinInt64: {"-128 to 127", "0 to 65535"},
	} {
		now, mask, was = 1, 1, n
		file := fileOf(t, write)
		for i, err := range []error{signed.Read(file(), nil), unsigned.Read(file(), nil)} {
			loaded := []int64{int64(now), int64(mask)}[i]
			if err == nil && (want[i] != "" || loaded != n) || err != nil && (want[i] == "" || !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), want[i]) || loaded != 1) {
				t.Errorf("%d became %d: %v, want %q", n, loaded, err, want[i])
			}
		}
	}
}
