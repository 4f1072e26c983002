package resident_test

import (
	"fmt"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/tiers"
)

// A program reports the owners of its memory at the end of a level. r.WriteText(os.Stdout) writes the whole table, and
// below it the unexplained mappings. On other systems than Linux Read returns an error that wraps
// errors.ErrUnsupported.
func Example() {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	p, _ := m.Alloc(64<<10, 8)
	clear((*[64 << 10]byte)(p)[:])

	var r resident.Report // for the next time, too
	if err := resident.Read(m, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("64 KiB are resident in large:", r.Tiers[tiers.Large].RSS >= 64<<10)
	fmt.Println("and no more than in the process:", r.Tiers[tiers.Large].RSS < r.RSS)
	// Output:
	// 64 KiB are resident in large: true
	// and no more than in the process: true
}
