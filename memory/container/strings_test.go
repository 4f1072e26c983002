package container

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// textOf makes few texts of many lengths, some above the ladder.
func textOf(a, b int) string {
	if a%16 == 15 {
		return strings.Repeat("long", 250+a)
	}
	return strings.Repeat(string(rune('a'+a%16)), b%40)
}

// stringsProgram runs a program on a Strings beside Go maps, in a heap that fails or panics now
// and then: what fails has changed nothing.
func stringsProgram(t *testing.T, program []byte) {
	f, sp := newFlaky(t)
	s := NewStrings(uint64(len(program)))
	ids, refs := map[string]uint32{}, map[uint32]int{}
	for len(program) >= 3 {
		op, a, b := program[0], int(program[1]), int(program[2])
		program = program[3:]
		f.failAt, f.boomAt = 0, 0
		switch op >> 5 {
		case 1:
			f.failAt, f.forGood = f.calls+1+a%3, b%2 == 0
		case 2:
			f.boomAt = f.calls + 1 + b%3
		}
		text := textOf(a, b)
		wasIDs, wasRefs := maps.Clone(ids), maps.Clone(refs)
		id, had := ids[text]
		cleared := false
		var err error
		done := survives(func() {
			switch op & 0xF {
			case 0, 1, 2, 3, 4, 5, 6, 7:
				var got uint32
				if op&1 == 0 {
					got, err = s.Intern(sp, text)
				} else {
					got, err = s.InternBytes(sp, []byte(text))
				}
				if err != nil && got != 0 {
					t.Fatalf("Intern(%.20q) = %d beside %v", text, got, err)
				}
				if err == nil {
					if id, ok := s.LookupBytes(sp, []byte(text)); id != got || !ok {
						t.Fatalf("LookupBytes(%.20q) = %d, %t after Intern = %d", text, id, ok, got)
					}
				}
				if err == nil && text != "" {
					if had && got != id || refs[got] != 0 && !had {
						t.Fatalf("Intern(%.20q) = %d, which is %d", text, got, id)
					}
					ids[text] = got
					refs[got]++
				}
			case 8, 9, 10, 11, 12:
				if had {
					s.Release(sp, id)
					if refs[id]--; refs[id] == 0 {
						delete(refs, id)
						delete(ids, text)
					}
				}
			case 13:
				switch {
				case b%8 == 0:
					cleared = true
					s.Clear(sp)
					clear(ids)
					clear(refs)
				case b%8 == 1:
					err = s.Reserve(sp, a)
				case b%8 < 5:
					err = s.Shrink(sp)
				}
			case 14:
				if b%8 == 0 {
					cleared = true
					s.Free(sp)
					clear(ids)
					clear(refs)
				}
			default:
				if got, ok := s.Lookup(sp, text); ok != (had || text == "") || got != id {
					t.Fatalf("Lookup(%.20q) = %d, %t", text, got, ok)
				}
			}
		})
		if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("op %d: %v", op, err)
		}
		switch {
		case !done && cleared: // some texts are gone
			f.boomAt = 0
			must(t, s.Check(sp))
			s.Clear(sp)
			clear(ids)
			clear(refs)
		case !done:
			ids, refs = wasIDs, wasRefs
		}
		if s.Len() != len(ids) {
			t.Fatalf("op %#x: %d texts, want %d", op, s.Len(), len(ids))
		}
		for text, id := range ids {
			if s.Text(sp, id) != text || int(s.Refs(sp, id)) != refs[id] {
				t.Fatalf("op %#x failed %v %t: id %d is %.20q, %d times; want %.20q, %d times", op, err, !done, id, s.Text(sp, id), s.Refs(sp, id), text, refs[id])
			}
		}
		must(t, s.Check(sp))
	}
	f.boomAt, f.failAt = 0, 0
	s.Free(sp)
	if f.Stats().Live != 0 || s != NewStrings(s.seed) {
		t.Fatalf("Free left %d blocks", f.Stats().Live)
	}
}

func FuzzStrings(f *testing.F) {
	f.Add(memtest.RandomProgram(1, 60))
	f.Fuzz(stringsProgram)
}

