package memory_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unique"
	"unsafe"
	"weak"

	"github.com/strata-go/strata/memory"
)

type (
	node   struct{ Next *node }
	list   []list
	thunk  func() thunk
	tree   struct{ Kids [2]list }
	plain  struct{ X, Y float32 }
	outer  struct{ plain }
	holder struct{ *plain }
	shadow struct {
		_ [0]*int
		_ *int
	}
	box[T any] struct{ Value T }
	table      [2][3]struct{ _ [0]string }
)

func TestPointerFree_ExoticTypes(t *testing.T) {
	for i, err := range []error{
		memory.PointerFree[sync.Mutex](), memory.PointerFree[atomic.Int64](), memory.PointerFree[atomic.Bool](),
		memory.PointerFree[box[int]](), memory.PointerFree[box[box[[4]uintptr]]](), memory.PointerFree[outer](),
		memory.PointerFree[[0]node](), memory.PointerFree[box[[0]func()]](), memory.PointerFree[table](),
		memory.PointerFree[time.Duration](), memory.PointerFree[[1 << 20][0]string](), memory.PointerFree[memory.Stats](),
		memory.PointerFree[memory.Type[string]](),
	} {
		if err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{memory.PointerFree[node](), "node.Next (*memory_test.node)"},
		{memory.PointerFree[list](), "list (memory_test.list)"},
		{memory.PointerFree[thunk](), "thunk (memory_test.thunk)"},
		{memory.PointerFree[tree](), "tree.Kids[0] (memory_test.list)"},
		{memory.PointerFree[holder](), "holder.plain (*memory_test.plain)"},
		{memory.PointerFree[shadow](), "shadow._ (*int)"},
		{memory.PointerFree[box[box[string]]](), ".Value.Value (string)"},
		{memory.PointerFree[atomic.Pointer[int]](), ".v (unsafe.Pointer)"},
		{memory.PointerFree[atomic.Value](), "Value.v (interface {})"},
		{memory.PointerFree[weak.Pointer[int]](), "(unsafe.Pointer)"},
		{memory.PointerFree[unique.Handle[int]](), ".value (*int)"},
		{memory.PointerFree[time.Time](), "Time.loc (*time.Location)"},
		{memory.PointerFree[unsafe.Pointer](), "Pointer (unsafe.Pointer)"},
		{memory.PointerFree[memory.Misuse](), "Misuse.Package (string)"},
		{memory.PointerFree[struct{ box[[0]int] }](), ""},
	} {
		var pe *memory.PointerError
		if c.want == "" && c.err == nil {
			continue
		}
		if !errors.As(c.err, &pe) || !strings.Contains(c.err.Error(), c.want+" is or contains a Go pointer") {
			t.Errorf("got %v; want a PointerError with %q", c.err, c.want)
		}
	}
}

func TestPointerFreeType_OfNothingIsAnError(t *testing.T) {
	if err := memory.PointerFreeType(reflect.TypeOf(nil)); err == nil || err.Error() != "memory: no type: the value is a nil interface" {
		t.Errorf("got %v", err)
	}
}

func TestPointerFree_PathBeginsWithTheType(t *testing.T) {
	for _, c := range []struct {
		err  error
		path string
	}{
		{memory.PointerFree[node](), "node.Next"}, // without the package
		{memory.PointerFree[[]int](), "[]int"},    // has no name
		{memory.PointerFree[[2]holder](), "[2]memory_test.holder[0].plain"},
		{memory.PointerFree[struct{ S string }](), "struct { S string }.S"},
	} {
		var pe *memory.PointerError
		if !errors.As(c.err, &pe) || pe.Path != c.path {
			t.Errorf("got %v; want a path of %q", c.err, c.path)
		}
	}
}

func TestPointerFree_LooksAtATypeOnce(t *testing.T) {
	type deep struct{ A [2]struct{ B outer } }
	look := func() {
		if err := memory.PointerFree[deep](); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if n := testing.AllocsPerRun(100, look); n != 0 {
		t.Errorf("each further look costs %v Go allocations", n)
	}
}

func TestPointerError_NamesAllFieldsAndWhatToStore(t *testing.T) {
	type sprite struct {
		Shots []int
		Image *int
		X     float32
		Gun   struct{ Name string }
	}
	err := memory.PointerFree[sprite]()
	if want := "; store a container.Vec or a fixed-size array; other fields: sprite.Image, sprite.Gun.Name"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v; want the end %q", err, want)
	}
	if err := memory.PointerFree[struct{ A, B, C, D, E, F, G, H, I, J, K func() }](); err == nil || !strings.HasSuffix(err.Error(), ".I and 2 more") {
		t.Errorf("got %v; want 8 other fields and 2 more", err)
	}
	for want, err := range map[string]error{
		"a memory.Handle or an index":                                memory.PointerFree[*int](),
		"an index, an id of container.Strings or a fixed-size array": memory.PointerFree[string](),
		"a container.Map":                                            memory.PointerFree[map[int]int](),
		"an index":                                                   memory.PointerFree[func()](),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), "; store "+want) {
			t.Errorf("got %v; want the end %q", err, want)
		}
	}
}
