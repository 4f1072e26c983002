//go:build unix

package page_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// On a kernel with large pages a Prefix commits, counts and gives back whole ones, through
// whatever lies between it and the system.
func TestPrefix_CommitsAndTrimsWholePages(t *testing.T) {
	for _, size := range []uintptr{16 << 10, 32 << 10, 64 << 10} {
		src := page.OSOn(page.Options{}, size, func([]byte) bool { return true }, func([]byte) bool { return true })
		whole := reserve(t, src, 4<<20)
		carve, err := page.NewCarve(src, whole)
		if err != nil {
			t.Fatal(err)
		}
		defer carve.Close()
		limit := page.NewLimit(carve, 0)
		for _, s := range []page.Source{src, carve, limit} {
			if got := page.SizeOf(s); got != size {
				t.Errorf("%T has pages of %d bytes, want %d", s, got, size)
			}
			for _, step := range []uintptr{0, page.Granule, 80 << 10} {
				p, err := page.NewPrefix(s, 300<<10, 0, step)
				if err != nil {
					t.Fatal(err)
				}
				for n := uintptr(1); n <= 300<<10; n += 5000 {
					if err := errors.Join(p.Ensure(n), p.Check()); err != nil {
						t.Fatal(err)
					}
					if c := p.Committed(); c < n || c%size != 0 && c != p.Reserved() {
						t.Fatalf("pages of %d, step %d: %d bytes are committed for %d", size, step, c, n)
					}
					bytesOf(page.Memory{Base: p.Base(), Size: p.Committed()}, p.Committed()-1, 1)[0] = 1 // it is there
				}
				for n := p.Reserved(); n > 10_000; n -= 10_000 {
					if err := errors.Join(p.Trim(n), p.Check()); err != nil {
						t.Fatal(err)
					}
					if c := p.Committed(); c < n || c >= n+size || c%size != 0 && c != p.Reserved() {
						t.Fatalf("pages of %d: %d bytes are left of %d", size, c, n)
					}
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if limit.Committed() != 0 {
			t.Errorf("%d bytes are left of the budget", limit.Committed())
		}
	}
}

// A budget that ends within a page gives what it has.
func TestPrefix_ABudgetThatEndsWithinAPageIsSpent(t *testing.T) {
	src := page.OSOn(page.Options{}, 64<<10, func([]byte) bool { return true }, func([]byte) bool { return true })
	limit := page.NewLimit(src, 5*page.Granule)
	p, err := page.NewPrefix(limit, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for n, want := range []uintptr{0, 4, 4, 4, 4, 5} {
		if err := p.Ensure(uintptr(n) * page.Granule); err != nil || p.Committed() != want*page.Granule {
			t.Errorf("%d granules: %v, %d committed", n, err, p.Committed())
		}
	}
	if err := p.Ensure(5*page.Granule + 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the budget: %v", err)
	}
}

// layer is a foreign source without Paged.
type layer struct {
	page.Source
}

func (l layer) Under() page.Source { return l.Source }

// The source below decides how memory is committed, and reports the effects of the options.
func TestPages_AreThoseOfTheSourceBelow(t *testing.T) {
	src := page.OSOn(page.Options{HugePages: true}, 64<<10, func([]byte) bool { return true }, func([]byte) bool { return true })
	carve, err := page.NewCarve(src, reserve(t, src, 8<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer carve.Close()
	for _, s := range []page.Source{src, layer{src}, carve, layer{page.NewLimit(layer{carve}, 0)}} {
		before := page.GrantedBy(s).Huge
		p, err := page.NewPrefix(s, 3<<20, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Ensure(1); err != nil {
			t.Fatal(err)
		}
		end := uintptr(p.Base()) + p.Committed()
		if page.SizeOf(s) != 64<<10 || end%(2<<20) != 0 || page.GrantedBy(s).Huge != before+uint64(p.Committed()) {
			t.Errorf("%T: pages of %d, committed to %#x, %+v", s, page.SizeOf(s), end, page.GrantedBy(s))
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// onCarve and onLimit are foreign sources with the methods of a Carve and of a Limit.
type (
	onCarve struct{ *page.Carve }
	onLimit struct{ *page.Limit }
)

// A type that embeds a Carve had pages of a Granule.
func TestPages_EmbeddedSourcesHaveThoseOfTheSystem(t *testing.T) {
	src := page.OSOn(page.Options{HugePages: true}, 64<<10, func([]byte) bool { return true }, func([]byte) bool { return true })
	carve, err := page.NewCarve(src, reserve(t, src, 16<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []page.Source{onCarve{carve}, onLimit{page.NewLimit(carve, 0)}, layer{onCarve{carve}}} {
		p, err := page.NewPrefix(s, 3<<20, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Ensure(1); err != nil {
			t.Fatal(err)
		}
		if end := uintptr(p.Base()) + p.Committed(); page.SizeOf(s) != 64<<10 || end%(2<<20) != 0 {
			t.Errorf("%T: pages of %d, committed to %#x", s, page.SizeOf(s), end)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if carve.Close(); page.SizeOf(onCarve{carve}) != page.Granule {
		t.Error("pages of a closed Carve")
	}
}
