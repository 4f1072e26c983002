package container_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// Containers are values without pointers: save.Value saves them, and their allocator saves their blocks.
func TestContainers_AreSavedAsValues(t *testing.T) {
	var s struct {
		vec     container.Vec[int]
		ring    container.Ring[int]
		table   container.Map[int, int]
		strings container.Strings
	}
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("heap", heap), save.Value(set, "containers", &s), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer heap.Close()
	sp, err := container.In(heap)
	if err != nil {
		t.Fatal(err)
	}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			_, err := s.strings.Intern(sp, fmt.Sprint("string ", i))
			if err := errors.Join(err, s.vec.Append(sp, i), s.ring.PushFront(sp, i), s.table.Set(sp, i, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func() (text string) {
		for k, v := range s.table.All(sp) {
			text += fmt.Sprint(k, v, " ")
		}
		for id := range uint32(s.strings.Len()) {
			text += s.strings.Text(sp, id+1) + " "
		}
		for i := range s.ring.Len() {
			text += fmt.Sprint(s.ring.At(sp, i))
		}
		return text + fmt.Sprint(s.vec.Slice(sp))
	}
	add(0, 40)
	want, slot := list(), set.NewSlot(2<<20)
	if err := set.Save(slot); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		add(40, 90+round)
		s.table.Delete(sp, 7)
		s.vec.Free(sp)
		for id := range uint32(40) {
			if round > 0 && id != 7 {
				s.strings.Release(sp, id+1)
			}
		}
		if round == 2 {
			s.strings.Clear(sp)
		}
		if err := s.strings.Shrink(sp); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(set.Load(slot), s.vec.Check(sp), s.ring.Check(sp), s.table.Check(sp), s.strings.Check(sp), heap.Check()); err != nil {
			t.Fatal(err)
		}
		if got := list(); got != want {
			t.Fatalf("loaded %s, want %s", got, want)
		}
	}
}

func TestContainers_AreRefusedInFilesByName(t *testing.T) {
	for typ, path := range map[reflect.Type]string{
		reflect.TypeFor[container.Vec[int]]():      "container.Vec[int]: ",
		reflect.TypeFor[container.Ring[int]]():     "container.Ring[int]: ",
		reflect.TypeFor[container.Map[int, int]](): "container.Map[int,int]: ",
		reflect.TypeFor[container.Strings]():       "container.Strings: ",
		reflect.TypeFor[struct {
			A [2]struct{ B container.Strings }
		}](): "struct { A [2]struct { B container.Strings } }.A[].B: container.Strings: ",
	} {
		if _, err := layout.Of(typ); err == nil || !strings.HasPrefix(err.Error(), path+"the elements of a container") {
			t.Errorf("got %v; want %q and the reason", err, path)
		}
	}
}
