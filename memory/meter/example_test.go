package meter_test

import (
	"fmt"
	"time"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

// A server has no window: it takes the figures once a tick and asks for the answer when it likes.
func Example() {
	m, err := tiers.New(tiers.Config{Tags: true})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	paths, err := m.Tag("paths")
	if err != nil {
		panic(err)
	}
	now := time.Now() // a clock that the example winds; leave Now out for the real one
	watch, err := meter.New(m, meter.Config{Now: func() time.Time { return now }})
	if err != nil {
		panic(err)
	}
	for range 60 * 60 {
		_ = m.BeginFrame()
		_, _ = paths.Alloc(1024, 8) // a leak
		now = now.Add(time.Second / 60)
		watch.Frame()
		_ = m.EndFrame()
	}
	v := watch.Verdict()
	fmt.Printf("%s grows, by tag %s, by %.0f KiB a second\n", v.Growing.Name, v.Tag.Name, v.Tag.Growth/1024)
	// Output: slab grows, by tag paths, by 60 KiB a second
}
