package compose

import (
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A part is an allocator below a composition. Its interfaces are found once; one that it does not have
// is nil.
type part struct {
	memory.Allocator
	resetter memory.Resetter
	resizer  memory.Resizer
	owner    memory.Owner
	sizer    memory.Sizer
	anyFreer memory.AnyFreer
	trimmer  memory.Trimmer
	reporter memory.StatsReporter
	checker  memory.Checker
	closer   io.Closer
	baser    memory.Baser
	dated    dated
}

// dated is remote.Generational.
type dated interface {
	Generation(p unsafe.Pointer) uint32
}

func partOf(a memory.Allocator) part {
	p := part{Allocator: a}
	p.resetter, _ = a.(memory.Resetter)
	p.resizer, _ = a.(memory.Resizer)
	p.owner, _ = a.(memory.Owner)
	p.sizer, _ = a.(memory.Sizer)
	p.anyFreer, _ = a.(memory.AnyFreer)
	p.trimmer, _ = a.(memory.Trimmer)
	p.reporter, _ = a.(memory.StatsReporter)
	p.checker, _ = a.(memory.Checker)
	p.closer, _ = a.(io.Closer)
	p.baser, _ = a.(memory.Baser)
	p.dated, _ = a.(dated)
	return p
}

// can returns the optional interfaces that the part has.
func (p *part) can() (c optional) {
	for i, has := range [...]bool{
		p.resetter != nil, p.resizer != nil, p.trimmer != nil, p.sizer != nil && p.anyFreer != nil, p.baser != nil,
	} {
		if has {
			c |= 1 << i
		}
	}
	return c
}

// newPart returns a as a part, or why it cannot be one: it must not be nil, and must have the methods of
// Allocator.
func newPart(op, name string, a memory.Allocator) (part, error) {
	if err := usable(op, name, a); err != nil {
		return part{}, err
	}
	p := partOf(a)
	var missing []string
	for _, m := range []struct {
		name string
		has  bool
	}{{"Owns", p.owner != nil}, {"Stats", p.reporter != nil}, {"Check", p.checker != nil}, {"Close", p.closer != nil}} {
		if !m.has {
			missing = append(missing, m.name)
		}
	}
	if len(missing) > 0 {
		advice := "NewCounted adds it"
		if op == "new Locked" && path.Base(reflect.Indirect(reflect.ValueOf(a)).Type().PkgPath()) == "tiers" {
			advice = "a lock would not guard the other calls of its manager; other goroutines allocate from Manager.Worker and free through Manager.NewFreer"
		}
		return part{}, fmt.Errorf("compose: %s: the %s allocator, a %T, has no %s; %s: %w",
			op, name, a, strings.Join(missing, ", "), advice, memory.ErrConfig)
	}
	return p, nil
}

// usable returns an error if a is nil.
func usable(op, name string, a memory.Allocator) error {
	if a == nil {
		return fmt.Errorf("compose: %s: the %s allocator is nil: %w", op, name, memory.ErrConfig)
	}
	if invariant.Nil(a) {
		return fmt.Errorf("compose: %s: the %s allocator is a nil %T: %w", op, name, a, memory.ErrConfig)
	}
	return nil
}

// generation returns 0 if the part does not count blocks.
func (p *part) generation(q unsafe.Pointer) uint32 {
	if p.dated == nil {
		return 0
	}
	return p.dated.Generation(q)
}

// same reports whether a and b are one allocator.
func same(a, b memory.Allocator) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}

// exhausted reports whether err means that an allocator has no memory for the request.
func exhausted(err error) bool {
	return err == memory.ErrOutOfMemory || err == memory.ErrTooLarge ||
		errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge)
}

func misuse(op string, p unsafe.Pointer, size uintptr, format string, args ...any) *memory.Misuse {
	return &memory.Misuse{Package: "compose", Op: op, Addr: uintptr(p), Size: size, Reason: fmt.Sprintf(format, args...)}
}
