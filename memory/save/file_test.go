package save_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
)

// beast is an object of a pool; leader names another one.
type beast struct {
	HP     int16
	Leader memory.Handle[beast]
	Tame   bool
}

// A world is what the tests write: a variable, a slice, a pool, and a variable with a handle.
type world struct {
	set   save.Set
	score int64
	list  []uint16
	pool  *pool.Pool[beast]
	chief memory.Handle[beast]
	bad   bool // the last part fails while it loads
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{}
	p, err := pool.New[beast](nil, pool.Config{Name: "beasts", Capacity: 1000})
	must(t, err)
	w.pool = p
	t.Cleanup(func() { must(t, p.Close()) })
	must(t, save.Value(&w.set, "score", &w.score), save.Slice(&w.set, "list", &w.list), w.set.Add("beasts", p),
		save.Value(&w.set, "chief", &w.chief), w.set.AddFunc("end", func(c *save.Coder) {
			if c.Same("nothing", 1); c.Loading() && w.bad {
				c.Fail(io.ErrClosedPipe)
			}
		}), w.set.Seal())
	return w
}

// fill plays a little: beasts 0 to n-1, of which every third is gone.
func (w *world) fill(t testing.TB, n int) *world {
	t.Helper()
	w.score, w.list = int64(n), w.list[:0]
	var all []memory.Handle[beast]
	for i := range n {
		w.list = append(w.list, uint16(i))
		h, b, err := w.pool.New()
		must(t, err)
		*b = beast{HP: int16(i), Leader: w.chief, Tame: i%2 == 0}
		if all = append(all, h); i == 1 {
			w.chief = h
		}
	}
	for i := 0; i < n; i += 3 {
		w.pool.Free(all[i])
	}
	return w
}

func (w *world) file(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, w.set.Write(&b))
	return b.Bytes()
}

// padded returns a file after the bytes between fields, which debug builds poison, were cleared by a Read.
func (w *world) padded(t testing.TB) []byte {
	t.Helper()
	must(t, w.set.Read(bytes.NewReader(w.file(t)), nil))
	return w.file(t)
}

// same fails the test unless both worlds have the same values, and go on with the same slots.
func (w *world) same(t *testing.T, v *world) {
	t.Helper()
	if w.score != v.score || !reflect.DeepEqual(w.list, v.list) && len(w.list)+len(v.list) > 0 || w.pool.Len() != v.pool.Len() {
		t.Fatalf("%d, %d, %d beasts; want %d, %d, %d", w.score, w.list, w.pool.Len(), v.score, v.list, v.pool.Len())
	}
	must(t, w.pool.Check())
	one, two := [][2]int{}, [][2]int{}
	for _, x := range []struct {
		w    *world
		list *[][2]int
	}{{w, &one}, {v, &two}} {
		for h, b := range x.w.pool.All() {
			leader := -1
			if l, ok := x.w.pool.Get(b.Leader); ok {
				leader = int(l.HP)
			}
			*x.list = append(*x.list, [2]int{int(h.Index())<<16 | int(b.HP), leader})
		}
		h, _, err := x.w.pool.New()
		must(t, err)
		chief, ok := x.w.pool.Get(x.w.chief)
		if !ok && x.w.score > 1 {
			t.Fatal("the chief's handle is stale")
		} else if ok {
			*x.list = append(*x.list, [2]int{int(h.Index()), int(chief.HP)})
		}
		x.w.pool.Free(h)
	}
	if !reflect.DeepEqual(one, two) {
		t.Fatalf("beasts and their leaders are %d, want %d", one, two)
	}
}

func TestSet_ReadRestoresAnotherSet(t *testing.T) {
	for _, n := range []int{0, 7, 300} {
		a, b := newWorld(t).fill(t, n), newWorld(t).fill(t, 40)
		peak := b.pool.Stats().Peak
		must(t, b.set.Read(bytes.NewReader(a.file(t)), nil))
		if got := b.pool.Stats().Peak; got < peak {
			t.Errorf("reading %d beasts has lowered the peak from %d to %d bytes", n, peak, got)
		}
		b.same(t, a)
		must(t, a.set.Read(iotest.OneByteReader(bytes.NewReader(b.file(t))), nil))
		a.same(t, b)
	}
}

