package page_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// calls is a source that lists its calls, in granules, and refuses some of them.
type calls struct {
	page.Source
	list   []string
	refuse map[string]bool
	during func()
}

func (c *calls) Commit(m page.Memory, off, size uintptr) error {
	if err := c.note("+", off, size); err != nil {
		return err
	}
	err := c.Source.Commit(m, off, size)
	if c.during != nil {
		c.during()
	}
	return err
}

func (c *calls) Decommit(m page.Memory, off, size uintptr) error {
	if err := c.note("-", off, size); err != nil {
		return err
	}
	return c.Source.Decommit(m, off, size)
}

func (c *calls) note(sign string, off, size uintptr) error {
	call := fmt.Sprint(sign, off/page.Granule, ":", (off+size)/page.Granule)
	c.list = append(c.list, call)
	if c.refuse[call] {
		return errors.New("it is refused")
	}
	return nil
}

func mustAll(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// What a load commits is hidden until it loads, and decommitted if it is refused.
func TestPrefix_FitIsHidden(t *testing.T) {
	const g = page.Granule
	for name, x := range map[string]struct {
		now    func(p *page.Prefix) error // after the saved state, which has 8 granules and the hole 1:2
		during func(p *page.Prefix) error // when the load has committed
		refuse []string
		want   []string // calls of a load that a later part refuses
		load   []string // of one that succeeds
	}{
		"nothing": {},
		"grows": {now: func(p *page.Prefix) error { return p.Trim(3 * g) },
			want: []string{"+3:8", "-3:8"}, load: []string{"+3:8"}},
		"fills": {now: func(p *page.Prefix) error { return errors.Join(p.Drop(3*g, 2*g), p.Drop(6*g, g), p.Fill(g, g)) },
			want: []string{"+3:5", "+6:7", "-3:5", "-6:7"}, load: []string{"+3:5", "+6:7", "-1:2"}},
		"fills half": {now: func(p *page.Prefix) error { return errors.Join(p.Drop(2*g, 2*g), p.Drop(6*g, g)) }, refuse: []string{"+6:7"},
			want: []string{"+2:4", "+6:7", "-2:4"}},
		"keeps": {now: func(p *page.Prefix) error { return errors.Join(p.Drop(3*g, g), p.Trim(5*g)) }, refuse: []string{"-5:8", "-3:4"},
			want: []string{"+5:8", "+3:4", "-5:8", "-3:4", "-5:8", "-3:4"}, load: []string{}},
		"takes": {now: func(p *page.Prefix) error { return errors.Join(p.Drop(3*g, 2*g), p.Trim(5*g)) },
			during: func(p *page.Prefix) error { return errors.Join(p.Ensure(6*g), p.Fill(3*g, g)) },
			want:   []string{"+5:8", "+3:5", "-6:8", "-4:5"}},
		"trims": {now: func(p *page.Prefix) error { return errors.Join(p.Drop(4*g, g), p.Trim(6*g)) },
			during: func(p *page.Prefix) error { return p.Trim(2 * g) },
			want:   []string{"+6:8", "+4:5", "-6:8", "-2:6", "+2:8", "-2:8"}},
	} {
		src := &calls{Source: page.Default()}
		p, err := page.NewPrefix(src, 16*g, 0, g)
		set, refuse := new(save.Set), false
		mustAll(t, err, p.Ensure(8*g), p.Drop(g, g), set.AddFunc("prefix", func(c *save.Coder) {
			if p.SaveState(c); !c.Failed() {
				p.SaveHoles(c, func(from, to uintptr) { t.Errorf("%s: undrop of %d:%d", name, from/g, to/g) })
			}
		}), set.AddFunc("last", func(c *save.Coder) {
			if c.Fitting() && x.during != nil {
				mustAll(t, x.during(&p))
				x.during = nil
				return
			}
			if c.Fitting() && refuse {
				c.Differs("it is refused")
			}
		}), set.Seal())
		slot := set.NewSlot(1 << 10)
		if mustAll(t, set.Save(slot)); x.now != nil {
			mustAll(t, x.now(&p))
		}
		was, dropped := p.Committed(), p.Dropped()
		src.list, src.refuse, refuse = nil, map[string]bool{}, true
		for _, call := range x.refuse {
			src.refuse[call] = true
		}
		changes := x.during != nil
		err = set.Load(slot)
		if err == nil || !slices.Equal(src.list, x.want) || p.Check() != nil || !changes && (p.Committed() != was || p.Dropped() != dropped) {
			t.Errorf("%s: %v: calls %v, want %v, %v; %d bytes, were %d", name, err, src.list, x.want, p.Check(), p.Committed(), was)
		}
		src.list, src.refuse, refuse = nil, nil, false
		mustAll(t, set.Load(slot), p.Check())
		if x.load != nil && !slices.Equal(src.list, x.load) || p.Committed() != 8*g || p.Dropped() != g {
			t.Errorf("%s: a load makes the calls %v, want %v; %d bytes, %d dropped", name, src.list, x.load, p.Committed(), p.Dropped())
		}
		clear(unsafe.Slice((*byte)(p.Base()), g))
		clear(unsafe.Slice((*byte)(unsafe.Add(p.Base(), 2*g)), 6*g))
		mustAll(t, p.Close())
	}
}

// Fit fails as Ensure does. A panic of the source leaves what was committed before, until the load ends.
func TestPrefix_FitThatFails(t *testing.T) {
	const g = page.Granule
	src := &calls{Source: page.Default()}
	p, err := page.NewPrefix(src, 4*g, 0, g)
	set, n := new(save.Set), uintptr(0)
	mustAll(t, err, set.AddFunc("prefix", func(c *save.Coder) {
		if c.Fitting() {
			p.Fit(c, n)
		}
	}), set.Seal())
	slot := set.NewSlot(100)
	mustAll(t, set.Save(slot))
	if n = 5 * g; !errors.Is(set.Load(slot), memory.ErrOutOfMemory) {
		t.Error("a Fit beyond the reservation")
	}
	n = 2 * g
	src.during = func() { panic("it is a test") }
	func() {
		defer func() { _ = recover() }()
		_ = set.Load(slot)
		t.Error("no panic")
	}()
	other, busy := new(save.Set), error(nil)
	mustAll(t, other.AddFunc("prefix", func(c *save.Coder) {
		if c.Fitting() {
			p.Fit(c, n)
		}
	}), other.Seal())
	same := other.NewSlot(100)
	mustAll(t, other.Save(same))
	src.during = func() { busy = other.Load(same) }
	if mustAll(t, set.Load(slot)); !errors.Is(busy, save.ErrBusy) {
		t.Errorf("a Fit during a commit: %v", busy)
	}
	src.during = nil
	if mustAll(t, set.Load(slot)); p.Busy() || p.Fitted() != 0 || !slices.Equal(src.list, []string{"+0:2", "+0:2", "-0:2", "+0:2", "-0:2"}) {
		t.Errorf("calls %v, busy %t", src.list, p.Busy())
	}
	src.list = nil
	src.during = func() {
		if err := set.Load(slot); !errors.Is(err, save.ErrBusy) {
			t.Errorf("a Fit within Ensure: %v", err)
		}
	}
	if mustAll(t, p.Ensure(g)); !slices.Equal(src.list, []string{"+0:1"}) {
		t.Errorf("a Fit within Ensure makes the calls %v", src.list)
	}
	mustAll(t, p.Close())
	if n = g; !errors.Is(set.Load(slot), memory.ErrClosed) {
		t.Error("a Fit of a closed Prefix")
	}
}
