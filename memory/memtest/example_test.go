package memtest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tlsf"
)

// A foreign allocator gets the whole suite by describing itself.
func ExampleRun() {
	subject := memtest.Subject{
		New: func(src page.Source) (memory.Allocator, error) {
			return tlsf.New(src, tlsf.Config{Reserve: 768 << 10, Step: 32 << 10})
		},
		MaxSize: 20_000, Package: "tlsf", ExactSizes: true, Shrinks: true, Closed: memory.ErrClosed, ClosesAnyway: true,
	}
	// In a file of tests these are functions: TestConformance, TestFaults and FuzzPrograms.
	_ = func(t *testing.T) { memtest.Run(t, subject) }
	_ = func(t *testing.T) { memtest.Faults(t, subject) }
	_ = func(f *testing.F) { memtest.Fuzz(f, subject) }

	a, err := subject.New(nil)
	if err != nil {
		panic(err)
	}
	p, err := a.Alloc(100, 8)
	if err != nil {
		panic(err)
	}
	a.Free(p, 100)
	fmt.Println("live:", a.(memtest.Reporter).Stats().Live)
	// Output: live: 0
}

// A Faulty fails at a call of the system, here at the second and all later ones: every Commit of a pool.
func ExampleFaulty() {
	src := memtest.NewFaulty()
	src.FailAt, src.ForGood = 2, true
	p, err := pool.New[int](src, pool.Config{Capacity: 100})
	if err != nil {
		panic(err)
	}
	_, _, err = p.New()
	fmt.Println(errors.Is(err, memory.ErrOutOfMemory), p.Len(), "live")
	src.FailAt = 0
	_, _, err = p.New() // the pool is intact
	fmt.Println(err, p.Len(), "live")
	if err := p.Close(); err != nil {
		panic(err)
	}
	fmt.Println(src.Reserved(), "reservations are left")
	// Output:
	// true 0 live
	// <nil> 1 live
	// 0 reservations are left
}
