package memtest

import (
	"testing"

	"github.com/strata-go/strata/memory/page"
)

func TestGrowsSeldom_CountsTheCommits(t *testing.T) {
	for name, c := range map[string]struct {
		step, reserve uintptr
		want          string
	}{
		"steps of its own":  {0, 8 << 20, ""},
		"a page at a time":  {1, 8 << 20, "commits for 4194304 bytes, want up to 128"},
		"too little memory": {0, 1 << 20, "out of memory"},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) {
			GrowsSeldom(tb, func(src page.Source) func() error {
				p, err := page.NewPrefix(src, c.reserve, c.reserve, c.step)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.Close() })
				n := uintptr(0)
				return func() error { n += 4000; return p.Ensure(n) }
			})
		})
	}
}
