package save_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

func le64(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// headOf returns the head of a file with parts of these names, and one type, uint64.
func headOf(t *testing.T, names ...string) []byte {
	t.Helper()
	b := le32(nil, len(names))
	for _, name := range names {
		b = layout.AppendText(b, name)
	}
	d, err := layout.Of(reflect.TypeFor[uint64]())
	must(t, err)
	return d.AppendTo(le32(b, 1))
}

// Files whose sums are right, and whose contents are not.
func TestSet_DamagedFilesAreNamed(t *testing.T) {
	v, list := uint64(7), []uint64{}
	set := new(save.Set)
	must(t, save.Value(set, "v", &v), save.Slice(set, "list", &list), set.Seal())
	head := headOf(t, "v", "list")
	good := le64(16, 1, 5, 32, 2, 2, 8, 9) // two parts: their lengths, a count, and rows after the word of their type and number
	with := func(at int, w uint64) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint64(b[8*at:], w)
		return b
	}
	changed := func(at int, n byte) []byte { // a file with another byte
		b, err := io.ReadAll(fileWith(head, good))
		must(t, err)
		b[at] = n
		return resum(b)
	}

	short := append([]byte("strata\x00S"), le64(32, 0, 1)...)
	for _, f := range []struct {
		want string
		wrap error
		file []byte
	}{
		{"a length of 32 bytes with a head of 0 is impossible", save.ErrFile, short},
		{"version 2; this program reads version 1", save.ErrFile, changed(24, 2)},
		{"the fingerprint differs", save.ErrFile, changed(16, 0)},
		{`part "v" occurs twice`, save.ErrFile, whole(t, headOf(t, "v", "v"), good)},
		{"byte 6 of the head", save.ErrFile, whole(t, le32(nil, 1), good)},
		{"8 bytes follow the last type", save.ErrFile, whole(t, append(headOf(t, "v1", "list"), make([]byte, 8)...), good)},
		{"bytes follow the last type", save.ErrFile, whole(t, append(headOf(t, "v", "list"), 1), good)},
		{`part "v" of 40 bytes, the file has 40 left`, save.ErrFile, whole(t, headOf(t, "v"), le64(40, 0, 0, 0, 0))},
		{`part "v" of 12 bytes`, save.ErrFile, whole(t, headOf(t, "v"), le64(12, 1, 1))},
		{`part "list" of 0 bytes, the file has 0 left`, save.ErrFile, whole(t, head, good[:24])},
		{"64 bytes follow the last part", save.ErrFile, whole(t, headOf(t), good)},
		{"v: save: the layout differs: type 1 of 1", save.ErrLayout, whole(t, head, with(1, 1<<40|1))},
		{"v: save: the layout differs: the file has 2 rows, 1 are expected", save.ErrLayout, whole(t, head, with(1, 2))},
		{"v: save: the layout differs: 1 rows of 8 bytes are more than the 0 bytes that are left", save.ErrLayout, whole(t, headOf(t, "v"), le64(8, 1))},
		{"list: save: the layout differs: the file has 2 rows, 3 are expected", save.ErrLayout, whole(t, head, with(4, 3))},
		{"list: save: the layout differs: 3 rows of 8 bytes are more than the 16 bytes that are left", save.ErrLayout, whole(t, headOf(t, "list"), le64(32, 3, 3, 0, 0))},
		{"list: save: the layout differs: a count of 33 in a state of 32 bytes", save.ErrLayout, whole(t, head, with(4, 33))},
		{"v: save: the layout differs: 8 bytes are needed, the state has 0 left", save.ErrLayout, whole(t, headOf(t, "v"), le64(0))},
		{"16 bytes of 24 were visited", save.ErrLayout, whole(t, headOf(t, "v"), le64(24, 1, 5, 0))},
	} {
		for _, err := range []error{set.Verify(bytes.NewReader(f.file), nil), set.Read(bytes.NewReader(f.file), nil)} {
			if !errors.Is(err, f.wrap) || !strings.Contains(err.Error(), f.want) || v != 7 {
				t.Errorf("%v, want %s", err, f.want)
			}
		}
	}
	if must(t, set.Read(fileWith(head, good), nil)); v != 5 || len(list) != 2 || list[1] != 9 {
		t.Errorf("read %d, %d", v, list)
	}
}

func whole(t *testing.T, head, parts []byte) []byte {
	t.Helper()
	b, err := io.ReadAll(fileWith(head, parts))
	must(t, err)
	return b
}

// A part that fails as Read copies the present state, or both as the file and as the copy are loaded.
func TestSet_ReadThatCannotRestoreSaysSo(t *testing.T) {
	v, busy, bad := 1, false, false
	set := new(save.Set)
	must(t, save.Value(set, "v", &v), set.AddFunc("part", func(c *save.Coder) {
		switch {
		case busy && c.Saving():
			c.Busy("it is a test")
		case bad && c.Loading():
			c.Fail(io.ErrClosedPipe)
		}
	}), set.Seal())
	file := fileOf(t, set)
	v, busy = 2, true
	if err := set.Read(file(), nil); !errors.Is(err, save.ErrBusy) || v != 2 || set.Loads() != 0 {
		t.Errorf("%v; %d", err, v)
	}
	busy, bad = false, true
	if err := set.Read(file(), nil); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "the state before cannot be restored: ") || set.Loads() != 1 {
		t.Errorf("%v, after %d loads", err, set.Loads())
	}
}