func TestStrings_AreAMapBothWaysUnderAnyProgram(t *testing.T) {
	for seed := range uint64(40) {
		stringsProgram(t, memtest.RandomProgram(seed+1, 250))
	}
}

func TestStrings_TheEmptyTextIsIdZero(t *testing.T) {
	h, sp := heap(t)
	var s Strings
	id, err := s.Intern(sp, "")
	if id != 0 || err != nil || s.Text(sp, 0) != "" || s.Refs(sp, 0) != 1 || s.Len() != 0 {
		t.Errorf("id %d, %v", id, err)
	}
	s.Release(sp, 0)
	if id, ok := s.Lookup(sp, ""); id != 0 || !ok {
		t.Errorf("Lookup = %d, %t", id, ok)
	}
	if id, ok := s.Lookup(sp, "x"); id != 0 || ok || s.Text(sp, 1) != "" || s.Text(sp, math.MaxUint32) != "" || s.Refs(sp, 1) != 0 {
		t.Errorf("Lookup = %d, %t in an empty Strings", id, ok)
	}
	for range s.All(sp) {
		t.Error("a text")
	}
	s.Clear(sp)
	s.Free(sp)
	must(t, s.Check(sp))
	if h.Stats().Allocs != 0 || s != (Strings{}) {
		t.Errorf("nothing was asked for, yet %+v", s)
	}
}

func TestStrings_IdsAreInOrderAndComeBack(t *testing.T) {
	_, sp := heap(t)
	var s Strings
	defer s.Free(sp)
	for i, text := range []string{"orc", "elf", "orc", "dwarf"} {
		id, err := s.Intern(sp, text)
		if must(t, err); id != []uint32{1, 2, 1, 3}[i] {
			t.Errorf("%s is %d", text, id)
		}
	}
	s.Release(sp, 1)
	if s.Text(sp, 1) != "orc" || s.Refs(sp, 1) != 1 {
		t.Error("one of two Releases has freed the text")
	}
	s.Release(sp, 1)
	if s.Text(sp, 1) != "" || s.Refs(sp, 1) != 0 || s.Len() != 2 {
		t.Errorf("id 1 is %q", s.Text(sp, 1))
	}
	memtest.Misuse(t, func() { s.Release(sp, 1) }, "container.Strings.Release(0x1)", "released too often")
	memtest.Misuse(t, func() { s.Release(sp, 4) }, "the id has no text")
	if id, _ := s.Intern(sp, "wizard"); id != 4 {
		t.Errorf("a text of another rung got id %d", id)
	}
	if id, _ := s.Intern(sp, "cat"); id != 1 {
		t.Errorf("a text of the same rung got id %d", id)
	}
	var got []string
	for id, text := range s.All(sp) {
		got = append(got, fmt.Sprint(id, text))
	}
	if strings.Join(got, " ") != "1cat 2elf 3dwarf 4wizard" {
		t.Errorf("All: %v", got)
	}
	for range s.All(sp) {
		break
	}
	must(t, s.Check(sp))
}

func TestStrings_ATextDoesNotMove(t *testing.T) {
	_, sp := heap(t)
	var s Strings
	defer s.Free(sp)
	id, err := s.Intern(sp, "first")
	must(t, err)
	text := s.Text(sp, id)
	for i := range 20_000 {
		_, err := s.Intern(sp, fmt.Sprint("text ", i))
		must(t, err)
	}
	if text != "first" || unsafe.StringData(text) != unsafe.StringData(s.Text(sp, id)) {
		t.Error("the text has moved")
	}
	must(t, s.Check(sp))
}

func TestStrings_CountsStopWhereTheyMust(t *testing.T) {
	_, sp := heap(t)
	var s Strings
	defer s.Free(sp)
	id, err := s.Intern(sp, "x")
	must(t, err)
	s.text(sp, id).refs = forever - 1
	for range 3 {
		_, err = s.Intern(sp, "x")
		must(t, err)
	}
	if s.Refs(sp, id) != forever {
		t.Errorf("%d Interns", s.Refs(sp, id))
	}
	s.Release(sp, id)
	if s.Refs(sp, id) != forever || s.Text(sp, id) != "x" {
		t.Error("an id that is kept for ever was released")
	}
	n := s.pages.n
	s.pages.n = maxPages
	if _, err := s.newPage(sp, page{rung: 0, slots: 64}); err != memory.ErrTooLarge {
		t.Errorf("a page too many: %v", err)
	}
	s.pages.n = n
	live := s.live
	s.live = maxCount
	if _, err := s.add(sp, "y", 1); err != memory.ErrTooLarge {
		t.Errorf("an id too many: %v", err)
	}
	s.live = live
	must(t, s.Check(sp))
}

