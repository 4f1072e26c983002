package pool_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

type wolf struct {
	N      int
	Leader memory.Handle[wolf]
}

// A pack is a pool in a Set, with a handle beside it.
type pack struct {
	set  save.Set
	pool *pool.Pool[wolf]
	head memory.Handle[wolf]
}

func newPack(t *testing.T, capacity, wolves int) *pack {
	t.Helper()
	p, err := pool.New[wolf](nil, pool.Config{Capacity: capacity, Name: "wolves"})
	x := &pack{pool: p}
	if err = errors.Join(err, x.set.Add("wolves", p), save.Value(&x.set, "head", &x.head), x.set.Seal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	all := make([]memory.Handle[wolf], wolves)
	for i := range all {
		h, w, err := p.New()
		if err != nil {
			t.Fatal(err)
		}
		*w = wolf{i, x.head}
		if all[i] = h; i%7 == 1 {
			x.head = h
		}
	}
	for i := 0; i < wolves; i += 3 {
		if all[i] != x.head {
			p.Free(all[i])
		}
	}
	return x
}

func (x *pack) file(t *testing.T) io.Reader {
	t.Helper()
	var b bytes.Buffer
	if err := x.set.Write(&b); err != nil {
		t.Fatal(err)
	}
	return &b
}

// String lists the live objects, with their slots and leaders, and the next slots.
func (x *pack) String() string {
	var b strings.Builder
	for h, w := range x.pool.All() {
		leader, ok := x.pool.Get(w.Leader)
		if fmt.Fprintf(&b, "%d:%d", h.Index(), w.N); ok {
			fmt.Fprintf(&b, "<%d", leader.N)
		}
	}
	head, ok := x.pool.Get(x.head)
	fmt.Fprint(&b, x.pool.Len(), x.pool.Stats().Failures, ok)
	if ok {
		fmt.Fprint(&b, head.N)
	}
	var next []memory.Handle[wolf]
	for range 5 {
		if h, _, err := x.pool.New(); err == nil {
			fmt.Fprint(&b, " ", h.Index())
			next = append(next, h)
		}
	}
	for i := range next {
		x.pool.Free(next[len(next)-1-i])
	}
	return b.String()
}

func TestPool_FileRestoresAnotherPool(t *testing.T) {
	for _, c := range [][4]int{{1000, 200, 1000, 500}, {1000, 200, 256, 10}, {1000, 64, 300, 300}, {10, 0, 100, 90}, {10, 10, 10, 0}, {300, 299, 1000, 1}} {
		a, b := newPack(t, c[0], c[1]), newPack(t, c[2], c[3])
		peak := b.pool.Stats().Peak
		file := a.file(t)
		if err := errors.Join(b.set.Read(file, nil), b.pool.Check()); err != nil {
			t.Fatalf("%d: %v", c, err)
		}
		if got := b.pool.Stats().Peak; got < max(peak, b.pool.Stats().InUse) {
			t.Errorf("%d: the peak is %d bytes, was %d", c, got, peak)
		}
		if a, b := a.pool.Stats().Allocs, b.pool.Stats().Allocs; a != b {
			t.Errorf("%d: %d allocations, want %d", c, b, a)
		}
		if one, two := a.String(), b.String(); one != two {
			t.Errorf("%d:\n%s, want\n%s", c, two, one)
		}
		if err := errors.Join(b.pool.Check(), b.pool.Trim(), b.pool.Check()); err != nil {
			t.Error(err)
		}
	}
	small := newPack(t, 100, 5)
	before := small.String()
	err := small.set.Read(newPack(t, 1000, 200).file(t), nil)
	if !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "wolves: ") || !strings.Contains(err.Error(), " slots, the capacity is 100") || small.String() != before {
		t.Errorf("a file with more slots: %v", err)
	}
}

