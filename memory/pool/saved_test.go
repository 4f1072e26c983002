package pool_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

// Trim closes the slots behind the last object, which keep their generations. A load restores these, too.
func TestPool_LoadKeepsGenerationsBehindTrim(t *testing.T) {
	p, err := pool.New[uint64](nil, pool.Config{Capacity: 1000})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("pool", p), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	fill := func() (handles [300]memory.Handle[uint64]) {
		for i := range handles {
			h, _, err := p.New()
			if err != nil {
				t.Fatal(err)
			}
			handles[i] = h
		}
		return handles
	}
	old := fill()
	for _, h := range old {
		p.Free(h)
	}
	slot := set.NewSlot(1 << 16)
	if err := errors.Join(p.Trim(), set.Save(slot), set.Load(slot)); err != nil {
		t.Fatal(err)
	}
	fill()
	for i, h := range old {
		if _, ok := p.Get(h); ok {
			t.Fatalf("handle %d of a freed object is valid again", i)
		}
	}
}

// A debug build takes neither the memory that a refused load has committed for poison, nor that which the source keeps.
func TestSaved_MemoryWithoutPoisonIsNoDamage(t *testing.T) {
	src, refused := memtest.NewFaulty(), false
	p, err1 := pool.New[[9]uint64](src, pool.Config{Capacity: 1000})
	s, err2 := pool.NewSplit[uint64, [9]uint64](src, pool.Config{Capacity: 1000})
	b, err3 := pool.NewBlocks(src, pool.BlocksConfig{Size: 80, Capacity: 1000})
	set := new(save.Set)
	err := errors.Join(err1, err2, err3, set.Add("pool", p), set.Add("split", s), set.Add("blocks", b), set.AddFunc("later", func(c *save.Coder) {
		if refused {
			c.Differs("it is another")
		}
	}), set.Seal())
	full, empty := set.NewSlot(1<<20), set.NewSlot(1<<20)
	fill := func() {
		for i := range 1000 {
			_, v, err := p.New()
			_, hot, cold, err2 := s.New()
			q, err3 := b.Get()
			if err := errors.Join(err, err2, err3); err != nil {
				t.Fatal(i, err)
			}
			v[8], *hot, cold[8], *(*uint64)(q) = 1, 1, 1, 1
		}
	}
	vacate := func() error {
		p.Reset()
		s.Reset()
		b.Reset()
		return errors.Join(p.Trim(), s.Trim(), b.Trim())
	}
	if err != nil {
		t.Fatal(err)
	}
	fill()
	if err := errors.Join(set.Save(full), vacate(), set.Save(empty)); err != nil {
		t.Fatal(err)
	}
	refused = true
	if err := set.Load(full); !errors.Is(err, save.ErrLayout) {
		t.Fatal(err)
	}
	refused = false
	fill()
	src.FailReturns = true
	if err := set.Load(empty); err != nil {
		t.Fatal(err)
	}
	src.FailReturns = false
	fill()
	if err := errors.Join(p.Check(), s.Check(), b.Check(), p.Close(), s.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// Two games that differ by an object: the difference is said to be in the counts of the pool.
func TestSaved_DiffOfTheNumberOfObjectsNamesTheCounts(t *testing.T) {
	p, err := pool.New[uint64](nil, pool.Config{Name: "rocks", Capacity: 10})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("game", p), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, b := set.NewCanonical(1<<12), set.NewCanonical(1<<12)
	_, _, err = p.New()
	err = errors.Join(err, set.Save(a))
	p.Reset()
	err = errors.Join(err, set.Save(b))
	d, differ, err2 := set.Diff(a, b)
	if d.Path != "game/rocks/counts" || !differ || err != nil || err2 != nil {
		t.Errorf("%v, %v, %v, %v", d, differ, err, err2)
	}
}
