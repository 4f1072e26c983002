package save_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

type squad struct {
	Name  uint32
	Order [2]container.Vec[uint32]
}

// A level is a State that saves an allocator, and is none.
type level struct{ heap *tlsf.Heap }

func (l *level) SaveState(c *save.Coder) { l.heap.SaveState(c) }

type portable struct{ level }

func (p *portable) CanWrite() error { return nil }

// A typed is a State of a program with values of one type.
type typed struct{ one squad }

func (x *typed) SaveState(c *save.Coder) { save.Var(c, &x.one) }
func (x *typed) CanWrite() error         { return nil }
func (x *typed) RowType() reflect.Type   { return reflect.TypeOf(x.one) }

// A container whose blocks are in no part would point to other data after a load.
func TestSet_ContainersNeedAnAllocatorBefore(t *testing.T) {
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	must(t, err)
	squads, err := pool.New[squad](nil, pool.Config{Capacity: 8})
	must(t, err)
	split, err := pool.NewSplit[int, squad](nil, pool.Config{Capacity: 8})
	must(t, err)
	double, err := stack.NewDouble(nil, stack.DoubleConfig{})
	must(t, err)
	registry := pool.NewRegistry(nil)
	_, err = pool.Register[squad](registry, pool.Config{Capacity: 8})
	must(t, err)
	t.Cleanup(func() { must(t, heap.Close(), squads.Close(), split.Close(), double.Close(), registry.Close()) })
	window, ticks := some(arena.NewWindow(nil, some(memory.TypeFor[squad]()), arena.WindowConfig{})), some(arena.NewWindow(nil, some(memory.TypeFor[int]()), arena.WindowConfig{}))
	moving, inbox := some(compact.New(nil, compact.Config{})), some(remote.New(heap, remote.Config{}))
	planned := some(plan.New(nil, some(plan.Fast([]plan.Buffer{{ID: 0, Size: 100, Death: 2}}))))
	t.Cleanup(func() { must(t, window.Close(), ticks.Close(), moving.Close(), planned.Close()) })
	one, list, plain := squad{}, []squad{{}}, 7
	add := map[string]func(*save.Set) error{
		"heap":     func(s *save.Set) error { return s.Add("heap", heap) },
		"metadata": func(s *save.Set) error { return s.Add("metadata", save.Metadata(heap)) },
		"function": func(s *save.Set) error { return s.AddFunc("function", func(*save.Coder) {}) },
		"value":    func(s *save.Set) error { return save.Value(s, "value", &one) },
		"slice":    func(s *save.Set) error { return save.Slice(s, "slice", &list) },
		"pool":     func(s *save.Set) error { return s.Add("pool", squads) },
		"split":    func(s *save.Set) error { return s.Add("split", split) },
		"registry": func(s *save.Set) error { return s.Add("registry", registry) },
		"double":   func(s *save.Set) error { return s.Add("double", double) },
		"state":    func(s *save.Set) error { return s.Add("state", &level{heap}) },
		"portable": func(s *save.Set) error { return s.Add("portable", &portable{level{heap}}) },
		"typed":    func(s *save.Set) error { return s.Add("typed", new(typed)) },
		"window":   func(s *save.Set) error { return s.Add("window", window) },
		"ticks":    func(s *save.Set) error { return s.Add("ticks", ticks) },
		"moving":   func(s *save.Set) error { return s.Add("moving", moving) },
		"inbox":    func(s *save.Set) error { return s.Add("inbox", inbox) },
		"planned":  func(s *save.Set) error { return s.Add("planned", planned) },
		"plain":    func(s *save.Set) error { return save.Value(s, "plain", &plain) },
	}
	for parts, lacking := range map[string]string{
		"plain": "", "heap value slice pool split": "", "function slice": "", "plain heap pool": "", "state value": "",
		"metadata value function": "", "metadata value state": "", "portable value": "", "double pool": "", "registry heap": "registry/",
		"value": "value:", "plain slice heap": "slice:", "pool value": "pool/", "value heap": "value:", "metadata value": "value:",
		"split": "split/", "value function": "value:", "value state": "value:",
		"typed": "typed:", "heap typed": "", "typed function": "typed:", "split value": "split/", "registry value": "registry/",
		"window": "window:", "plain window value": "window:", "heap window": "", "ticks": "", "ticks value": "value:", "moving value": "value:",
		"inbox value": "value:", "planned value": "value:", "metadata inbox value": "value:", "inbox heap window value": "", "ticks moving inbox planned plain": "",
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
