package container

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// keys16 has keys of few values, so that programs meet them again, and of many homes.
type key16 struct {
	a uint64
	b uint8 // seven bytes of padding
}

// mapProgram runs a program on a Map beside a Go map, in a heap that fails or panics now and
// then: what fails has changed nothing, and equal maps are equal to the byte.
func mapProgram(t *testing.T, program []byte) {
	f, sp := newFlaky(t)
	m := NewMap[key16, uint32](uint64(len(program)))
	model := map[key16]uint32{}
	for len(program) >= 3 {
		op, a, b := program[0], int(program[1]), int(program[2])
		program = program[3:]
		f.failAt, f.boomAt = 0, 0
		switch op >> 5 {
		case 1:
			f.failAt, f.forGood = f.calls+1, b%2 == 0
		case 2:
			f.boomAt = f.calls + 1 + b%2
		}
		k := key16{uint64(a), uint8(op >> 4 & 1)}
		was := maps.Clone(model)
		old, had := model[k]
		var err error
		done := survives(func() {
			switch op & 0xF {
			case 0, 1, 2, 3, 4:
				if err = m.Set(sp, k, uint32(b)); err == nil {
					model[k] = uint32(b)
				}
			case 5:
				for i := range uint64(b % 64) {
					k := key16{uint64(a) << 8, uint8(i)}
					if err = m.Set(sp, k, uint32(i)); err != nil {
						break
					}
					model[k] = uint32(i)
					was = maps.Clone(model)
				}
			case 6:
				var p *uint32
				var there bool
				if p, there, err = m.GetOrSet(sp, k, 99); err == nil {
					if there != had || *p != map[bool]uint32{true: old, false: 99}[had] {
						t.Fatalf("GetOrSet = %d, %t", *p, there)
					}
					*p = uint32(b)
					model[k] = uint32(b)
				}
			case 7, 8, 9:
				if m.Delete(sp, k) != had {
					t.Fatalf("Delete(%v) = %t", k, !had)
				}
				delete(model, k)
			case 10:
				err = m.Reserve(sp, b)
				if err == nil && m.Cap()-m.Len() < b {
					t.Fatalf("Reserve(%d) left room for %d", b, m.Cap()-m.Len())
				}
			case 11:
				if err = m.Shrink(sp); err == nil && m.bits != bitsFor(m.Len()) {
					t.Fatalf("after Shrink %d in 2^%d", m.Len(), m.bits)
				}
			case 12:
				if b%4 == 0 {
					m.Free(sp)
					clear(model)
				}
			case 13:
				if b%4 == 0 {
					m.Clear(sp)
					clear(model)
				}
			case 14:
				m.DeleteFunc(sp, func(k key16, v uint32) bool { return v%4 == uint32(b%4) })
				maps.DeleteFunc(model, func(_ key16, v uint32) bool { return v%4 == uint32(b%4) })
			case 15:
				for k, v := range m.All(sp) {
					if v%4 == uint32(b%4) {
						m.Delete(sp, k)
						delete(model, k)
					} else {
						*m.Ptr(sp, k) = v + 1
						model[k]++
					}
				}
			}
		})
		if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("op %d: %v", op, err)
		}
		if !done {
			model = was
		}
		if got := maps.Collect(m.All(sp)); !maps.Equal(got, model) || m.Len() != len(model) {
			t.Fatalf("op %#x failed %v %t:\n\t%v, want\n\t%v", op, err, !done, got, model)
		}
		if v, ok := m.Get(sp, k); ok != m.Has(sp, k) || ok != (m.Ptr(sp, k) != nil) || v != model[k] {
			t.Fatalf("op %#x: Get(%v) = %d, %t", op, k, v, ok)
		}
		must(t, m.Check(sp))
		if want := min(int(m.bits), 1); int(f.Stats().Live) != want {
			t.Fatalf("op %#x: %d blocks live, want %d", op, f.Stats().Live, want)
		}
	}
	f.boomAt, f.failAt = 0, 0
	again := NewMap[key16, uint32](m.seed) // the same entries, sorted by key
	must(t, again.rebuild(sp, max(m.bits, minBits)))
	for _, k := range slices.SortedFunc(maps.Keys(model), func(a, b key16) int { return int(a.a) - int(b.a) + int(a.b)*1000 - int(b.b)*1000 }) {
		must(t, again.Set(sp, k, model[k]))
	}
	if m.bits > 0 && bytesOfMap(sp, &m) != bytesOfMap(sp, &again) {
		t.Fatal("the bytes of a Map depend on what was done to it")
	}
	again.Free(sp)
	m.Free(sp)
	if f.Stats().Live != 0 {
		t.Fatalf("Free left %d blocks", f.Stats().Live)
	}
}

