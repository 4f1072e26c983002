package memory_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

func TestPointerFree_NamesTheFieldThatHoldsAPointer(t *testing.T) {
	type brain struct {
		Mood int
		Name string
	}
	type enemy struct {
		X, Y  float32
		Brain brain
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{memory.PointerFree[enemy](), "enemy.Brain.Name (string)"},
		{memory.PointerFree[*int](), "*int (*int)"},
		{memory.PointerFree[[]int](), "[]int ([]int)"},
		{memory.PointerFree[string](), "string (string)"},
		{memory.PointerFree[map[int]int](), "(map[int]int)"},
		{memory.PointerFree[chan int](), "(chan int)"},
		{memory.PointerFree[func()](), "(func())"},
		{memory.PointerFree[any](), "(interface {})"},
		{memory.PointerFree[error](), "error (error)"},
		{memory.PointerFree[unsafe.Pointer](), "(unsafe.Pointer)"},
		{memory.PointerFree[[3]string](), "[3]string[0] (string)"},
		{memory.PointerFree[[2]struct{ A [4]*byte }](), "[0].A[0] (*uint8)"},
	} {
		var pe *memory.PointerError
		if !errors.As(c.err, &pe) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v; want a PointerError with %q", c.err, c.want)
		}
	}
	for i, err := range []error{
		memory.PointerFree[int](), memory.PointerFree[uintptr](), memory.PointerFree[struct{}](), memory.PointerFree[[0]*int](),
		memory.PointerFree[complex128](), memory.PointerFree[struct {
			A [3]float32
			B struct{ C bool }
		}](), memory.PointerFree[memory.Handle[enemy]](),
	} {
		if err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

func TestType_ZeroProvesNothing(t *testing.T) {
	if (memory.Type[int]{}).Valid() {
		t.Error("the zero Type is valid")
	}
	ty, err := memory.TypeFor[[3]uint16]()
	if err != nil || !ty.Valid() || ty.Size() != 6 {
		t.Errorf("TypeFor = %v, %v", ty, err)
	}
	if empty := memory.MustType[struct{}](); !empty.Valid() || empty.Size() != 0 {
		t.Errorf("an empty type has size %d", empty.Size())
	}
	if _, err := memory.TypeFor[string](); err == nil {
		t.Error("string was accepted")
	}
	defer func() {
		if _, ok := recover().(*memory.PointerError); !ok {
			t.Error("MustType of a pointerful type did not panic with a PointerError")
		}
	}()
	memory.MustType[[]byte]()
}

func TestHandle_ZeroIsNeverValid(t *testing.T) {
	var h memory.Handle[int]
	if !h.IsZero() || h.Generation()%2 != 0 {
		t.Error("the zero handle looks alive")
	}
	h = memory.MakeHandle[int](12, 7)
	if h.IsZero() || h.Index() != 12 || h.Generation() != 7 || h.String() != "#12.7" || unsafe.Sizeof(h) != 8 {
		t.Errorf("handle %v of %d bytes", h, unsafe.Sizeof(h))
	}
	if err := memory.PointerFree[memory.Handle[string]](); err != nil {
		t.Errorf("a handle of a pointerful type must itself be storable: %v", err)
	}
}

func TestNew_RefusesPointersAndZeroes(t *testing.T) {
	a, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := memory.New[string](a); err == nil {
		t.Error("New[string] succeeded")
	}
	if _, err := memory.MakeSlice[*int](a, 3); err == nil {
		t.Error("MakeSlice[*int] succeeded")
	}
	for range 2 {
		p, err := memory.New[[4]uint64](a)
		if err != nil || *p != [4]uint64{} {
			t.Fatalf("New = %v, %v", p, err)
		}
		*p = [4]uint64{1, 2, 3, 4}
		a.Reset()
	}
	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt/8 + 1} {
		if s, err := memory.MakeSlice[uint64](a, n); !errors.Is(err, memory.ErrTooLarge) || s != nil {
			t.Errorf("MakeSlice of %d: %v", n, err)
		}
	}
	s, err := memory.MakeSlice[uint64](a, 3)
	if err != nil || len(s) != 3 || cap(s) != 3 {
		t.Fatalf("MakeSlice: %v, %v", s, err)
	}
	memory.FreeSlice(a, s)
	if a.Used() != 0 {
		t.Errorf("FreeSlice left %d bytes", a.Used())
	}
}

func TestErrors_CarryTheNumbers(t *testing.T) {
	cause := errors.New("ENOMEM")
	err := error(&memory.Exhausted{Op: "tlsf: alloc", Need: 100, Have: 10, Limit: 50, Cause: cause})
	if !errors.Is(err, memory.ErrOutOfMemory) || !errors.Is(err, cause) || errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("%v is the wrong kind of error", err)
	}
	if want := "tlsf: alloc: out of memory: need 100 bytes: ENOMEM"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	m := &memory.Misuse{Package: "slab", Op: "Free", Addr: 0x1000, Size: 8, Reason: "double free"}
	if want := "slab.Free(0x1000, size 8): double free"; m.Error() != want {
		t.Errorf("got %q, want %q", m, want)
	}
}

