//go:build unix || windows

package page_test

import (
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
)

// holder returns the listed reservation that p lies in.
func holder(p unsafe.Pointer) (page.Span, bool) {
	for _, s := range page.AppendMapped(nil) {
		if uintptr(p)-s.Base < s.Size {
			return s, true
		}
	}
	return page.Span{}, false
}

func TestAppendMapped_ListsAReservationFromReserveToRelease(t *testing.T) {
	src := page.OS()
	m, err := src.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	first, last := m.Base, unsafe.Add(m.Base, m.Size-1)
	a, ok := holder(first)
	b, also := holder(last)
	if !ok || !also || a != b || a.Size < m.Size {
		t.Errorf("%d bytes at %p are listed as %+v, %t, and %+v, %t", m.Size, m.Base, a, ok, b, also)
	}
	c, err := page.NewCarve(src, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reserve(64 << 10); err != nil {
		t.Fatal(err)
	}
	if now, _ := holder(first); now != a {
		t.Errorf("a part of it is listed, too: %+v", now)
	}
	c.Close()
	if err := src.Release(m); err != nil {
		t.Fatal(err)
	}
	if s, ok := holder(first); ok {
		t.Errorf("a released reservation is listed as %+v", s)
	}
}

func TestAppendMapped_IsInOrderAndKeepsWhatIsThere(t *testing.T) {
	src := page.OS()
	for range 20 {
		reserve(t, src, 64<<10)
	}
	reserve(t, page.Heap(), 1<<20) // Go's own: not listed
	before := []page.Span{{Base: 7}}
	got := page.AppendMapped(before)
	if len(got) < 21 || got[0] != before[0] {
		t.Fatalf("%d entries, the first is %+v", len(got), got[0])
	}
	rest := got[1:]
	if !slices.IsSortedFunc(rest, func(a, b page.Span) int { return int(int64(a.Base>>1) - int64(b.Base>>1)) }) {
		t.Errorf("out of order: %+v", rest)
	}
	for i := range rest[1:] {
		if rest[i].Base+rest[i].Size > rest[i+1].Base {
			t.Errorf("%+v overlaps %+v", rest[i], rest[i+1])
		}
	}
}

func TestAppendMapped_WhileOthersReserveAndRelease(t *testing.T) {
	var wg sync.WaitGroup
	src := page.OS()
	for range 4 {
		wg.Go(func() {
			for range 200 {
				m, err := src.Reserve(64 << 10)
				if err != nil {
					t.Error(err)
					return
				}
				if s, ok := holder(m.Base); !ok || s.Size < m.Size {
					t.Errorf("what this goroutine holds is not listed")
				}
				if err := src.Release(m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkReserve(b *testing.B) {
	src := page.OS()
	for b.Loop() {
		m, err := src.Reserve(64 << 10)
		if err != nil {
			b.Fatal(err)
		}
		if err := src.Release(m); err != nil {
			b.Fatal(err)
		}
	}
}
