package compose

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/tlsf"
)

// In debug builds every call writes a word. The race detector reports two goroutines that use one composition
// by it.
func TestEveryComposition_EachCallWritesTheOwnerWord(t *testing.T) {
	if unsafe.Sizeof(invariant.Owner{}) == 0 {
		t.Log("this build has no owner word")
		return
	}
	heap := func() memory.Allocator {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	made := func(a Allocator, err error) whole {
		if err != nil {
			t.Fatal(err)
		}
		return a.(core).whole()
	}
	f := made(NewFallback(heap(), heap())).(*fallback)
	b := made(NewBySize(64, heap(), heap())).(*bySize)
	c, err := newCounted(heap(), CountedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		a     whole
		owner *invariant.Owner
	}{"Fallback": {f, &f.owner}, "BySize": {b, &b.owner}, "Counted": {c, &c.owner}} {
		var p unsafe.Pointer
		for _, call := range []struct {
			what string
			f    func()
		}{
			{"Alloc", func() { p, _ = x.a.Alloc(10, 1) }},
			{"Resize", func() { x.a.Resize(p, 10, 10) }},
			{"SizeOf", func() { x.a.SizeOf(p) }},
			{"Free", func() { x.a.Free(p, 10) }},
			{"Alloc", func() { p, _ = x.a.Alloc(10, 1) }},
			{"FreeAny", func() { x.a.FreeAny(p) }},
			{"Trim", func() { _ = x.a.Trim() }},
			{"Reset", func() { x.a.Reset() }},
		} {
			word := (*uint64)(unsafe.Pointer(x.owner))
			before := *word
			if call.f(); *word == before {
				t.Errorf("%s.%s does not write the owner word", name, call.what)
			}
		}
		if err := x.a.Close(); err != nil {
			t.Error(err)
		}
	}
}
