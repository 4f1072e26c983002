package tiers_test

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

type bullet struct{ X, Y, VX, VY float32 }

type contact struct{ A, B uint32 }

var contactType = memory.MustType[contact]()

// A foreign engine keeps its loop and gives its memory to a manager. The zero Config is for a
// process that is a game: the manager then raises GOGC for all of it, until Close. A server or
// an editor with a game inside sets GC.Keep, and its collector is left alone.
func Example() {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	bullets, err := tiers.NewPool[bullet](m, pool.Config{Name: "bullets", Capacity: 4096})
	if err != nil {
		fmt.Println(err)
		return
	}

	m.BeginLevel()
	for range 3 { // your loop
		m.BeginFrame()
		h, b, _ := bullets.New()
		b.VX = 4
		contacts, _ := arena.MakeSlice(m.Frame(), contactType, 100) // gone by itself, two frames later
		_ = contacts
		if b, ok := bullets.Get(h); ok {
			b.X += b.VX
		}
		m.EndFrame()
	}
	fmt.Println(bullets.Len(), "bullets live")
	leaks, _ := m.EndLevel() // the pool, the level arena and all their handles
	fmt.Println(bullets.Len(), "bullets live;", leaks)
	// Output:
	// 3 bullets live
	// 0 bullets live; level 1 left nothing behind
}

// Uses are the parts of the memory in use by tier, tag and pool. Their sums are exact.
func ExampleInspector_EachUse() {
	m, err := tiers.New(tiers.Config{Tags: true, GC: gcpace.Config{Keep: true}})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	ai, err := m.Tag("ai")
	if err != nil {
		panic(err)
	}
	if _, err := memory.MakeSlice[contact](ai, 1000); err != nil { // 8,000 bytes
		panic(err)
	}
	bullets, err := tiers.NewPool[bullet](m, pool.Config{Name: "bullets", Capacity: 4096})
	if err != nil {
		panic(err)
	}
	for range 3 {
		if _, _, err := bullets.New(); err != nil {
			panic(err)
		}
	}
	m.Inspect().EachUse(func(u tiers.Use) {
		fmt.Printf("%v, tag %q, pool %q: %d live, %d bytes\n", u.Tier, u.Tag, u.Pool, u.Live, u.InUse)
	})
	// Output:
	// pools, tag "", pool "bullets": 3 live, 48 bytes
	// large, tag "ai", pool "": 1 live, 8192 bytes
}

// Samples are estimates by call stack. With a sample for each byte they are exact.
func ExampleInspector_EachSample() {
	m, err := tiers.New(tiers.Config{SampleBytes: 1, GC: gcpace.Config{Keep: true}})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	for range 5 {
		if _, err := memory.MakeSlice[contact](m, 100); err != nil {
			panic(err)
		}
	}
	m.Inspect().EachSample(func(s tiers.Sample) {
		frames := runtime.CallersFrames(s.Stack)
		for {
			f, more := frames.Next()
			if strings.HasSuffix(f.Function, "EachSample") {
				fmt.Printf("%.0f blocks, %.0f bytes requested\n", s.Live, s.Bytes)
			}
			if !more {
				return
			}
		}
	})
	// Output: 5 blocks, 4000 bytes requested
}
