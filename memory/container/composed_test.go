package container

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// Check asks the outermost allocator about blocks. It names a freed block in each composition, and no live one.
func TestCheck_CompositionsHideNoFreedBlock(t *testing.T) {
	heap := func() memory.Allocator {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		return memtest.Opened(t, h, err)
	}
	classes := func() memory.Allocator {
		h, err := slab.New(nil, slab.Config{Reserve: 4 << 20, MaxSize: 16 << 10})
		return memtest.Opened(t, h, err)
	}
	counted := func(in memory.Allocator) memory.Allocator {
		a, err := compose.NewCounted(in, compose.CountedConfig{})
		must(t, err)
		return a
	}
	locked := func(in memory.Allocator) memory.Allocator {
		a, err := compose.NewLocked(in, nil)
		must(t, err)
		return a
	}
	m, err := tiers.New(tiers.Config{Workers: -1, Tags: true, GC: gcpace.Config{Keep: true}})
	memtest.Opened(t, m, err)
	tag, err := m.Tag("containers")
	must(t, err)
	for name, a := range map[string]memory.Allocator{
		"tlsf": heap(), "slab": classes(), "manager": m, "Tag": tag,
		"Counted tlsf": counted(heap()), "Counted slab": counted(classes()), "Counted Tag": counted(tag),
		"Locked tlsf": locked(heap()), "Locked slab": locked(classes()),
		"Locked Counted tlsf": locked(counted(heap())), "Counted Locked slab": counted(locked(classes())),
	} {
		sp := space(t, a)
		w := fill(t, sp)
		if err := w.check(sp); err != nil {
			t.Errorf("%s: Check accuses live blocks: %v", name, err)
		}
		s := &w.names
		freed := a.(memory.AnyFreer).FreeAny
		named := strings.Contains(name, "tlsf") || strings.Contains(name, "Counted") // in memfast builds, too
		for of, c := range map[string]struct {
			off   uint64
			check func(*Space) error
		}{
			"Vec": {w.path.off, w.path.Check}, "Ring": {w.queue.off, w.queue.Check}, "Map": {w.index.off, w.index.Check},
			"Strings": {s.pages.slot(sp, 1).off, s.Check},
		} {
			freed(sp.at(c.off))
			if c.check(sp) == nil && (invariant.Exact || named) {
				t.Errorf("%s: Check does not name the freed block of the %s", name, of)
			}
		}
	}
	for name, pair := range map[string]func(a, b memory.Allocator) (compose.Allocator, error){
		"Fallback": compose.NewFallback,
		"BySize":   func(a, b memory.Allocator) (compose.Allocator, error) { return compose.NewBySize(100, a, b) },
	} {
		a, err := pair(classes(), heap())
		must(t, err)
		for what, a := range map[string]memory.Allocator{"": a, "Counted ": counted(a), "Locked ": locked(a)} {
			if _, err := In(a); !errors.Is(err, ErrNoBase) {
				t.Errorf("a Space in %s%s: %v", what, name, err)
			}
		}
	}
}

// OnEvent cannot ask the Counter about a block: Check then reports only what it finds without the allocator.
func TestCheck_InOnEventAccusesNoLiveBlock(t *testing.T) {
	h, _ := heap(t)
	var look func() error
	events := 0
	a, err := compose.NewCounted(h, compose.CountedConfig{OnEvent: func(e compose.Event) {
		if look != nil {
			events++
			if err := look(); err != nil {
				t.Errorf("%v: %v", e.Op, err)
			}
		}
	}})
	must(t, err)
	sp := space(t, a)
	w := fill(t, sp)
	look = func() error { return errors.Join(w.queue.Check(sp), w.index.Check(sp), w.names.Check(sp)) }
	var v Vec[int]
	for i := range 100 {
		must(t, v.Append(sp, i))
		_, err := w.names.Intern(sp, fmt.Sprint("another name ", i))
		must(t, err)
	}
	if events == 0 {
		t.Error("no events")
	}
}
