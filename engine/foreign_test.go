package engine_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// A Set with another allocator than that of a container is not refused: a container is an offset, which may be that of a
// live block in both. Synctest finds it, by the hash or by the Check of the container.
func TestSynctest_ContainerInAnotherAllocator(t *testing.T) {
	for _, shrinks := range []bool{false, true} {
		for _, wrong := range []bool{false, true} {
			home, other := newHeap(t), newHeap(t)
			sp, err := container.In(home)
			must(t, err)
			_, err = other.Alloc(64, 8) // where the first block of list is in home
			must(t, err)
			var list container.Vec[uint64]
			ticks, set := uint64(0), new(save.Set)
			saved := home
			if wrong {
				saved = other
			}
			must(t, errors.Join(set.Add("heap", saved), save.Value(set, "list", &list), save.Value(set, "ticks", &ticks), set.Seal()))
			_, err = engine.Synctest(engine.Sync{
				Set: set, Ticks: 40, Distance: 4,
				Step: func() error {
					ticks++
					if list.Len() > 0 {
						list.Set(sp, 0, ticks)
					}
					if shrinks && ticks%7 == 0 {
						return list.SetLen(sp, 1)
					}
					return list.Append(sp, ticks)
				},
				Hash: func() uint64 {
					var h engine.Hasher
					for _, n := range list.Slice(sp) {
						h.Uint64(n)
					}
					return h.Sum()
				},
				Check: func() error { return list.Check(sp) },
			})
			if d := (*engine.Desync)(nil); errors.As(err, &d) != wrong || !wrong && err != nil {
				t.Errorf("another allocator %t: %v", wrong, err)
			}
		}
	}
}

func newHeap(t *testing.T) *tlsf.Heap {
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	must(t, err)
	t.Cleanup(func() { must(t, heap.Close()) })
	return heap
}