func TestLadder_GrowsAsFibonacciFromOneByteAndInQuartersAbove21(t *testing.T) {
	k := 0
	rung := func(size uint32) {
		if ladder[k] != size {
			t.Errorf("rung %d has %d bytes, want %d", k, ladder[k], size)
		}
		k++
	}
	for below, size, next := uint32(0), uint32(1), uint32(2); size <= 987; below, size, next = size, next, size+next {
		if size > 21 {
			for quarter := range uint32(3) {
				rung(below + (size-below)*(quarter+1)/4)
			}
		}
		rung(size)
	}
	if k != rungs {
		t.Errorf("%d rungs of %d", k, rungs)
	}
	for k, size := range ladder {
		if rungOf(int(size)) != k || rungOf(int(size)+1) != k+1 {
			t.Errorf("%d bytes go to rung %d, %d to %d", size, rungOf(int(size)), size+1, rungOf(int(size)+1))
		}
		if empty := size - ladder[max(k, 1)-1] - 1; k > 6 && 7*empty >= size {
			t.Errorf("a text leaves %d of %d bytes empty", empty, size)
		}
		slots, pages := uint32(0), 0
		for slots != pageBytes/size {
			next := slotsAfter(k, slots)
			if next <= slots && pages > 0 || next > pageBytes/size || pages > 20 {
				t.Fatalf("rung %d: a page of %d slots follows on one of %d", k, next, slots)
			}
			if pages == 0 && next*size > max(firstPage, size) {
				t.Errorf("rung %d begins with %d slots", k, next)
			}
			slots = next
			pages++
		}
	}
	if rungOf(1) != 0 || large != rungOf(988) || rungOf(math.MaxInt32) != large {
		t.Error("the ends of the ladder")
	}
}

func TestStrings_BytesAreWhatItTakes(t *testing.T) {
	h, sp := heap(t)
	var s Strings
	for i := range 3000 {
		_, err := s.Intern(sp, textOf(i, i)+fmt.Sprint(i))
		must(t, err)
	}
	texts, books := s.Bytes(sp)
	if got := h.Stats().Requested; texts+books != got {
		t.Errorf("%d of texts and %d of books; the heap was asked for %d", texts, books, got)
	}
	s.Free(sp)
}

