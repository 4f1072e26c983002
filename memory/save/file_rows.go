package save

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory/layout"
)

// A file is the types of the file that a Coder writes or reads.
type file struct {
	set       *Set
	types     []layout.Type
	numbers   map[reflect.Type]int // of types, in writing
	migration *layout.Migration
	plans     map[planKey]*plan
	scratch   map[reflect.Type]reflect.Value // of plans
}

type planKey struct {
	old int
	now reflect.Type
}

// A plan is how values of a type of the file become values of a type of the program.
type plan struct {
	old     *layout.Type
	convert layout.Convert // nil: the bytes are copied
	hook    func(layout.OldValue, any) error
	scratch reflect.Value // a pointer to a value
	handles bool
	checks  []func(unsafe.Pointer) error // of each RowChecker, in the pass fitting
}

// fileType returns the type if the bytes are those of a file.
func fileType[T any](c *Coder) reflect.Type {
	if c.file == nil {
		return nil
	}
	return reflect.TypeFor[T]()
}

// Migration returns the Migration of [Set.Read] or [Set.Verify] while they read the file. If they got nil, Migration
// returns an empty one. It also returns an empty one while a failed Read restores the former state. In all other passes
// Migration returns nil: in those that write a file or a copy of the present state, and in those for a [Slot].
func (c *Coder) Migration() *layout.Migration {
	if c.file == nil {
		return nil
	}
	return c.file.migration
}

// rowBits is the width of the number of rows in the word before them; the number of the type is above.
const rowBits = 40

// fileRows visits rows in a file: a word, and the values.
func (c *Coder) fileRows(name string, t reflect.Type, p unsafe.Pointer, n uintptr, rows int) {
	if c.err != nil {
		return
	}
	if name != "" {
		c.Enter(name)
		defer c.Leave()
	}
	if t == nil {
		c.Fail(errBlocks)
		return
	}
	stride := uintptr(0)
	if rows > 0 {
		stride = n / uintptr(rows)
	}
	if c.Saving() {
		c.writeRows(t, p, stride, rows)
		return
	}
	old, ok := c.ahead(rows)
	if !ok {
		return
	}
	c.at += 8
	x, err := c.file.plan(old, t)
	if errors.Is(err, layout.ErrMigration) {
		c.Fail(err)
		return
	}
	if err != nil {
		c.Fail(fmt.Errorf("%w: %w", ErrLayout, err))
		return
	}
	if err := c.readRows(x, t, p, stride, rows); err != nil {
		c.Fail(fmt.Errorf("%w: %w", ErrLayout, err))
	}
}

// writeRows writes rows of stride bytes.
func (c *Coder) writeRows(t reflect.Type, p unsafe.Pointer, stride uintptr, rows int) {
	k, err := c.file.number(t)
	if err != nil {
		c.Fail(err)
		return
	}
	c.Word(uint64(k)<<rowBits | uint64(rows))
	size := t.Size()
	if n := size * uintptr(rows); n > 0 && c.fits(n) {
		b := c.buf[c.at:][:n]
		for i := range rows {
			copy(b[uintptr(i)*size:][:size], unsafe.Slice((*byte)(unsafe.Add(p, uintptr(i)*stride)), size))
		}
		c.at += padded(n)
		if c.file.has(k) {
			for i := range rows {
				c.file.translate(t, unsafe.Pointer(&b[uintptr(i)*size]))
			}
		}
	}
}

// ahead returns the number of the type of the rows that come next, from the word before them. ok is false unless they are
// so many, and the file has their bytes.
func (c *Coder) ahead(rows int) (t int, ok bool) {
	if c.err != nil || !c.fits(8) {
		return 0, false
	}
	w := binary.LittleEndian.Uint64(c.buf[c.at:])
	k, n := w>>rowBits, w&(1<<rowBits-1)
	switch {
	case k >= uint64(len(c.file.types)):
		c.Differs("type %d of %d", k, len(c.file.types))
	case n != uint64(rows):
		c.Differs("the file has %d rows, %d are expected%s", n, rows, c.advice())
	case n > 0 && uint64(c.file.types[k].Size) > uint64(len(c.buf)-c.at-8)/n:
		c.Differs("%d rows of %d bytes are more than the %d bytes that are left", n, c.file.types[k].Size, len(c.buf)-c.at-8)
	}
	return int(k), c.err == nil
}