func TestSet_WriteRefusesByPath(t *testing.T) {
	type inner struct{ At [2]uintptr }
	type state struct{ In inner }
	type strange struct{ H memory.Handle[int] }
	h, err := slab.New(nil, slab.Config{})
	must(t, err)
	other, err := slab.New(nil, slab.Config{})
	must(t, err)
	defer func() { must(t, h.Close(), other.Close()) }()
	foreign, err := pool.New[strange](nil, pool.Config{Capacity: 10, Name: "of a pool outside"})
	must(t, err)
	defer foreign.Close()
	n := uint32(0)
	var set save.Set
	must(t, set.Add("foreign", foreign), save.Value(&set, "state", new(state)), save.Slice(&set, "strange", new([]strange)), save.Value(&set, "bare", new(uintptr)), set.Add("heap", h),
		set.Add("half", save.Metadata(other)), save.Value(&set, "n", &n))
	if err := set.Portable(); !errors.Is(err, save.ErrUnsealed) {
		t.Errorf("before Seal: %v", err)
	}
	must(t, set.Seal())
	for _, err := range []error{set.Portable(), set.Write(io.Discard), set.Read(strings.NewReader(""), nil), set.Verify(nil, nil)} {
		if !errors.Is(err, save.ErrPortable) {
			t.Fatalf("%v", err)
		}
		for _, want := range []string{`"state": save: it cannot be in a file: save_test.state.In.At[]: uintptr: an address`,
			`"strange": save: it cannot be in a file: save_test.strange.H: memory.Handle[int]: exactly one pool`, `"bare": save: it cannot be in a file: uintptr: an address`,
			`"foreign": save: it cannot be in a file: save_test.strange.H: memory.Handle[int]: exactly one pool`, `"heap": *slab.Heap: `, `"half": `, "unknown type"} {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), `"n"`) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	for name, visit := range map[string]func(c *save.Coder){
		"raw":     func(c *save.Coder) { c.Raw(unsafe.Pointer(&n), 4) },
		"rows":    func(c *save.Coder) { c.Rows("x", nil, unsafe.Pointer(&n), 4, 1) },
		"pointer": func(c *save.Coder) { c.Pointer(unsafe.Pointer(&n), unsafe.Pointer(&n)) },
		"blocks":  func(c *save.Coder) { c.BeginContent() },
		"type":    func(c *save.Coder) { save.Var(c, new(state)) },
	} {
		var set save.Set
		must(t, set.AddFunc("part", func(c *save.Coder) { c.Enter(name); visit(c); c.Leave() }), set.Seal())
		if err := set.Write(io.Discard); !errors.Is(err, save.ErrPortable) || !strings.Contains(err.Error(), "part/"+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// resum returns a file with a right sum.
func resum(b []byte) []byte {
	b = bytes.Clone(b)
	sum := crc32.Checksum(b[:len(b)-8], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint64(b[len(b)-8:], uint64(sum))
	return b
}

func TestSet_EveryTruncationAndBitIsRefused(t *testing.T) {
	a, b := newWorld(t).fill(t, 7), newWorld(t).fill(t, 5)
	file := a.file(t)
	before := b.file(t)
	refused := func(data []byte, what string, at int) {
		t.Helper()
		err := b.set.Read(bytes.NewReader(data), nil)
		if !errors.Is(err, save.ErrFile) || len(err.Error()) > 200 {
			t.Fatalf("%s %d: %v", what, at, err)
		}
	}
	for n := range file {
		refused(file[:n], "bytes", n)
	}
	refused(append(bytes.Clone(file), 0), "bytes", len(file)+1)
	long := bytes.Clone(file)
	binary.LittleEndian.PutUint32(long[28:], uint32(len(file)-32)) // the head would contain the sum
	if err := b.set.Read(bytes.NewReader(resum(long)), nil); !errors.Is(err, save.ErrFile) || !strings.Contains(err.Error(), "impossible") {
		t.Errorf("a head to the end of the file: %v", err)
	}
	other := bytes.Clone(file)
	other[7]++ // the first eight bytes say which version wrote it
	if err := b.set.Read(bytes.NewReader(resum(other)), nil); !errors.Is(err, save.ErrFile) || !strings.Contains(err.Error(), "does not begin") {
		t.Errorf("another beginning with a right sum: %v", err)
	}
	for i := range 8 * len(file) {
		bad := bytes.Clone(file)
		bad[i/8] ^= 1 << (i % 8)
		refused(bad, "bit", i)
	}
	if !bytes.Equal(b.file(t), before) {
		t.Error("a refused file has changed the state")
	}
}

func TestSet_ReadIsAllOrNothing(t *testing.T) {
	a, b := newWorld(t).fill(t, 30), newWorld(t).fill(t, 9)
	before, file := b.padded(t), a.file(t)
	b.bad = true
	must(t, b.set.Verify(bytes.NewReader(file), nil))
	// The part fails for the file, and not for the state that is restored.
	var set save.Set
	fails := 0
	must(t, set.Add("beasts", b.pool), save.Value(&set, "score", &b.score), set.AddFunc("end", func(c *save.Coder) {
		if fails++; c.Loading() && fails == 3 {
			c.Fail(io.ErrClosedPipe)
		}
	}), set.Seal())
	var other save.Set
	score := int64(77)
	must(t, other.Add("beasts", a.pool), save.Value(&other, "score", &score), other.AddFunc("end", func(*save.Coder) {}), other.Seal())
	var out bytes.Buffer
	must(t, other.Write(&out))
	if err := set.Read(&out, nil); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "save: end: ") {
		t.Errorf("Read: %v", err)
	}
	if b.bad = false; !bytes.Equal(b.file(t), before) {
		t.Error("a failed Read has changed the state")
	}
}

func TestSet_HostileFilesAllocateLittle(t *testing.T) {
	b := newWorld(t)
	file := newWorld(t).fill(t, 7).file(t)
	huge := bytes.Clone(file)
	binary.LittleEndian.PutUint64(huge[8:], 1<<40)
	many := bytes.Clone(file)
	for at := 32; at+8 < len(many)-8; at += 8 { // every word of the parts is a large number
		if binary.LittleEndian.Uint64(many[at:]) == 7 {
			binary.LittleEndian.PutUint64(many[at:], 1<<39)
		}
	}
	for name, data := range map[string][]byte{"length": huge, "counts": resum(many)} {
		var x, y runtime.MemStats
		runtime.ReadMemStats(&x)
		err := b.set.Read(bytes.NewReader(data), nil)
		runtime.ReadMemStats(&y)
		if n := y.TotalAlloc - x.TotalAlloc; err == nil || n > 64<<10+40*uint64(len(data)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, n, len(data), err)
		}
	}
}

func TestSet_ErrorsOfReaderAndWriterReturn(t *testing.T) {
	w := newWorld(t)
	if err := w.set.Read(iotest.ErrReader(io.ErrNoProgress), nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Read: %v", err)
	}
	file := w.file(t)
	if err := w.set.Read(io.MultiReader(bytes.NewReader(file[:50]), iotest.ErrReader(io.ErrNoProgress)), nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Read: %v", err)
	}
	for n := range 3 {
		if err := w.set.Write(&stingy{calls: n}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("Write: %v", err)
		}
	}
	must(t, w.pool.Close())
	if err := w.set.Write(io.Discard); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "beasts") {
		t.Errorf("Write of a closed pool: %v", err)
	}
}

// A stingy writer takes a few calls, and half of the next one.
type stingy struct{ calls int }

func (w *stingy) Write(p []byte) (int, error) {
	if w.calls--; w.calls < 0 {
		return len(p) / 2, nil
	}
	return len(p), nil
}

func FuzzRead(f *testing.F) {
	f.Add(newWorld(f).fill(f, 7).file(f))
	f.Add(newWorld(f).file(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 48 {
			return
		}
		w := newWorld(t).fill(t, 9)
		before := w.padded(t)
		head := int(binary.LittleEndian.Uint32(data[28:]))
		binary.LittleEndian.PutUint64(data[8:], uint64(len(data)))
		if head <= len(data)-40 {
			binary.LittleEndian.PutUint64(data[16:], fnv(data[32:32+head]))
		}
		if err := w.set.Read(bytes.NewReader(resum(data)), nil); err == nil {
			w.file(t)
		} else if !bytes.Equal(w.file(t), before) {
			t.Errorf("the state is another one after %v", err)
		}
		must(t, w.pool.Check())
	})
}

func fnv(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// Types before and after an update of the program.
type (
	shipV1 struct {
		Hull, Old int16
		Pos       [2]float32
		Speed     float32
	}
	shipV2 struct {
		Speed  float64 // widened
		Hull   int32   // widened
		Armour uint8   // added
		Place  [2]float32
	}
)

func TestSet_ReadMigratesByName(t *testing.T) {
	one, ones, gone := shipV1{7, 3, [2]float32{1, 2}, 1.5}, []shipV1{{Hull: 1}, {Hull: 2}}, 5
	var v1, v2 save.Set
	must(t, save.Value(&v1, "ship", &one), save.Slice(&v1, "fleet", &ones), save.Value(&v1, "gone", &gone), v1.Seal())
	var file bytes.Buffer
	must(t, v1.Write(&file))
	two, twos, extra := shipV2{Armour: 9}, []shipV2{}, 8
	must(t, save.Slice(&v2, "ships", &twos), save.Value(&v2, "ship", &two), save.Value(&v2, "extra", &extra), v2.Seal())
	var notes []string
	m := &layout.Migration{
		Renamed: map[string]string{"fleet": "ships", "save_test.shipV1.Pos": "Place"},
		Dropped: []string{"gone"},
		Changed: func(s string) { notes = append(notes, s) },
	}
	must(t, v2.Read(bytes.NewReader(file.Bytes()), m))
	if want := (shipV2{1.5, 7, 0, [2]float32{1, 2}}); two != want || len(twos) != 2 || twos[1].Hull != 2 || extra != 8 {
		t.Errorf("%+v, %+v, %d", two, twos, extra)
	}
	all := strings.Join(notes, "; ")
	for _, want := range []string{"part fleet was renamed to ships", "part gone was dropped", "part extra was added", ".Old was removed", ".Armour was added", "Pos was renamed to Place", "float32 became float64"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the changes: %s", want, all)
		}
	}
	for want, m := range map[string]*layout.Migration{
		`part "fleet", which`:     nil,
		`part "gone", which`:      {Renamed: m.Renamed},
		"ships: save: the layout": {Renamed: m.Renamed, Dropped: m.Dropped, Convert: map[string]func(layout.OldValue, any) error{"save_test.shipV2": func(layout.OldValue, any) error { return io.ErrClosedPipe }}},
	} {
		if err := v2.Read(bytes.NewReader(file.Bytes()), m); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	m.Convert = map[string]func(layout.OldValue, any) error{"save_test.shipV2": func(old layout.OldValue, v any) error {
		n, _ := old.Int("Old")
		v.(*shipV2).Armour = uint8(n)
		return nil
	}}
	must(t, v2.Read(bytes.NewReader(file.Bytes()), m))
	if two.Armour != 3 || two.Hull != 7 {
		t.Errorf("Convert: %+v", two)
	}
}

// A mistake of the program is not reported as a damaged file, and names what is allowed.
func TestSet_MistakesOfAMigrationAreNamed(t *testing.T) {
	one, count := shipV1{Hull: 7}, 3
	var v1 save.Set
	must(t, save.Value(&v1, "ship", &one), save.Value(&v1, "count", &count), v1.Seal())
	var file bytes.Buffer
	must(t, v1.Write(&file))
	two := shipV2{Armour: 9}
	var v2 save.Set
	must(t, save.Value(&v2, "ship", &two), save.Value(&v2, "count", &count), v2.Seal())
	hook := func(layout.OldValue, any) error { return nil }
	for want, m := range map[string]*layout.Migration{
		`Renamed["ship"] is "boat", which the Set does not have; its parts: ship, count`: {Renamed: map[string]string{"ship": "boat"}},
		`two parts became "ship"`: {Renamed: map[string]string{"count": "ship"}},
		`Renamed["save_test.shipV1.Hull"] is Hulk, which save_test.shipV2 does not have; its fields: Speed, Hull`: {Renamed: map[string]string{"save_test.shipV1.Hull": "Hulk"}},
		`save_test.shipV2: two fields became Hull`:                                                                {Renamed: map[string]string{"save_test.shipV1.Old": "Hull"}},
		`Convert["save_test.shipV3"]: no part has this type; allowed: save_test.shipV2, int`:                      {Convert: map[string]func(layout.OldValue, any) error{"save_test.shipV3": hook}},
	} {
		err := v2.Read(bytes.NewReader(file.Bytes()), m)
		if !errors.Is(err, layout.ErrMigration) || errors.Is(err, save.ErrFile) || errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if two.Hull != 0 || two.Armour != 9 {
			t.Errorf("after %v: %+v", err, two)
		}
	}
	must(t, v2.Read(bytes.NewReader(file.Bytes()), &layout.Migration{Renamed: map[string]string{"boat": "ship"}, Dropped: []string{"gone"}}))
	var open save.Set // a function may read values of any type
	must(t, save.Value(&open, "ship", &two), open.AddFunc("count", func(c *save.Coder) { save.Var(c, &count) }), open.Seal())
	var notes []string
	must(t, open.Read(&file, &layout.Migration{Changed: func(s string) { notes = append(notes, s) }, Convert: map[string]func(layout.OldValue, any) error{"save_test.shipV3": hook}}))
	if all := strings.Join(notes, "; "); !strings.Contains(all, "Convert of save_test.shipV3 is not used: no part of the Set has this type, and no function") {
		t.Error(all)
	}
}

func TestSet_ValuesThatWouldBeLostAreRefused(t *testing.T) {
	wide, narrow := struct{ N int64 }{300}, struct{ N int8 }{5}
	var a, b save.Set
	must(t, save.Value(&a, "v", &wide), a.Seal(), save.Value(&b, "v", &narrow), b.Seal())
	var file bytes.Buffer
	must(t, a.Write(&file))
	if err := b.Verify(bytes.NewReader(file.Bytes()), nil); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "300") {
		t.Errorf("%v", err)
	}
	if err := b.Read(&file, nil); !errors.Is(err, save.ErrLayout) || narrow.N != 5 {
		t.Errorf("%v, %+v", err, narrow)
	}
}
