package save_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/save"
)

func TestSet_ScanReturnsErrors(t *testing.T) {
	x := 1
	set, other := new(save.Set), visited(t, func(c *save.Coder) { c.Word(1) })
	must(t, save.Value(set, "x", &x))
	none := func(save.Piece) bool { t.Error("a piece of a slot without a state"); return true }
	slot := set.NewSlot(100)
	if err := set.Scan(slot, none); !errors.Is(err, save.ErrUnsealed) {
		t.Errorf("before Seal: %v", err)
	}
	must(t, set.Seal())
	foreign := filled(t, other, other.NewSlot(100))
	for _, err := range []error{set.Scan(foreign, none), set.Scan(nil, none)} {
		if !errors.Is(err, save.ErrForeign) {
			t.Errorf("a slot of another Set: %v", err)
		}
	}
	if _, _, err := set.Diff(foreign, foreign); !errors.Is(err, save.ErrForeign) {
		t.Errorf("Diff: %v", err)
	}
	if err := set.Scan(slot, none); !errors.Is(err, save.ErrEmpty) {
		t.Errorf("an empty slot: %v", err)
	}
	full := filled(t, set, set.NewSlot(100))
	for _, pair := range [][2]*save.Slot{{slot, full}, {full, slot}} {
		if _, differ, err := set.Diff(pair[0], pair[1]); !errors.Is(err, save.ErrEmpty) || differ {
			t.Errorf("Diff: %v", err)
		}
	}
	calls := 0
	if err := set.Scan(full, func(save.Piece) bool { calls++; return false }); err != nil || calls != 1 {
		t.Errorf("a Scan that was stopped: %v, after %d calls", err, calls)
	}
}

func TestSet_ScanYieldsPieces(t *testing.T) {
	x := [3]uint16{1, 2, 3}
	set := visited(t, func(c *save.Coder) {
		c.EnterAt("at", 0)
		c.Rows("rows", reflect.TypeFor[uint16](), unsafe.Pointer(&x), 2, 3)
		c.Leave()
		for n := range 2 { // contents without bytes are no piece
			if c.BeginContent() {
				c.Raw(unsafe.Pointer(&x), uintptr(6*n))
				c.EndContent()
			}
		}
		save.Var(c, &x)
	})
	text := ""
	must(t, set.Scan(filled(t, set, set.NewSlot(200)), func(p save.Piece) bool {
		text += fmt.Sprintln(p.Path, p.Off, p.Size, p.Rows, p.Type, p.Contents)
		return true
	}))
	const want = "a/at[0]/rows 8 6 3 uint16 false\na 16 8 1 <nil> false\na 24 8 1 <nil> false\na/contents 32 8 1 <nil> true\na 40 6 1 <nil> false\n"
	if text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// Two games with other parts, types, or numbers of values.
func TestDiff_NamesPiecesThatDiffer(t *testing.T) {
	var w [9]uint64
	words := func(names ...string) func(c *save.Coder) {
		return func(c *save.Coder) {
			for i, name := range names {
				if name == "contents" {
					if c.BeginContent() {
						c.Raw(unsafe.Pointer(&w[i]), 8)
						c.EndContent()
					}
					continue
				}
				c.Rows(name, reflect.TypeFor[uint64](), unsafe.Pointer(&w[i]), 8, 1+len(name)/3)
			}
		}
	}
	for _, v := range []struct {
		a, b []string
		want string
	}{
		{[]string{"x", "y"}, []string{"x"}, "a/y: 1 values, and nothing with 0 values"},
		{[]string{"x"}, []string{"x", "y"}, "a/y: nothing, and 1 values"},
		{[]string{"x", "y"}, []string{"x", "zzz"}, "a/y: 1 values, and a/zzz with 2 values"},
		{[]string{"contents", "x"}, []string{"contents", "y"}, "a/contents: 0x0700000000000000, and 0x0900000000000000"},
		{[]string{"contents"}, []string{"contents", "y"}, "a/contents: 0x0700000000000000, and 0x0900000000000000"},
		{[]string{"contents", "x"}, []string{"contents", "x"}, "a/x: 5, and 6"},
	} {
		a, b := visited(t, words(v.a...)), visited(t, words(v.b...))
		w[0], w[1] = 7, 5
		if v.a[0] != "contents" {
			w[0] = 1
		}
		one := filled(t, a, a.NewSlot(200))
		if v.a[0] == "contents" {
			w[0], w[1] = 9, 6
		}
		d, differ, err := save.Diff(one, filled(t, b, b.NewSlot(200)))
		if must(t, err); !differ || d.String() != v.want {
			t.Errorf("%v, %v: %v, want %s", v.a, v.b, d, v.want)
		}
	}
}

func TestDiff_NamesBytesAndPadding(t *testing.T) {
	var v [2]struct {
		A uint8
		B uint32
		C uint8
	}
	var raw [24]byte
	var one [8]byte
	set := new(save.Set)
	must(t, save.Value(set, "v", &v), set.AddFunc("raw", func(c *save.Coder) {
		c.Raw(unsafe.Pointer(&raw), 24)
		c.Rows("ones", nil, unsafe.Pointer(&one), 2, 4)
		c.Rows("nine", nil, unsafe.Pointer(&raw), 9, 2)
	}), set.Seal())
	bytes := (*[24]byte)(unsafe.Pointer(&v))
	for want, x := range map[string]*byte{
		"v [0] (padding): 0x00, and 0x07":                            &bytes[2],
		"v [1] (padding): 0x00, and 0x07":                            &bytes[23],
		"v [1].C: 0, and 7":                                          &bytes[20],
		"raw byte 17: 0x0000000000000000, and 0x0007000000000000":    &raw[17],
		"raw byte 7: 0x0000000000000000, and 0x0000000000000007":     &raw[7],
		"raw/ones row 2: 0x0000000000000000, and 0x0000000000070000": &one[5],
	} {
		a := filled(t, set, set.NewSlot(200))
		*x = 7
		d, _, err := set.Diff(a, filled(t, set, set.NewSlot(200)))
		if must(t, err); d.String() != want {
			t.Errorf("%v, want %s", d, want)
		}
		*x = 0
	}
}
