package stack

import (
	"math"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

func TestDefaults_AreAMiB(t *testing.T) {
	s, d, p := newStack(t, 0), newDouble(t, 0), newPivot(t, 0, 0)
	if s.Available() != 1<<20 || d.Available() != 1<<20 || p.Forward().Available() != 1<<20 || p.Backward().Available() != 1<<20 {
		t.Errorf("Stack %d, Double %d, Pivot %d and %d bytes", s.Available(), d.Available(), p.Forward().Available(), p.Backward().Available())
	}
	if q := newPivot(t, 1, 0); q.Forward().Available() != 1 || q.Backward().Available() != 1 {
		t.Errorf("Pivot of 1 byte: %d and %d", q.Forward().Available(), q.Backward().Available())
	}
	if q := newPivot(t, 0, 1); q.Forward().Available() != 1<<20 || q.Backward().Available() != 1 {
		t.Errorf("Pivot with 1 byte backward: %d and %d", q.Forward().Available(), q.Backward().Available())
	}
	if s := newStack(t, 1); s.Available() != 1 {
		t.Errorf("Stack of 1 byte: %d", s.Available())
	}
	if d := newDouble(t, 1); d.Available() != 1 {
		t.Errorf("Double of 1 byte: %d", d.Available())
	}
}

// A falling block that is larger than all that lies below its edge wraps.
func TestDouble_TopRefusesWhatReachesBelowTheBuffer(t *testing.T) {
	d := newDouble(t, 100)
	memtest.MustAlloc(t, d.Bottom(), 60, 1)
	for _, size := range []uintptr{41, 99, 100, 101, 130, 160, 161, math.MaxUint - 39, math.MaxUint} {
		for _, al := range []uintptr{1, 64} {
			if p, err := d.Top().Alloc(size, al); p != nil || err == nil {
				t.Errorf("Alloc(%d, %d) with 40 bytes left = %p, %v", size, al, p, err)
			}
		}
	}
	memtest.MustCheck(t, d)
	memtest.MustAlloc(t, d.Top(), 40, 1)
}

func TestEnd_CheckKnowsThatMarksAreOfNowAndInOrder(t *testing.T) {
	s := newStack(t, 100)
	s.Mark()
	s.Mark()
	memtest.MustCheck(t, s)
	for name, corrupt := range map[string]func(){
		"above the newest": func() { s.marks[1].serial = s.serial + 1 },
		"out of order":     func() { s.marks[0].serial = s.marks[1].serial },
		"zero":             func() { s.marks[0].serial = 0 },
	} {
		marks := append([]place(nil), s.marks...)
		corrupt()
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "does not follow the one before it") {
			t.Errorf("%s: Check = %v", name, err)
		}
		copy(s.marks, marks)
	}
}

func TestCheck_OfAClosedStackToleratesEverything(t *testing.T) {
	s := newStack(t, 1000)
	memtest.MustAlloc(t, s, 10, 1)
	s.Mark()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if flips := memtest.EveryBit(t, s.End.Check, &s.End); flips.Integers == 0 || flips.Named != 0 {
		t.Errorf("%+v", flips)
	}
	if _, err := s.Alloc(1, 1); err != memory.ErrClosed {
		t.Error(err)
	}
}
