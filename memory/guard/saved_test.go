package guard_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

// A block that was freed after the save is live again after the load, with its canaries; what was in quarantine is
// watched again.
func TestAllocator_DetectsDamageAfterLoad(t *testing.T) {
	inner, err := newTLSF(nil)
	var faults []string
	a, err2 := guard.New(inner, guard.Config{QuarantineBytes: 4096, OnFault: func(m *memory.Misuse) { faults = append(faults, m.Reason) }})
	set := new(save.Set)
	if err := errors.Join(err, err2, set.Add("guard", a), set.Seal()); err != nil {
		t.Fatal(err)
	}
	p, freed := memtest.MustAlloc(t, a, 100, 16), memtest.MustAlloc(t, a, 50, 16)
	a.Free(freed, 50)
	n, err := set.Size()
	slot := set.NewSlot(n)
	if err := errors.Join(err, set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	a.Free(p, 100)
	for range 200 { // the records of both are forgotten, and their addresses are used again
		a.Free(memtest.MustAlloc(t, a, 300, 16), 300)
	}
	if err := errors.Join(set.Load(slot), a.Check()); err != nil {
		t.Fatal(err)
	}
	a.Free(freed, 50)
	*(*byte)(unsafe.Add(p, 100)) = 1
	a.Free(p, 100)
	*(*byte)(freed) = 2
	a.Flush()
	for i, want := range []string{"double free", "overflow: byte 100 of the block of 100 bytes", "use after free: byte 0 of the block of 50 bytes"} {
		if i >= len(faults) || !strings.Contains(faults[i], want) {
			t.Errorf("fault %d is missing %q in %q", i, want, faults)
		}
	}
	a.Reset()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := set.Load(slot); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Load after Close: %v", err)
	}
}

func TestSaved_RefusedByName(t *testing.T) {
	bareInner, err := newBare(nil)
	b, err2 := guard.New(bareInner, guard.Config{})
	s, err3 := guard.NewStomp(nil, guard.StompConfig{})
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	defer s.Close()
	set := new(save.Set)
	for want, err := range map[string]error{
		`"bare" cannot be saved: guard: inner is a guard_test.bare`: set.Add("bare", b),
		`"stomp" cannot be saved: guard: a Stomp`:                   set.Add("stomp", s),
	} {
		if !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