func bytesOfMap[K comparable, V any](sp *Space, m *Map[K, V]) string {
	return string(unsafe.Slice((*byte)(sp.at(m.off)), m.bytes()))
}

func FuzzMap(f *testing.F) {
	f.Add(memtest.RandomProgram(1, 60))
	f.Fuzz(mapProgram)
}

func TestMap_IsAMapUnderAnyProgramAndEqualMapsAreEqualToTheByte(t *testing.T) {
	for seed := range uint64(40) {
		mapProgram(t, memtest.RandomProgram(seed+1, 250))
	}
}

func TestMap_CheckNamesEachBookOfAMapWithoutATable(t *testing.T) {
	_, sp := newFlaky(t)
	for name, broken := range map[string]Map[int, int]{
		"offset": {off: 1}, "salt": {salt: 1}, "entries": {n: 1}, "care": {care: 1},
	} {
		if broken.Check(sp) == nil {
			t.Errorf("a wrong %s is not named", name)
		}
	}
}

func TestMap_TheZeroMapIsEmptyAndReady(t *testing.T) {
	h, sp := heap(t)
	var m Map[int, int]
	if _, ok := m.Get(sp, 0); ok || m.Has(sp, 0) || m.Delete(sp, 0) || m.Len() != 0 || m.Cap() != 0 || unsafe.Sizeof(m) != 32 {
		t.Errorf("%+v of %d bytes", m, unsafe.Sizeof(m))
	}
	for range m.All(sp) {
		t.Error("an entry")
	}
	m.Clear(sp)
	m.Free(sp)
	must(t, m.Shrink(sp))
	must(t, m.Reserve(sp, 0))
	m.DeleteFunc(sp, func(int, int) bool { return true })
	must(t, m.Check(sp))
	c, err := m.Clone(sp, sp)
	if must(t, err); h.Stats().Allocs != 0 || m != (Map[int, int]{}) || c != m {
		t.Errorf("nothing was asked for, yet %+v, %+v", m, c)
	}
	must(t, m.Set(sp, 0, 1))
	if m.Cap() != 6 {
		t.Errorf("the first table has room for %d", m.Cap())
	}
	m.Free(sp)
	for n, want := range map[int]uint8{0: 0, 1: 3, 6: 3, 7: 4, 12: 4, 13: 5, 768: 10, 769: 11, capOf(maxBits): maxBits} {
		if got := bitsFor(n); got != want {
			t.Errorf("%d entries need 2^%d slots, want 2^%d", n, got, want)
		}
	}
}

