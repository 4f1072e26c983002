package memtest

import (
	"testing"

	"github.com/strata-go/strata/memory/page"
)

// GrowsSeldom verifies that an allocator that grows to 4 MiB by small blocks commits in steps. Until 4 MiB are
// committed, the allocator may call Commit of its source at most 128 times. The function open must make an allocator
// that can grow to 4 MiB, and return a function that allocates a block. If this function returns an error before 4 MiB
// are committed, the test fails.
func GrowsSeldom(t testing.TB, open func(src page.Source) (take func() error)) {
	t.Helper()
	const most, want = 128, 4 << 20
	src := &commits{Source: page.Default()}
	for take := open(src); src.bytes < want; {
		if err := take(); err != nil {
			t.Fatal(err)
		}
	}
	if src.count > most {
		t.Errorf("%d commits for %d bytes, want up to %d", src.count, src.bytes, most)
	}
}

// commits counts what is committed.
type commits struct {
	page.Source
	count int
	bytes uintptr
}

func (c *commits) Commit(m page.Memory, off, size uintptr) error {
	c.count, c.bytes = c.count+1, c.bytes+size
	return c.Source.Commit(m, off, size)
}
