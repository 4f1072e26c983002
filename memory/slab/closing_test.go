package slab

import (
	"runtime"
	"sync"
	"testing"

	"github.com/strata-go/strata/memory"
)

// Close of the Central itself needs nobody to have stopped: the others are refused from then on. With
// -race this tells whether the books are read without the lock.
func TestCentral_ClosesWhileOthersAllocate(t *testing.T) {
	h, err := New(nil, Config{Reserve: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c := mustCentral(h)
	var begun, ended sync.WaitGroup
	for w := range 3 {
		begun.Add(1)
		ended.Go(func() {
			for i := 0; ; i++ {
				_, err := c.Alloc(uintptr(16+(i*64+w)%1000), 16)
				if i == 100 {
					begun.Done()
				}
				if err == memory.ErrClosed {
					return
				}
				if i%8 == 0 {
					c.Stats()
					_ = c.Trim()
					runtime.Gosched() // a system of one thread runs no other goroutine otherwise
				}
			}
		})
	}
	begun.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	ended.Wait()
	if st := c.Stats(); st.Live != 0 || st.Committed != 0 || c.Check() != nil {
		t.Errorf("%+v, %v", st, c.Check())
	}
}
