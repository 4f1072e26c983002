package layout

import (
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

type (
	beast   struct{ HP int8 }
	monster struct{ HP int8 }
)

// A handle of one type names an object of another one, if it becomes a handle of another pool.
func TestPlan_HandleOfAnotherTypeIsRefused(t *testing.T) {
	handle := func(h reflect.Type) *Type {
		d, err := OfHandles(h, func(reflect.Type) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	a, b := handle(reflect.TypeFor[memory.Handle[beast]]()), handle(reflect.TypeFor[memory.Handle[monster]]())
	type two struct {
		A memory.Handle[beast]
		B bool
	}
	type three struct {
		A memory.Handle[monster]
		B bool
	}
	x, y := handle(reflect.TypeFor[two]()), handle(reflect.TypeFor[three]())
	renamed := map[string]string{"layout.beast": "layout.monster"}
	for _, c := range []struct {
		from, to *Type
		p        Planner
		ok       bool
	}{
		{a, a, Planner{}, true}, {a, b, Planner{}, false}, {a, b, Planner{Renamed: renamed}, true}, {a, a, Planner{Renamed: renamed}, true},
		{b, a, Planner{Renamed: renamed}, false}, {x, x, Planner{}, true}, {x, y, Planner{}, false}, {x, y, Planner{Renamed: renamed}, true},
	} {
		_, err := c.p.Plan("v", c.from, c.to)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "handle of layout.") {
			t.Errorf("%s to %s, renamed %v: %v", c.from.Name, c.to.Name, c.p.Renamed, err)
		}
	}
	p := Planner{Lenient: true}
	convert, err := p.Plan("v", a, b)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 8)
	if err := convert(dst, []byte{1, 0, 0, 0, 1, 0, 0, 0}); err != nil || dst[0] != 0 {
		t.Errorf("with a function of the program: %v, %v", dst, err)
	}
}

func TestOf_TypeThatNoFileCanHaveIsRefused(t *testing.T) {
	typ := reflect.TypeFor[int8]()
	for range deepest + 1 {
		typ = reflect.ArrayOf(1, typ)
	}
	if _, err := Of(typ); err == nil || !strings.Contains(err.Error(), "nested 33 deep") {
		t.Errorf("%v", err)
	}
}
