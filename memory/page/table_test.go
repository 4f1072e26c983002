package page

import (
	"errors"
	"testing"
	"unsafe"
)

// A stingy source refuses calls, and counts what is reserved.
type stingy struct {
	Source
	reserve, commit bool
	open            int
}

var errStingy = errors.New("refused")

func (s *stingy) Reserve(n uintptr) (Memory, error) {
	if s.reserve {
		return Memory{}, errStingy
	}
	m, err := s.Source.Reserve(n)
	if err == nil {
		s.open++
	}
	return m, err
}

func (s *stingy) Commit(m Memory, off, n uintptr) error {
	if s.commit {
		return errStingy
	}
	return s.Source.Commit(m, off, n)
}

func (s *stingy) Release(m Memory) error {
	s.open--
	return s.Source.Release(m)
}

// tables returns the source of the tables of this test.
func tables(t *testing.T) *stingy {
	was := tableSource
	s := &stingy{Source: OS()}
	tableSource = s
	t.Cleanup(func() {
		tableSource = was
		if s.open != 0 {
			t.Errorf("%d reservations are left", s.open)
		}
	})
	return s
}

// haveTables reports whether tables have reservations on this system.
func haveTables() bool { return OS() != Heap() && unsafe.Sizeof(uintptr(0)) == 8 }

const longTable = 1 << 20 // elements of 4 bytes

// grow lengthens s to n numbers, each its index and 1, and returns it. The numbers before must be there, and the new
// ones zero.
func grow(t *testing.T, tb *Table, s []uint32, n uintptr) []uint32 {
	t.Helper()
	tb.Prepare(n * 4)
	had := len(s)
	s = Lengthen(tb, s, n)
	if uintptr(len(s)) != n {
		t.Fatalf("%d elements, want %d", len(s), n)
	}
	for i, v := range s {
		if i < had && v != uint32(i)+1 || i >= had && v != 0 {
			t.Fatalf("element %d of %d is %d after %d were there", i, n, v, had)
		}
		s[i] = uint32(i) + 1
	}
	if err := tb.Check(tb.most); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTable_ALongSliceStaysWhereItIs(t *testing.T) {
	tables(t)
	for name, src := range map[string]Source{"OS": OS(), "Heap": Heap(), "limited": NewLimit(OS(), 1<<20)} {
		tb := NewTable(src, 4*longTable)
		s := grow(t, &tb, nil, smallTable/4)
		if tb.mem.Base != nil {
			t.Errorf("%s: a short slice has a reservation", name)
		}
		s = grow(t, &tb, s, smallTable/4+1)
		at, moved := unsafe.SliceData(s), false
		for n := uintptr(len(s)); n < longTable; n = min(n+n/4, longTable) {
			s = grow(t, &tb, s, n)
			moved = moved || unsafe.SliceData(s) != at
		}
		s = grow(t, &tb, s[:1000], 2000) // zero again behind 1000
		grow(t, &tb, s, longTable)
		if want := name == "Heap" || !haveTables(); moved != want {
			t.Errorf("%s: moved %t, want %t", name, moved, want)
		}
		tb.Release()
	}
}

// If the system refuses, the slice moves to the Go heap and its reservation is released.
func TestTable_RefusalsLeadToTheGoHeap(t *testing.T) {
	src := tables(t)
	for range 2 {
		tb := NewTable(OS(), 4*longTable)
		src.reserve = true
		s := grow(t, &tb, nil, 40_000)
		src.reserve = false
		s = grow(t, &tb, s, 50_000)
		if own := src.open == 1; own != haveTables() {
			t.Errorf("a table of its own: %t", own)
		}
		src.commit = true
		if tb.Prepare(4 * 100_000) {
			t.Error("a refused commit prepared")
		}
		s = grow(t, &tb, s, 100_000)
		src.commit = false
		if src.open != 0 {
			t.Error("the reservation of a slice in the Go heap is left")
		}
		s = grow(t, &tb, s, 200_000)
		s = append([]uint32(nil), s...) // as a load leaves it
		s = grow(t, &tb, s, longTable)
		if grow(t, &tb, s, longTable); tb.Prepare(4*longTable + 1) {
			t.Error("more than the most is prepared")
		}
		tb.Release()
	}
}

func TestTable_WidenMovesALongSlice(t *testing.T) {
	src := tables(t)
	tb := NewTable(OS(), 2*longTable)
	s := Widen(&tb, grow(t, &tb, nil, 100), 3*longTable)
	s = Widen(&tb, grow(t, &tb, s, 100_000), 4*longTable)
	at := unsafe.SliceData(s)
	s = grow(t, &tb, s, longTable)
	if haveTables() && unsafe.SliceData(s) != at {
		t.Error("a wide table has moved")
	}
	src.commit = true
	s = Widen(&tb, s, 5*longTable) // refused: it stays
	if haveTables() && (unsafe.SliceData(s) != at || src.open != 1) {
		t.Error("a refused Widen has moved the slice")
	}
	tb.Release()
	var zero Table
	if s := Widen(&zero, []uint32{1}, 1<<20); len(s) != 1 || zero.Check(0) != nil {
		t.Errorf("the zero Table: %v, %v", s, zero.Check(0))
	}
}

func TestTable_CheckNamesWhatIsWrong(t *testing.T) {
	tables(t)
	for i, spoil := range []func(t *Table){
		func(t *Table) { t.most++ },
		func(t *Table) { t.committed++ },
		func(t *Table) { t.committed += 8 << 20 },
		func(t *Table) { t.used = t.committed + 1 },
		func(t *Table) { t.mem.Size += 4 << 20 },
	} {
		for _, n := range []uintptr{100, 100_000} {
			tb := NewTable(OS(), 4*longTable)
			grow(t, &tb, nil, n)
			was := tb
			if spoil(&tb); haveTables() && tb.Check(4*longTable) == nil {
				t.Errorf("case %d with %d elements is not named", i, n)
			}
			tb = was
			tb.Release()
		}
	}
}

// A Table takes at most half of the addresses that are left.
func TestTable_LeavesAddressesToOthers(t *testing.T) {
	tables(t)
	tb := NewTable(OS(), maxReserve/2)
	if tb.Prepare(1<<20) && !heapOnly { // ProbeAddresses asks no system there
		t.Error("all addresses are taken")
	}
	tb.Release()
}