// A file whose numbers contradict each other.
func TestPool_DamagedFileIsRefused(t *testing.T) {
	for want, w := range map[string][]uint64{ // known, open, vacant, retired, allocs, failures
		"5 slots are open and 0 vacant, of 4": {4, 5, 0, 0, 0, 0},
		"4 slots are open and 3 vacant, of 4": {4, 4, 3, 2, 0, 0},
		"the file has 11 slots, the capacity": {11, 4, 3, 2, 0, 0},
		"slot 0 is vacant twice":              {4, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		var set save.Set
		var file bytes.Buffer
		err := set.AddFunc("wolves", func(c *save.Coder) {
			for _, n := range w[:6] {
				c.Word(n)
			}
			if len(w) > 6 {
				save.Vec(c, make([]uint32, 4))
				save.Vec(c, make([]uint32, 3))
				save.Vec(c, make([]uint64, 1))
				c.Word(0)
				c.Word(0)
			}
		})
		if err := errors.Join(err, set.Seal()); err != nil {
			t.Fatal(err)
		}
		if err := set.Write(&file); err != nil {
			t.Fatal(err)
		}
		x := newPack(t, 10, 5)
		before := x.String()
		if err := x.set.Read(&file, nil); !errors.Is(err, save.ErrLayout) && len(w) == 6 || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if now := x.String(); now != before {
			t.Errorf("%s became %s", before, now)
		}
	}
}

func TestPool_CanWriteNamesTheField(t *testing.T) {
	type bad struct{ Address uintptr }
	p, err := pool.New[bad](nil, pool.Config{Capacity: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.CanWrite(); err == nil || err.Error() != "pool_test.bad.Address: uintptr: an address is not valid in another process" {
		t.Error(err)
	}
	x := newPack(t, 10, 0).pool
	if handle, _ := x.HandleKey(); x.CanWrite() != nil || x.RowType() != reflect.TypeFor[wolf]() || handle != reflect.TypeFor[memory.Handle[wolf]]() {
		t.Errorf("%v, %v, %v", x.CanWrite(), x.RowType(), handle)
	}
}

func TestRegistry_StateHasItsPools(t *testing.T) {
	r := pool.NewRegistry(nil)
	a, err := pool.Register[wolf](r, pool.Config{Capacity: 10, Name: "a"})
	b, err2 := pool.Register[uint64](r, pool.Config{Capacity: 10, Name: "b"})
	var set save.Set
	h, v, err3 := b.New()
	if err := errors.Join(err, err2, err3, set.Add("registry", r), set.Seal()); err != nil {
		t.Fatal(err)
	}
	*v = 7
	slot := set.NewSlot(10_000)
	if err := set.Save(slot); err != nil {
		t.Fatal(err)
	}
	if b.Free(h); a.Len() != 0 {
		t.Fatal("an object in an empty pool")
	}
	if _, _, err := a.New(); err != nil {
		t.Fatal(err)
	}
	if err := set.Load(slot); err != nil || a.Len() != 0 || b.Len() != 1 || *v != 7 {
		t.Errorf("%v: %d, %d objects", err, a.Len(), b.Len())
	}
	if _, err := pool.Register[int32](r, pool.Config{Capacity: 10, Name: "late"}); err != nil {
		t.Fatal(err)
	}
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), `2 pools were registered and 3 are; the last is "late"`) {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := set.Save(slot); !errors.Is(err, memory.ErrClosed) {
		t.Error(err)
	}
}

func TestSaved_ClosedPoolsAreNamed(t *testing.T) {
	p, err := pool.New[wolf](nil, pool.Config{Capacity: 10})
	s, err2 := pool.NewSplit[uint64, wolf](nil, pool.Config{Capacity: 10})
	b, err3 := pool.NewBlocks(nil, pool.BlocksConfig{Size: 80, Capacity: 10})
	if err := errors.Join(err, err2, err3, p.Close(), s.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	for _, state := range []save.State{p, s, b} {
		var set save.Set
		err := errors.Join(set.Add("closed", state), set.Seal())
		if _, size := set.Size(); err != nil || !errors.Is(size, memory.ErrClosed) || !strings.Contains(size.Error(), "closed: ") {
			t.Errorf("%T: %v, %v", state, err, size)
		}
	}
}
