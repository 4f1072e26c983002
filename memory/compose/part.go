package compose

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

func misuse(op string, p unsafe.Pointer, size uintptr, format string, args ...any) *memory.Misuse {
	return &memory.Misuse{Package: "compose", Op: op, Addr: uintptr(p), Size: size, Reason: fmt.Sprintf(format, args...)}
}

// lacks panics because the part cannot do what is asked for.
func (p *part) lacks(op string, q unsafe.Pointer, name string) {
	panic(misuse(op, q, 0, "the %s allocator, a %T, has no %s", name, p.Allocator, op))
}

// freeAny passes a block on to be freed without its size.
func (p *part) freeAny(q unsafe.Pointer, name string) {
	if p.anyFreer == nil {
		p.lacks("FreeAny", q, name)
	}
	p.anyFreer.FreeAny(q)
}

func (p *part) sizeOf(q unsafe.Pointer, name string) uintptr {
	if p.sizer == nil {
		p.lacks("SizeOf", q, name)
	}
	return p.sizer.SizeOf(q)
}

// resize resizes a block in place. A part that cannot is asked for what it knows of the block,
// so that misuse is found all the same.
func (p *part) resize(q unsafe.Pointer, oldSize, newSize uintptr, name string) bool {
	if p.resizer != nil {
		return p.resizer.Resize(q, oldSize, newSize)
	}
	if p.owner != nil && !p.owner.Owns(q) {
		panic(misuse("Resize", q, oldSize, "the %s allocator does not own it: foreign, or the allocator is closed", name))
	}
	if p.sizer != nil {
		if has := p.sizer.SizeOf(q); oldSize > has {
			panic(misuse("Resize", q, oldSize, "wrong size: the block has %d bytes", has))
		}
	}
	return false
}

func (p *part) owns(q unsafe.Pointer) bool { return p.owner != nil && p.owner.Owns(q) }

func (p *part) trim() error {
	if p.trimmer == nil {
		return errors.ErrUnsupported
	}
	return p.trimmer.Trim()
}

func (p *part) check() error {
	if p.checker == nil {
		return nil
	}
	return p.checker.Check()
}

func (p *part) stats() memory.Stats {
	if p.reporter == nil {
		return memory.Stats{}
	}
	return p.reporter.Stats()
}

// base is nil where the part's blocks lie in several ranges, as those of a part that is no Baser may.
func (p *part) base() unsafe.Pointer {
	if p.baser == nil {
		return nil
	}
	return p.baser.Base()
}

// extent returns how far from base the part's blocks reach, in bytes.
func (p *part) extent() uintptr {
	if e, ok := p.Allocator.(interface{ Extent() uintptr }); ok {
		return e.Extent()
	}
	return uintptr(p.stats().Reserved)
}

func (p *part) close() error {
	if p.closer == nil {
		return nil
	}
	return p.closer.Close()
}

// usable says what is wrong with an allocator that a composition is to stand on.
func usable(op, name string, a memory.Allocator) error {
	if a == nil {
		return fmt.Errorf("compose: %s: the %s allocator is nil: %w", op, name, memory.ErrConfig)
	}
	if invariant.Nil(a) {
		return fmt.Errorf("compose: %s: the %s allocator is a nil %T: %w", op, name, a, memory.ErrConfig)
	}
	return nil
}

// same reports whether a and b are one allocator.
func same(a, b memory.Allocator) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}

// wants reports whether err is a refusal for want of memory.
func wants(err error) bool {
	return err == memory.ErrOutOfMemory || err == memory.ErrTooLarge ||
		errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge)
}