func TestMap_KeysAreEqualAsByTheOperator(t *testing.T) {
	_, sp := heap(t)
	negative := math.Copysign(0, -1)
	var f Map[[2]float32, int]
	minus, nan := [2]float32{float32(negative)}, [2]float32{1: float32(math.NaN())}
	must(t, f.Set(sp, minus, 1))
	must(t, f.Set(sp, [2]float32{}, 2))
	if v, ok := f.Get(sp, minus); v != 2 || !ok || f.Len() != 1 {
		t.Errorf("-0 has %d, %t; %d entries", v, ok, f.Len())
	}
	for k := range f.Keys(sp) {
		if math.Signbit(float64(k[0])) {
			t.Error("-0 is kept as -0")
		}
	}
	must(t, f.Check(sp))
	if err := f.Set(sp, nan, 1); err != ErrNaN || f.Len() != 1 || f.Has(sp, nan) || f.Delete(sp, nan) {
		t.Errorf("NaN: %v", err)
	}
	f.Free(sp)
	if err := f.Set(sp, nan, 1); err != ErrNaN || f != (Map[[2]float32, int]{}) {
		t.Errorf("NaN as the first key: %v, %+v", err, f)
	}

	var dirty, clean key16
	for i := range unsafe.Sizeof(dirty) {
		*(*byte)(unsafe.Add(unsafe.Pointer(&dirty), i)) = 0xEE
	}
	dirty.a, dirty.b = 0, 0
	var p Map[key16, uint32]
	must(t, p.Set(sp, dirty, 1))
	must(t, p.Set(sp, clean, 2))
	if v, ok := p.Get(sp, dirty); p.Len() != 1 || !ok || v != 2 || !p.Delete(sp, dirty) {
		t.Errorf("padding tells keys apart: %d entries", p.Len())
	}
	must(t, p.Set(sp, dirty, 1))
	must(t, p.Check(sp))
	p.Free(sp)
}

// What a Map does with each key that has a shape, for keys of more kinds than there are Maps here.
func TestShape_EqualKeysGetEqualBytes(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	c := [2]complex64{complex(negative, 1), complex(0, negative)}
	normalise(&c)
	if math.Signbit(float64(real(c[0]))) || math.Signbit(float64(imag(c[1]))) || c != [2]complex64{1i} {
		t.Errorf("complex zeros differ: %v", c)
	}
	type padded struct {
		a uint8
		_ uint16
		b uint32
		c [2]struct {
			x uint8
			y uint16
		}
		d uint64
		e uint8
	}
	var dirty padded
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&dirty)), unsafe.Sizeof(dirty))
	for i := range bytes {
		bytes[i] = 0xEE
	}
	dirty.a, dirty.b, dirty.d, dirty.e = 0, 0, 0, 0
	for i := range dirty.c {
		dirty.c[i].x, dirty.c[i].y = 0, 0
	}
	s := shapeOf[padded]()
	if s.normal(unsafe.Pointer(&dirty)) {
		t.Error("dirty padding is normal")
	}
	if normalise(&dirty); !zero(unsafe.Pointer(&dirty), unsafe.Sizeof(dirty)) || !s.normal(unsafe.Pointer(&dirty)) {
		t.Errorf("padding tells keys apart: %x", bytes)
	}
}