// readRows converts rows: into p in the pass loading, and to find errors in the pass fitting.
func (c *Coder) readRows(x *plan, t reflect.Type, p unsafe.Pointer, stride uintptr, rows int) error {
	old, size := uintptr(x.old.Size), t.Size()
	src := c.buf[c.at:][:old*uintptr(rows)]
	c.at += padded(uintptr(len(src))) // a part has whole words
	if x.hook == nil && (size == 0 || !c.Loading() && x.convert == nil && len(x.checks) == 0) {
		return nil
	}
	for i := range uintptr(rows) {
		to, in := x.scratch.UnsafePointer(), src[i*old:][:old:old]
		if c.Loading() {
			to = unsafe.Add(p, i*stride)
		}
		dst := unsafe.Slice((*byte)(to), size)
		if x.convert == nil {
			copy(dst, in)
		} else {
			clear(dst)
			if err := x.convert(dst, in); err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
		}
		if x.handles {
			c.file.translate(t, to)
		}
		if x.hook != nil {
			if err := x.hook(layout.NewOldValue(x.old, in), reflect.NewAt(t, to).Interface()); err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
		}
		for _, check := range x.checks {
			if c.Loading() {
				break // it was fitted, or is the former state
			}
			if err := check(to); err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
		}
	}
	return nil
}

// number returns the number of a type in the file that is written.
func (f *file) number(t reflect.Type) (int, error) {
	if k, ok := f.numbers[t]; ok {
		return k, nil
	}
	d, err := layout.OfHandles(t, f.set.handleKnown)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPortable, err)
	}
	f.types = append(f.types, d)
	f.numbers[t] = len(f.types) - 1
	return len(f.types) - 1, nil
}

// has reports whether values of type k have handles.
func (f *file) has(k int) bool { return f.types[k].Has("handle") }

// plan returns how values of type old of the file become values of t.
func (f *file) plan(old int, t reflect.Type) (*plan, error) {
	key := planKey{old, t}
	if x := f.plans[key]; x != nil {
		return x, nil
	}
	to, err := layout.OfHandles(t, f.set.handleKnown)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPortable, err)
	}
	if _, ok := f.scratch[t]; !ok {
		f.scratch[t] = reflect.New(t) // once, because a forged file may have many types
	}
	x := &plan{old: &f.types[old], scratch: f.scratch[t], handles: to.Has("handle")}
	if t.PkgPath() != "" {
		x.hook = f.migration.Convert[t.String()]
	}
	for i := range f.set.parts {
		if r, ok := f.set.parts[i].state.(RowChecker); ok {
			if check := r.RowCheck(t); check != nil {
				x.checks = append(x.checks, check)
			}
		}
	}
	p := layout.Planner{Renamed: f.migration.Renamed, Note: f.migration.Changed, Lenient: x.hook != nil}
	if x.convert, err = p.Plan(t.String(), x.old, &to); err != nil {
		return nil, err
	}
	f.plans[key] = x
	return x, nil
}

// translate takes the key of the pool out of all handles in the value at p, or puts it in.
func (f *file) translate(t reflect.Type, p unsafe.Pointer) {
	switch {
	case layout.IsHandle(t):
		if gen := (*uint32)(unsafe.Add(p, t.Size()-4)); *(*uint64)(p) != 0 {
			key, _ := f.set.handleKey(t) // number and plan have found it
			*gen ^= key
		}
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			f.translate(t.Elem(), unsafe.Add(p, uintptr(i)*t.Elem().Size()))
		}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			f.translate(field.Type, unsafe.Add(p, field.Offset))
		}
	}
}

// Stream saves or loads data that has its own format, such as the data of an ecs.World. When a file is written, Stream
// calls write. In the loading pass Stream calls read with exactly the bytes that write wrote. read need not read all of
// them. In the fitting pass Stream calls neither function. If the function that it calls returns an error, the pass
// fails. If [Coder.Portable] returns false, the pass fails with an error that wraps [ErrPortable].
func (c *Coder) Stream(write func(io.Writer) error, read func(io.Reader) error) {
	if c.file == nil {
		c.Fail(errBlocks)
		return
	}
	head := c.at
	n := c.Word(0)
	switch {
	case c.err != nil:
	case c.Saving():
		c.Fail(write(streamWriter{c}))
		if c.err == nil {
			binary.LittleEndian.PutUint64(c.buf[head:], uint64(c.at-head-8))
			c.at = head + 8 + padded(uintptr(c.at-head-8))
			c.buf = append(c.buf[:min(len(c.buf), c.at)], make([]byte, max(0, c.at-len(c.buf)))...)
		}
	case n > uint64(len(c.buf)-c.at):
		c.Differs("a stream of %d bytes, the file has %d left", n, len(c.buf)-c.at)
	default:
		if c.Loading() {
			c.Fail(read(bytes.NewReader(c.buf[c.at:][:n:n])))
		}
		c.at += padded(uintptr(n))
	}
}

// A streamWriter appends to the bytes of a Coder.
type streamWriter struct{ c *Coder }

func (w streamWriter) Write(p []byte) (int, error) {
	b := w.c.buf[:w.c.at]
	if len(p) > cap(b)-len(b) {
		b = slices.Grow(b, max(len(p), cap(b))) // twice as large: append grows by a quarter, which makes more garbage
	}
	w.c.buf = append(b, p...)
	w.c.at += len(p)
	return len(p), nil
}
