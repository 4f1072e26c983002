package page

import (
	"strings"
	"testing"
)

func TestCheck_NamesEachBookThatIsCorrupt(t *testing.T) {
	whole, err := Default().Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer Default().Release(whole)
	c, err := NewCarve(Default(), whole)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := NewPrefix(c, 128<<10, 0, 128<<10)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(1); err != nil || p.Check() != nil || c.Check() != nil {
		t.Fatal(err, p.Check(), c.Check())
	}
	goodPrefix, goodCarve := p, *c
	for name, tt := range map[string]struct {
		corrupt func()
		want    string
	}{
		"committed beyond": {func() { p.committed = p.size + Granule }, "page: committed 147456 is not whole granules within the reservation of 131072 bytes"},
		"committed ragged": {func() { p.committed++ }, "page: committed 131073 is not whole granules"},
		"ragged and less":  {func() { p.committed = 1 }, "page: committed 1 is not whole granules"},
		"size beyond":      {func() { p.size = p.mem.Size + Granule }, "page: 147456 bytes are used of the 131072 reserved bytes at"},
		"size ragged":      {func() { p.size, p.committed = Granule+1, 0 }, "page: 16385 bytes are used"},
		"memory ragged":    {func() { p.mem.Size++ }, "page: 131072 bytes are used of the 131073 reserved bytes"},
		"no base":          {func() { p.mem.Base = nil }, "reserved bytes at 0x0"},
		"odd pages":        {func() { p.page = Granule + 1 }, "page: pages of 16385 bytes: want 16384 to 65536"},
		"tiny pages":       {func() { p.page = 1 }, "page: pages of 1 bytes"},
		"huge pages":       {func() { p.page = 2 * BaseAlign }, "page: pages of 131072 bytes"},
		"long step":        {func() { p.step = p.size + Granule }, "page: step 147456 is not a multiple of 16384, up to the 131072 reserved bytes"},
		"ragged step":      {func() { p.step++ }, "page: step 131073 is not a multiple of 16384"},
		"open too short":   {func() { p.open = 0 }, "page: 0 bytes are accessible: want the 131072 committed ones, to 131072"},
		"open beyond":      {func() { p.open = p.mem.Size + 1 }, "page: 131073 bytes are accessible: want the 131072 committed ones, to 131072"},
		"next ragged":      {func() { c.next += Granule }, "page: the next reservation at 212992 is not a multiple of 65536 within 1048576 bytes"},
		"next beyond":      {func() { c.next = c.mem.Size + BaseAlign }, "page: the next reservation at 1114112 is not"},
		"watched, closed":  {func() { c.mem, c.next = Memory{}, 0; c.watchers.Add(nil) }, "page: 1 watchers of a closed Carve"},
	} {
		tt.corrupt()
		said := ""
		for _, err := range []error{p.Check(), c.Check()} {
			if err != nil {
				said += err.Error()
			}
		}
		if !strings.Contains(said, tt.want) || strings.Contains(said, "\n") {
			t.Errorf("%s: Check says %q, want %q and no more", name, said, tt.want)
		}
		p, *c = goodPrefix, goodCarve
	}
	if c.next = c.mem.Size; c.Check() != nil {
		t.Errorf("all of it cut: %v", c.Check())
	}
	*c = goodCarve
	if err := p.Close(); err != nil || p.Check() != nil {
		t.Errorf("%v, %v", err, p.Check())
	}
	if err := (&Prefix{}).Check(); err != nil {
		t.Errorf("the zero Prefix: %v", err)
	}
}

func TestDefault_IsTheHeapWhereTheBuildCallsForIt(t *testing.T) {
	if _, is := Default().(heapSource); is != heapOnly {
		t.Errorf("the backing of this build is %T", Default())
	}
}

func TestHeapTakes_ArenasAndBooksToo(t *testing.T) {
	arena := uintptr(4 << 20)
	if ^uintptr(0)>>32 != 0 {
		arena = 64 << 20
	}
	if got := heapTakes(64 << 20); got != 66<<20+arena {
		t.Errorf("64 MiB take %d bytes; want %d", got, 66<<20+arena)
	}
}

func TestCarve_OneThatIsClosedOrWatchedIsInOrder(t *testing.T) {
	whole, err := Default().Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer Default().Release(whole)
	first, err := NewCarve(Default(), whole)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	second, err := NewCarve(Default(), whole)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, w := range carves.open {
		if w.Value() == first {
			t.Error("one that is closed is still among the open")
		}
	}
	unwatch := second.Watch(func() { t.Error("told after it has taken it back") })
	if err := second.Check(); err != nil {
		t.Errorf("an open one that is watched: %v", err)
	}
	unwatch()
}

func TestPrefix_NobodyIsToldByASourceWithoutEnd(t *testing.T) {
	for _, src := range []Source{Default(), NewLimit(nil, 0)} {
		p, err := NewPrefix(src, 64<<10, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Watch(func() { t.Error("told") })
		if err := p.Ensure(1); err != nil || p.Close() != nil {
			t.Errorf("%v", err)
		}
	}
}