func TestShape_KnowsWhatBytesDoNotSay(t *testing.T) {
	type inner struct {
		X uint8
		F float32
	}
	for name, c := range map[string]struct {
		got  *shape
		want string
	}{
		"int":    {shapeOf[int](), "<nil>"},
		"array":  {shapeOf[[1000]uint16](), "<nil>"},
		"struct": {shapeOf[struct{ a, b uint32 }](), "<nil>"},
		"float":  {shapeOf[float32](), "&{[] [{0 4}]}"},
		"nested": {shapeOf[struct {
			a uint32
			b [2]inner
			_ uint8
		}](), "&{[{5 3} {13 3} {20 1} {21 3}] [{8 4} {16 4}]}"},
		"complex": {shapeOf[complex128](), "&{[] [{0 8} {8 8}]}"},
		"empty":   {shapeOf[[0]float64](), "<nil>"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// testKeys fills a Map with many keys of one type.
func testKeys[K comparable, V int | uint32](t *testing.T, sp *Space, of func(i int) (K, V)) {
	t.Helper()
	var m Map[K, V]
	const n = 5000
	for i := range n {
		k, v := of(i)
		must(t, m.Set(sp, k, v))
	}
	must(t, m.Check(sp))
	model := map[K]V{}
	for i := range n {
		k, v := of(i)
		model[k] = v
	}
	longest := uint64(0)
	tab := m.table(sp)
	for k, want := range model {
		if v, ok := m.Get(sp, k); !ok || v != want {
			t.Fatalf("%T: Get(%v) = %d, %t; want %d", k, k, v, ok, want)
		}
		h := hashKey(&k, m.salt)
		longest = max(longest, (slotOf(tab, find(tab, &k, h))-homeOf(tab, h))&maskOf(tab))
	}
	if m.Len() != len(model) || longest > 64 {
		t.Errorf("%T: %d entries of %d, one of them %d slots from home", m, m.Len(), len(model), longest)
	}
	m.Free(sp)
}

func TestMap_SpreadsKeysOfAllSizes(t *testing.T) {
	_, sp := heap(t)
	testKeys(t, sp, func(i int) (uint32, uint32) { return uint32(i), uint32(i) })
	testKeys(t, sp, func(i int) (uint32, uint32) { return uint32(i) << 16, uint32(i) })
	testKeys(t, sp, func(i int) (int, int) { return i, i })
	testKeys(t, sp, func(i int) (int64, int) { return int64(i) << 40, i })
	testKeys(t, sp, func(i int) (int, int) { return i * 4096, i })
	testKeys(t, sp, func(i int) ([17]byte, int) { return [17]byte{0: byte(i), 16: byte(i >> 8)}, i })
	testKeys(t, sp, func(i int) ([2]float32, int) { return [2]float32{float32(i % 70), float32(i / 70)}, i })
}

// testSpread hashes many keys of one type into a table of slots, as a Map does. A Map of each of these types would take
// seconds to compile.
func testSpread[K any](t *testing.T, seed uint64, of func(i int) K) {
	t.Helper()
	const n, bits = 4900, 13
	var slots [1 << bits]bool
	longest := uint64(0)
	for i := range n {
		k := of(i)
		home := hashKey(&k, saltOf(seed, bits)) >> (64 - bits) &^ 7
		past := uint64(0)
		for slots[(home+past)%uint64(len(slots))] {
			past++
		}
		slots[(home+past)%uint64(len(slots))] = true
		longest = max(longest, past)
	}
	if longest > 64 {
		t.Errorf("%T: one of %d keys lies %d slots from home", of(0), n, longest)
	}
}

func TestHash_SpreadsKeysOfAllSizes(t *testing.T) {
	testSpread(t, 1, func(i int) uint16 { return uint16(i) })
	testSpread(t, 1, func(i int) [3]byte { return [3]byte{byte(i), byte(i >> 8)} })
	testSpread(t, 1, func(i int) [5]byte { return [5]byte{0, byte(i), 0, byte(i >> 8), 0} })
	testSpread(t, 1, func(i int) [7]byte { return [7]byte{6: byte(i), 5: byte(i >> 8)} })
	testSpread(t, 1, func(i int) int64 { return int64(-i) })
	testSpread(t, 1, func(i int) [3]int32 { return [3]int32{int32(i % 17), int32(i / 17 % 17), int32(i / 289)} })
	testSpread(t, 1, func(i int) [2]uint64 { return [2]uint64{uint64(i % 70), uint64(i / 70)} })
	testSpread(t, 1, func(i int) [5]uint64 { return [5]uint64{2: uint64(i)} })
	testSpread(t, 1, func(i int) [33]byte { return [33]byte{32: byte(i), 1: byte(i >> 8)} })
	testSpread(t, 1, func(i int) float64 { return float64(i) })
	testSpread(t, 1, func(i int) memory.Handle[int] { return memory.MakeHandle[int](uint32(i), 1) })
}

func TestHash_EveryByteOfEveryLengthCounts(t *testing.T) {
	buf := make([]byte, 80)
	for n := range len(buf) + 1 {
		h := hashBytes(unsafe.Pointer(unsafe.SliceData(buf)), uintptr(n), 7)
		for i := range n {
			for _, bit := range []byte{1, 0x80} {
				buf[i] ^= bit
				if hashBytes(unsafe.Pointer(unsafe.SliceData(buf)), uintptr(n), 7) == h {
					t.Errorf("byte %d of %d does not count", i, n)
				}
				buf[i] ^= bit
			}
		}
		if n > 0 && hashBytes(unsafe.Pointer(unsafe.SliceData(buf)), uintptr(n-1), 7) == h {
			t.Errorf("%d and %d zeros have one hash", n-1, n)
		}
		if n < len(buf) {
			buf[n] ^= 0xFF // the byte behind
			if hashBytes(unsafe.Pointer(unsafe.SliceData(buf)), uintptr(n), 7) != h {
				t.Errorf("the byte behind %d counts", n)
			}
			buf[n] ^= 0xFF
		}
	}
}

func TestHash_IsFixedForEver(t *testing.T) {
	one, two := uint8(57), uint16(57)
	eight, four, long, longer := uint64(12345), uint32(12345), [24]byte{1, 2, 3}, [60]byte{1, 2, 3, 30: 9, 59: 4}
	for name, c := range map[string][2]uint64{
		"uint8":    {hashKey(&one, 1), 0xe6386aeeb8767699},
		"uint16":   {hashKey(&two, 1), 0xe6386aeeb8767699},
		"uint64":   {hashKey(&eight, 1), 0x82fb73a3ce3027c8},
		"uint32":   {hashKey(&four, 1), 0x82fb73a3ce3027c8},
		"[24]byte": {hashKey(&long, 1), 0x90dd3e4e09bef91c},
		"[60]byte": {hashKey(&longer, 1), 0x9f6aa29de29c522f},
		"salt":     {saltOf(1, 10), 0xfdd4c718d71ab508},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %#x, want %#x: maps and texts in saved games would not be found", name, c[0], c[1])
		}
	}
}

func TestMap_TheOrderFollowsFromTheEntriesAndTheSeed(t *testing.T) {
	_, sp := heap(t)
	r := rand.New(rand.NewPCG(1, 2))
	keys := r.Perm(1000)
	order := func(seed uint64, keys, gone []int) []int {
		m := NewMap[int, int](seed)
		defer m.Free(sp)
		must(t, m.Reserve(sp, 1200))
		for _, k := range slices.Concat(keys, gone) {
			must(t, m.Set(sp, k, -k))
		}
		for _, k := range gone {
			m.Delete(sp, k)
		}
		order, values := slices.Collect(m.Keys(sp)), slices.Collect(m.Values(sp))
		for i, k := range order {
			if values[i] != -k {
				t.Fatalf("value %d is %d, of key %d", i, values[i], k)
			}
		}
		return order
	}
	first := order(1, keys, nil)
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	if !slices.Equal(first, order(1, keys, []int{5000, 5001, 6000})) {
		t.Error("another history, another order")
	}
	if slices.Equal(first, order(2, keys, nil)) {
		t.Error("another seed, the same order")
	}
	slices.Sort(first)
	slices.Sort(keys)
	if !slices.Equal(first, keys) {
		t.Error("not all keys are there")
	}
}

func TestMap_CopyingEntryByEntryIntoASmallerOneIsNotQuadratic(t *testing.T) {
	_, sp := heap(t)
	var a, b Map[uint32, uint32]
	defer a.Free(sp)
	defer b.Free(sp)
	for i := range uint32(100_000) {
		must(t, a.Set(sp, i, i))
	}
	longest := uint64(0)
	for k, v := range a.All(sp) {
		must(t, b.Set(sp, k, v))
		tab, h := b.table(sp), hashKey(&k, b.salt)
		longest = max(longest, (slotOf(tab, find(tab, &k, h))-homeOf(tab, h))&maskOf(tab))
	}
	if longest > 200 || b.Len() != a.Len() {
		t.Errorf("an entry is %d slots from home", longest)
	}
}

func TestMap_AnIterationPanicsWhenTheTableMoves(t *testing.T) {
	_, sp := heap(t)
	var m Map[int, int]
	defer m.Free(sp)
	for i := range 6 {
		must(t, m.Set(sp, i, i))
	}
	memtest.Misuse(t, func() {
		for k := range m.All(sp) {
			must(t, m.Set(sp, k+100, 0))
		}
	}, "container.Map.All", "the table has moved during the iteration")
	must(t, m.Check(sp))
	seen := 0
	for k, p := range m.Ptrs(sp) {
		if *p = -k; k == 3 {
			break
		}
		seen++
	}
	for range m.Keys(sp) {
		break
	}
	for range m.Values(sp) {
		break
	}
	if v, _ := m.Get(sp, 3); v != -3 || seen == m.Len() {
		t.Errorf("3 has %d after %d entries", v, seen)
	}
}

func TestMap_AnIterationShowsNothingThatIsNotThere(t *testing.T) {
	_, sp := heap(t)
	for seed := range uint64(8) {
		for _, change := range []func(m *Map[uint32, uint32], k uint32){
			func(m *Map[uint32, uint32], k uint32) { m.Clear(sp) },
			func(m *Map[uint32, uint32], k uint32) {
				for other := uint32(100); other < 140; other += 1 + other&1 {
					m.Delete(sp, other)
				}
			},
		} {
			m := NewMap[uint32, uint32](seed)
			for k := range uint32(40) {
				must(t, m.Set(sp, 100+k, 1))
			}
			for k, v := range m.Ptrs(sp) {
				if *v != 1 || !m.Has(sp, k) {
					t.Fatalf("seed %d: it shows %d, %d", seed, k, *v)
				}
				*v = 1
				change(&m, k)
			}
			must(t, m.Check(sp))
			m.Free(sp)
		}
	}
}

func TestMap_APanicOutOfDeleteFuncLosesNothing(t *testing.T) {
	_, sp := heap(t)
	var m Map[int, int]
	defer m.Free(sp)
	for i := range 100 {
		must(t, m.Set(sp, i, i))
	}
	n := 0
	if survives(func() {
		m.DeleteFunc(sp, func(int, int) bool {
			if n++; n == 50 {
				panic(errBoom)
			}
			return true
		})
	}) || m.Len() != 51 {
		t.Errorf("%d entries are left", m.Len())
	}
	must(t, m.Check(sp))
}

func TestMap_CountsThatOverflowAreErrors(t *testing.T) {
	h, sp := heap(t)
	var m Map[[17]byte, int]
	must(t, m.Set(sp, [17]byte{1}, 1))
	before := m
	for _, n := range []int{math.MaxInt, capOf(maxBits), capOf(maxBits) - 1, 1 << 28} {
		if err := m.Reserve(sp, n); !errors.Is(err, memory.ErrTooLarge) && !errors.Is(err, memory.ErrOutOfMemory) || m != before {
			t.Errorf("Reserve(%d): %v, %+v", n, err, m)
		}
	}
	if err := m.Reserve(sp, capOf(maxBits)); err != memory.ErrTooLarge {
		t.Errorf("one more than there may be: %v", err)
	}
	if got := panics(func() { m.Reserve(sp, -1) }); !strings.Contains(got, "out of range") {
		t.Errorf("Reserve(-1) panics with %q", got)
	}
	if err := (&Map[string, int]{}).Set(sp, "", 1); !errors.As(err, new(*memory.PointerError)) {
		t.Errorf("string keys: %v", err)
	}
	if err := (&Map[int, *int]{}).Set(sp, 1, nil); !errors.As(err, new(*memory.PointerError)) {
		t.Errorf("pointer values: %v", err)
	}
	m.Free(sp)
	if h.Stats().Live != 0 {
		t.Error("blocks are left")
	}
}

func TestMap_CloneIsTheSameToTheByteInAnotherSpace(t *testing.T) {
	_, sp := heap(t)
	h2, to := heap(t)
	var m Map[uint32, uint32]
	defer m.Free(sp)
	for i := range uint32(100) {
		must(t, m.Set(sp, i, i))
	}
	memtest.MustAlloc(t, h2, 100, 16) // so that it lies elsewhere
	c, err := m.Clone(sp, to)
	must(t, err)
	if bytesOfMap(sp, &m) != bytesOfMap(to, &c) || c.off == m.off {
		t.Error("the clone differs")
	}
	must(t, c.Check(to))
	full := &flaky{Heap: h2, failAt: 1}
	if _, err := m.Clone(sp, space(t, full)); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("Clone into a full space: %v", err)
	}
}