func TestStrings_CheckNamesWhatIsBroken(t *testing.T) {
	_, sp := heap(t)
	var s Strings
	defer s.Free(sp)
	for i := range 200 {
		_, err := s.Intern(sp, fmt.Sprint("text", i))
		must(t, err)
	}
	for _, x := range []string{strings.Repeat("x", 1000), "gone", "a", "b", "c", "gone too", strings.Repeat("y", 2000)} {
		id, err := s.Intern(sp, x)
		if must(t, err); len(x) > 1 && x[0] != 'x' {
			s.Release(sp, id)
		}
	}
	must(t, s.Check(sp))
	live := func(k int) *link {
		for i := range s.index.Slice(sp) {
			if l := s.index.Ptr(sp, i); l.id != 0 {
				if k--; k < 0 {
					return l
				}
			}
		}
		return nil
	}
	k := rungOf(6)
	big := uint32(0)
	for i, p := range s.pages.Slice(sp) {
		if p.rung == large && p.slots != 0 {
			big = uint32(i)
		}
	}
	for _, c := range []struct {
		want    string
		corrupt func()
		p       any
	}{
		{"pages: ", func() { s.pages.off++ }, &s.pages},
		{"texts: ", func() { s.texts.cap = 1 << 20 }, &s.texts},
		{"index: ", func() { s.index.off = 7 }, &s.index},
		{"in an index of 511", func() { s.index.n-- }, &s.index},
		{"10000 texts of", func() { s.live = 10000 }, &s.live},
		{"of rung 40 of 39", func() { s.pages.Ptr(sp, 0).rung = 40 }, s.pages.Ptr(sp, 0)},
		{"page 1 has 0 slots", func() { s.pages.Ptr(sp, 0).slots = 0 }, s.pages.Ptr(sp, 0)},
		{"page 1 has 5000 slots", func() { s.pages.Ptr(sp, 0).slots = 5000 }, s.pages.Ptr(sp, 0)},
		{"page: ", func() { s.pages.Ptr(sp, 0).off += 16 }, s.pages.Ptr(sp, 0)},
		{"text: ", func() { s.pages.Ptr(sp, int(big)).off += 16 }, s.pages.Ptr(sp, int(big))},
		{"has a text and a next page, 3", func() { s.pages.Ptr(sp, int(big)).next = 3 }, s.pages.Ptr(sp, int(big))},
		{"which is not in its chain", func() { s.rungs[k].page = 0 }, &s.rungs[k]},
		{"chained to rung", func() { s.rungs[k].first = 999 }, &s.rungs[k]},
		{"has used 9999 of", func() { s.rungs[k].used = 9999 }, &s.rungs[k]},
		{"which is not in use", func() { s.texts.Ptr(sp, 3).at = math.MaxUint32 }, s.texts.Ptr(sp, 3)},
		{"ids 1 and 2 share slot 0 of page", func() { s.texts.Ptr(sp, 1).at = s.texts.Ptr(sp, 0).at }, s.texts.Ptr(sp, 1)},
		{"id 4 has 100 bytes on a page of rung", func() { s.texts.Ptr(sp, 3).n = 100 }, s.texts.Ptr(sp, 3)},
		{"id 4 has 0 bytes", func() { s.texts.Ptr(sp, 3).n = 0 }, s.texts.Ptr(sp, 3)},
		{"the books say 204 live", func() { s.texts.Ptr(sp, 3).refs = 0 }, s.texts.Ptr(sp, 3)},
		{"ids are dead, 2 of them on lists", func() { s.bare = 0 }, &s.bare},
		{"has no block and is not chained", func() { s.spare = 0 }, &s.spare},
		{"on the list of dead ids of rung 39", func() { s.bare = 1 }, &s.bare},
		{"is in the index with hash", func() { live(3).hash++ }, live(3)},
		{"dead, unknown or there twice", func() { live(3).id = live(4).id }, live(3)},
		{"dead, unknown or there twice", func() { live(3).id = 5000 }, live(3)},
		{"203 ids in the index, 204 texts", func() { *live(3) = link{} }, live(3)},
		{"is in the index with hash", func() { *(*byte)(s.where(sp, s.text(sp, live(3).id).at)) ^= 1 }, (*byte)(s.where(sp, s.text(sp, live(3).id).at))},
	} {
		restore := func() {}
		switch p := c.p.(type) {
		case *Vec[page]:
			restore = memtest.Keep(p)
		case *Vec[text]:
			restore = memtest.Keep(p)
		case *Vec[link]:
			restore = memtest.Keep(p)
		case *uint32:
			restore = memtest.Keep(p)
		case *page:
			restore = memtest.Keep(p)
		case *rung:
			restore = memtest.Keep(p)
		case *text:
			restore = memtest.Keep(p)
		case *link:
			restore = memtest.Keep(p)
		case *byte:
			restore = memtest.Keep(p)
		}
		c.corrupt()
		if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "container: Strings: ") {
			t.Errorf("Check says %v; want %q", err, c.want)
		}
		restore()
	}
	var vacant []*link
	for i := range s.index.Slice(sp) {
		if l := s.index.Ptr(sp, i); l.id == 0 {
			vacant = append(vacant, l)
		}
	}
	vacant[0].hash = 9
	if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), "is vacant with hash 0x9") {
		t.Errorf("Check says %v", err)
	}
	vacant[0].hash = 0
	moved := live(3)
	last := vacant[len(vacant)-1]
	*last, *moved = *moved, link{}
	if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), ": a search finds id 0 in place") {
		t.Errorf("Check says %v", err)
	}
	*moved, *last = *last, link{}
	must(t, s.Check(sp))
}
