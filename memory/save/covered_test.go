package save_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type squad struct {
	Name  uint32
	Order [2]container.Vec[uint32]
}

// A container whose blocks are in no part would point to other data after a load.
func TestSet_ContainersNeedAnAllocatorBefore(t *testing.T) {
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	must(t, err)
	squads, err := pool.New[squad](nil, pool.Config{Capacity: 8})
	must(t, err)
	t.Cleanup(func() { must(t, heap.Close(), squads.Close()) })
	one, list, plain := squad{}, []squad{{}}, 7
	add := map[string]func(*save.Set) error{
		"heap":     func(s *save.Set) error { return s.Add("heap", heap) },
		"metadata": func(s *save.Set) error { return s.Add("metadata", save.Metadata(heap)) },
		"function": func(s *save.Set) error { return s.AddFunc("function", func(*save.Coder) {}) },
		"value":    func(s *save.Set) error { return save.Value(s, "value", &one) },
		"slice":    func(s *save.Set) error { return save.Slice(s, "slice", &list) },
		"pool":     func(s *save.Set) error { return s.Add("pool", squads) },
		"plain":    func(s *save.Set) error { return save.Value(s, "plain", &plain) },
	}
	for parts, lacking := range map[string]string{
		"plain": "", "heap value slice pool": "", "metadata value": "", "function slice": "", "plain heap pool": "",
		"value": `"value"`, "plain slice heap": `"slice"`, "pool value": `"pool"`, "value heap": `"value"`,
	} {
		var set save.Set
		for name := range strings.FieldsSeq(parts) {
			must(t, add[name](&set))
		}
		must(t, set.Seal()) // a Set for hashes and files may have no allocator
		same := filled(t, &set, set.NewCanonical(1<<20))
		_, sized := set.Size()
		for what, err := range map[string]error{"Size": sized, "Save": set.Save(set.NewSlot(1 << 20)), "Load": set.Load(same)} {
			switch {
			case lacking == "" && err != nil:
				t.Errorf("%s: %s: %v", parts, what, err)
			case lacking != "" && (!errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), lacking) || !strings.Contains(err.Error(), "squad")):
				t.Errorf("%s: %s: %v; want the name %s", parts, what, err, lacking)
			}
		}
		if lacking == "" {
			continue
		}
		history, err := save.NewHistory(&set, make([]byte, 1<<16), 4)
		if must(t, err); !errors.Is(history.Save(1), memory.ErrConfig) {
			t.Errorf("%s: a History saves it", parts)
		}
	}
	var file save.Set
	must(t, save.Value(&file, "plain", &plain), file.Seal(), file.Write(new(bytes.Buffer)))
}