func TestStats_SubtractAddAndFragment(t *testing.T) {
	a := memory.Stats{Reserved: 100, Committed: 80, InUse: 40, Peak: 50, Live: 4, Allocs: 10, Frees: 6, Failures: 1, Requested: 30, Measured: 40, LargestFree: 10, Free: 40}
	d := a.Sub(memory.Stats{Allocs: 4, Frees: 3, Failures: 1})
	if d.Allocs != 6 || d.Frees != 3 || d.Failures != 0 || d.InUse != 40 {
		t.Errorf("Sub = %+v", d)
	}
	if s := a.Add(a); s.InUse != 80 || s.Allocs != 20 || s.LargestFree != 10 || s.Measured != 80 || s.Free != 80 {
		t.Errorf("Add = %+v", s)
	}
	if a.Internal() != 0.25 || a.External() != 0.75 {
		t.Errorf("internal %v, external %v; want 0.25, 0.75", a.Internal(), a.External())
	}
	if z := (memory.Stats{}); z.Internal() != 0 || z.External() != 0 {
		t.Error("empty stats fragment")
	}
}

func BenchmarkNewThroughTheInterface(b *testing.B) {
	l, err := arena.NewLinear(nil, arena.LinearConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	n := 0
	for b.Loop() {
		if _, err := memory.New[[4]uint64](l); err != nil {
			b.Fatal(err)
		}
		if n++; n == 1000 {
			l.Reset()
			n = 0
		}
	}
}

func TestStats_ASumSpeaksOnlyOfFamiliesThatKeepRequests(t *testing.T) {
	keeps := memory.Stats{InUse: 100, Requested: 75, Measured: 100, LargestFree: 30, Free: 40}
	silent := memory.Stats{InUse: 900}
	if s := keeps.Add(silent); s.Internal() != 0.25 || s.External() != 0.25 {
		t.Errorf("internal %v, external %v with a family that keeps nothing; want 0.25 as without it", s.Internal(), s.External())
	}
	if s := silent; s.Internal() != 0 || s.External() != 0 {
		t.Errorf("internal %v, external %v of what is not kept", s.Internal(), s.External())
	}
	if s := (memory.Stats{Free: 10}); s.External() != 1 {
		t.Errorf("10 bytes free of which none can be had: external %v; want 1", s.External())
	}
}

func TestTypeAndHandle_AreNotConvertedIntoAnothers(t *testing.T) {
	type big [64]byte
	for name, pair := range map[string][2]reflect.Type{
		"Type":   {reflect.TypeFor[memory.Type[byte]](), reflect.TypeFor[memory.Type[big]]()},
		"Handle": {reflect.TypeFor[memory.Handle[byte]](), reflect.TypeFor[memory.Handle[big]]()},
	} {
		if pair[0].ConvertibleTo(pair[1]) || reflect.PointerTo(pair[0]).ConvertibleTo(reflect.PointerTo(pair[1])) {
			t.Errorf("%s: %v converts to %v", name, pair[0], pair[1])
		}
	}
	if n := unsafe.Sizeof(memory.Handle[big]{}); n != 8 {
		t.Errorf("a Handle has %d bytes; want 8", n)
	}
	if err := memory.PointerFree[memory.Handle[big]](); err != nil {
		t.Error(err)
	}
}

// Go 1.26 does not link a program that calls a method of reflect.TypeFor of a local type, or of a type made
// with it, if the compiler generated its ==. A blank field asks for one. Without a blank field the compiler
// compares a Handle and a Type as words.
func TestHandleAndType_OfALocalTypeLinkAndCompare(t *testing.T) {
	type local [64]byte
	if !reflect.TypeFor[memory.Handle[local]]().Comparable() {
		t.Error("Handles cannot be compared")
	}
	if !reflect.TypeFor[memory.Type[local]]().Comparable() {
		t.Error("Types cannot be compared")
	}
	seen := map[any]bool{memory.MakeHandle[local](1, 3): true}
	if !seen[memory.MakeHandle[local](1, 3)] || seen[memory.MakeHandle[local](1, 5)] || seen[memory.MakeHandle[byte](1, 3)] {
		t.Error("a Handle is not found by its slot, generation and type")
	}
}

func TestFree_GivesBackWhatNewMade(t *testing.T) {
	l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := memory.New[[3]uint64](l)
	if err != nil || l.Used() != 24 {
		t.Fatalf("%d bytes used, %v", l.Used(), err)
	}
	memory.Free(l, p)
	memory.Free[[3]uint64](l, nil)
	if l.Used() != 0 {
		t.Errorf("%d bytes used after Free", l.Used())
	}
}

func TestMaxAlign_IsAPageOfFourKiB(t *testing.T) {
	if memory.MaxAlign != 4096 || memory.MaxAlign&(memory.MaxAlign-1) != 0 {
		t.Errorf("MaxAlign is %d", memory.MaxAlign)
	}
}
