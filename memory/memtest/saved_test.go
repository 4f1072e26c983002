package memtest

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// A forgetful is a heap whose states lack something.
type forgetful struct {
	*tlsf.Heap
	state func(h *tlsf.Heap, c *save.Coder)
}

func (f *forgetful) SaveState(c *save.Coder) { f.state(f.Heap, c) }

func TestSaved_FindsWhatAStateForgets(t *testing.T) {
	for name, c := range map[string]struct {
		state func(h *tlsf.Heap, c *save.Coder)
		want  string
	}{
		"everything": {func(*tlsf.Heap, *save.Coder) {}, "Load: the statistics are"},
		"contents": {func(h *tlsf.Heap, c *save.Coder) {
			save.Metadata(h).SaveState(c)
		}, "byte 0"},
		"loading": {func(h *tlsf.Heap, c *save.Coder) {
			if !c.Loading() {
				h.SaveState(c)
				return
			}
		}, "Load: save: subject"},
		"size": {func(h *tlsf.Heap, c *save.Coder) {
			if h.SaveState(c); c.Saving() {
				save.Vec(c, make([]byte, h.Stats().Live%2*8))
			}
		}, "Load: save: subject"},
	} {
		t.Run(name, func(t *testing.T) {
			if invariant.Debug && name == "contents" {
				t.Skip("debug builds save the contents, too")
			}
			found := record(func(tb testing.TB) {
				savedStates(tb, Subject{New: func(src page.Source) (memory.Allocator, error) {
					h, err := tlsf.New(src, tlsf.Config{Reserve: 1 << 20})
					return &forgetful{h, c.state}, err
				}}.withDefaults())
			}).said
			if !strings.Contains(found, c.want) {
				t.Errorf("Saved finds %q, want %q", found, c.want)
			}
		})
	}
}
