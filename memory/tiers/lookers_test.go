package tiers_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tiers"
)

// An instrument on another goroutine may look at what is safe for concurrent use while the manager
// closes, and while its source ends: what -race says of that is the test.
func TestManager_OthersMayLookWhileItEnds(t *testing.T) {
	for name, ends := range map[string]bool{"Close": false, "its source ends": true} {
		src := memtest.NewMortal(t, nil, 64<<20)
		m, err := tiers.New(tiers.Config{Source: src.Carve, GC: gcpace.Config{Keep: true}, Tags: true, Workers: 1,
			Reserve: [tiers.Count]uintptr{tiers.Static: 1 << 20, tiers.Frame: 1 << 20, tiers.Level: 1 << 20, tiers.Pools: 1 << 20, tiers.Slab: 1 << 20, tiers.Large: 1 << 20, tiers.Inbox: 1 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		tag, err := m.Tag("tag")
		if err != nil {
			t.Fatal(err)
		}
		w := m.Worker(0)
		v := w.Tag(tag)
		if _, err := v.Alloc(10_000, 16); err != nil {
			t.Fatal(err)
		}
		begun, over := make(chan bool), make(chan bool)
		var others sync.WaitGroup
		others.Go(func() {
			for n := 0; ; n++ {
				if n == 0 {
					close(begun)
				}
				if a, b := w.Stats().Live, v.Stats().Live; a > 1 || b > 1 {
					t.Errorf("%s: %d and %d blocks", name, a, b)
					return
				}
				m.Inspect().Pages()
				m.Inspect().RemoteFrees()
				w.RemoteFrees()
				f, g := m.NewFreer(), w.NewFreer()
				_, _ = f.Close(), g.Close()
				select {
				case <-over:
					return
				default:
					runtime.Gosched() // a system of one thread has no other way out of here
				}
			}
		})
		<-begun
		if ends {
			src.End(t)
		} else if err := m.Close(); err != nil {
			t.Error(err)
		}
		close(over)
		others.Wait()
		if s := w.Stats().Add(v.Stats()); s.Live != 0 || s.Committed != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if _, err := v.Alloc(1, 1); err != memory.ErrClosed {
			t.Error(err)
		}
		if !ends {
			src.End(t)
		}
	}
}