func TestCoder_StreamHasItsBytes(t *testing.T) {
	text, wrote, reads := "", error(nil), 0
	set := visited(t, func(c *save.Coder) {
		if c.Portable() != (c.Migration() != nil) && !c.Saving() {
			t.Error("passes for a file have a Migration")
		}
		c.Stream(func(out io.Writer) error {
			_, err := io.WriteString(out, text[:len(text)/2])
			_, err2 := io.WriteString(out, text[len(text)/2:])
			return errors.Join(err, err2, wrote)
		}, func(in io.Reader) error {
			reads++
			b, err := io.ReadAll(in)
			text = string(b)
			return err
		})
		c.Word(5)
	}, func(c *save.Coder) { c.Word(6) })
	for _, want := range []string{"", "1234567", "12345678", "123456789"} {
		text = want
		file := fileOf(t, set)
		text, reads = "rest", 0
		if must(t, set.Verify(file(), nil)); reads != 0 {
			t.Error("Verify has read the stream")
		}
		if must(t, set.Read(file(), nil)); text != want || reads != 1 {
			t.Errorf("%q was read in %d calls, want %q", text, reads, want)
		}
	}
	for _, n := range []uint64{1, 1 << 63} {
		if err := set.Read(fileWith(le32(headOf(t, "a")[:7], 0), le64(16, n, 5)), nil); err == nil {
			t.Errorf("a stream of %d bytes in a file with 8", n)
		}
	}
	if err := set.Read(fileWith(le32(headOf(t, "a")[:7], 0), le64(16, 9, 5)), nil); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "a stream of 9 bytes, the file has 8 left") {
		t.Errorf("a stream that is too long: %v", err)
	}
	wrote = io.ErrClosedPipe
	if err := set.Write(io.Discard); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write: %v", err)
	}
}

// A judge refuses a number, and knows no other type.
type judge struct{ v uint64 }

func (j *judge) SaveState(c *save.Coder) { save.Typed(c, "v", &j.v) }
func (*judge) CanWrite() error           { return nil }
func (j *judge) RowCheck(t reflect.Type) func(unsafe.Pointer) error {
	if t != reflect.TypeFor[uint64]() {
		return nil
	}
	return func(p unsafe.Pointer) error {
		if *(*uint64)(p) == 13 {
			return io.ErrClosedPipe
		}
		return nil
	}
}

func TestRowChecker_RefusesValues(t *testing.T) {
	list, text := []uint64{1, 13, 2}, "row 1: "
	set, j, small := new(save.Set), &judge{5}, uint32(13)
	must(t, set.Add("judge", j), save.Value(set, "small", &small), save.Slice(set, "list", &list), set.Seal())
	file := fileOf(t, set)
	list = nil
	if err := set.Read(file(), nil); !errors.Is(err, save.ErrLayout) || !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), text) || list != nil {
		t.Errorf("%v; %d", err, list)
	}
	j.v, list = 13, []uint64{4} // a present state is restored as it is
	var open save.Set
	must(t, open.Add("judge", j), open.AddFunc("list", func(c *save.Coder) {
		if save.List(c, &list); c.Loading() && len(list) == 2 {
			c.Fail(io.ErrNoProgress)
		}
	}), open.Seal())
	j.v, list = 6, []uint64{1, 2}
	file = fileOf(t, &open)
	j.v, list = 13, []uint64{4}
	if err := open.Read(file(), nil); !errors.Is(err, io.ErrNoProgress) || strings.Contains(err.Error(), "restored") || j.v != 13 || len(list) != 1 {
		t.Errorf("%v; %d, %d", err, j.v, list)
	}
}

// Handles in arrays and structs are those of another process's pool after a file was read.
func TestSet_HandlesInArraysAreTranslated(t *testing.T) {
	type item struct{ N int }
	type owner struct {
		X    int16
		Held [2]struct {
			N int8
			H [2]memory.Handle[item]
		}
	}
	var sets [2]*save.Set
	var owners [2][]owner
	var pools [2]*pool.Pool[item]
	for i := range sets {
		p, err := pool.New[item](nil, pool.Config{Capacity: 10})
		sets[i], pools[i] = new(save.Set), p
		must(t, err, sets[i].Add("items", p), save.Slice(sets[i], "owners", &owners[i]), sets[i].Seal())
		defer p.Close()
	}
	owners[0] = make([]owner, 3)
	for i := range 8 {
		h, v, err := pools[0].New()
		must(t, err)
		v.N = i
		owners[0][1+i/4].Held[i/2%2].H[i%2] = h
	}
	must(t, sets[1].Read(fileOf(t, sets[0])(), nil))
	for i := range 8 {
		if v, ok := pools[1].Get(owners[1][1+i/4].Held[i/2%2].H[i%2]); !ok || v.N != i || owners[1][0] != (owner{}) {
			t.Errorf("handle %d: %v, %t", i, v, ok)
		}
	}
	twice := new(save.Set) // two pools have the handles
	must(t, twice.Add("a", pools[0]), twice.Add("b", pools[1]), save.Slice(twice, "owners", &owners[0]), twice.Seal())
	if err := twice.Portable(); !errors.Is(err, save.ErrPortable) || !strings.Contains(err.Error(), `"owners": `) {
		t.Error(err)
	}
}
