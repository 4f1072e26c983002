package compact

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// The race detector names two goroutines that use one heap by the word that every call writes,
// in debug builds.
func TestHeap_EachCallWritesTheOwnerWord(t *testing.T) {
	if unsafe.Sizeof(invariant.Owner{}) == 0 {
		t.Log("this build has no owner word")
		return
	}
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	var x Handle
	for _, c := range []struct {
		what string
		call func()
	}{
		{"Alloc", func() { x = mustAlloc(t, h, 100) }},
		{"Lock", func() { h.Lock(x) }},
		{"Resize", func() { h.Resize(x, 100) }},
		{"Unlock", func() { h.Unlock(x) }},
		{"Bytes", func() { h.Bytes(x) }},
		{"Compact", func() { h.Compact(Budget{}) }},
		{"Free", func() { h.Free(x) }},
		{"Trim", func() { _ = h.Trim() }},
		{"Reset", h.Reset},
	} {
		word := (*uint64)(unsafe.Pointer(&h.owner))
		before := *word
		if c.call(); *word == before {
			t.Errorf("%s does not write the owner word", c.what)
		}
	}
}

func TestDefaults_AreWhatTheConfigSays(t *testing.T) {
	h := newHeap(t, nil, Config{})
	mustAlloc(t, h, 1)
	if st := h.Stats(); st.Reserved != 64<<20 || st.Committed != 256<<10 || st.InUse != 16 || cap(h.records) < 1024 || cap(h.records) > 2048 {
		t.Errorf("%+v, with room for %d records", st, cap(h.records))
	}
}
