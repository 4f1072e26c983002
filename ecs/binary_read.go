package ecs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/ecs/internal/jsonio"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
)

// A Migration declares how the component types of a program have changed since a file was written. See
// [layout.Migration].
type Migration = layout.Migration

// An OldValue is the value of a component in a file. It is valid until the function of Migration.Convert that received
// it returns.
type OldValue = layout.OldValue

// ReadBinary loads the output of [World.WriteBinary] into a world without entities. Index and generation of each entity
// come from the file. So each Entity, also an Entity in a component, names the same entity as in the world that was
// written. m declares how component types have changed, and may be nil. All component types of the file must be
// registered under their names in the file, in any order. Exceptions are types that m renames or drops. Nothing may
// follow the file in the reader: ReadBinary reads one byte beyond it, and fails if there is one.
//
// For a replay: if w has the Config of the written world and its types in the same order, and no type has changed, both
// worlds have the same [World.Hash]. Further operations on both worlds then have the same results, Entity by Entity.
//
// Conditions, panics, locking and calls of observers are those of [World.ReadJSON]. If w has entities, ReadBinary
// returns an error. On error w is unchanged, except that its empty chunks may have been freed, and that it may have
// closed itself. ReadBinary also fails if:
//   - the file is truncated, has bytes after its end, has a damaged bit, or has another version;
//   - a component type is not registered, is registered twice, or has a field that WriteBinary refuses;
//   - a value cannot be converted, because of its kind or because an integer does not fit;
//   - a bool is neither 0 nor 1, or a component contains an Entity that no world ever had: see [World.RowCheck];
//   - an entity occurs twice or is above Config.MaxEntities, a slot is missing, or a target is stale: see ReadJSON;
//   - Renamed of m maps a name of the file to a name that the program lacks, or gives two types or fields one name: the
//     error wraps [layout.ErrMigration];
//   - Convert of m names a component that is not registered, or one of [World.RegisterSize]: the error wraps
//     [layout.ErrMigration];
//   - Dropped of m names a relation: the error wraps [layout.ErrMigration];
//   - a function of m, the reader, the allocator or Config.Pages fails.
//
// Cost: that of copying the columns. ReadBinary reads the whole file into the Go heap first. A forged length in the
// file does not make it allocate memory for bytes that the reader lacks. A column is converted value by value if its
// type has changed or contains a bool.
func (w *World) ReadBinary(in io.Reader, m *Migration) error {
	const op = "ReadBinary"
	w.guard.mutable(op)
	if in == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the reader is nil"})
	}
	if m == nil {
		m = &Migration{}
	}
	return w.readBinary(op, in, m, true)
}

// readBinary is ReadBinary. If alone is true, m is for this world only.
func (w *World) readBinary(op string, in io.Reader, m *Migration, alone bool) error {
	return w.load(op, func() error {
		file, err := readFile(in)
		if ended := w.guard.stillOpen(); ended != nil {
			err = ended
		}
		if err != nil {
			return err
		}
		n := binary.LittleEndian.Uint64(file[16:]) // readFile has compared it
		b := &binaryRows{migration: m, alone: alone, head: int64(n), rest: file[binaryHead+n : len(file)-binarySum]}
		return w.readText(bytes.NewReader(file[binaryHead:binaryHead+n]), b)
	})
}

// readFile reads a whole file and compares its length and its sum.
func readFile(in io.Reader) ([]byte, error) {
	start := make([]byte, binaryHead)
	if n, err := io.ReadFull(in, start); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("the file ends after %d bytes: %w", n, err)
	}
	if string(start[:8]) != binaryMagic {
		return nil, errors.New("the file is not one of WriteBinary")
	}
	size, head := binary.LittleEndian.Uint64(start[8:]), binary.LittleEndian.Uint64(start[16:])
	if size%8 != 0 || head%8 != 0 || size < binaryHead+binarySum || head > size-binaryHead-binarySum || size > 1<<46 {
		return nil, fmt.Errorf("the file has %d bytes with a head of %d, which is impossible", size, head)
	}
	file := bytes.NewBuffer(start)
	file.Grow(int(min(ahead(in), size, 1<<30)) + bytes.MinRead)
	n, err := file.ReadFrom(io.LimitReader(in, int64(size)-binaryHead+1)) // one more shows that the file continues
	if err != nil {
		return nil, err
	}
	if have := uint64(n) + binaryHead; have < size {
		return nil, fmt.Errorf("the file ends after %d bytes of %d: %w", have, size, io.ErrUnexpectedEOF)
	} else if have > size {
		return nil, fmt.Errorf("the file continues after its %d bytes", size)
	}
	all := file.Bytes()
	end := len(all) - binarySum
	if sum := uint64(crc32.Checksum(all[:end], castagnoli)); sum != binary.LittleEndian.Uint64(all[end:]) {
		return nil, errors.New("the checksum differs: the file is damaged")
	}
	return all, nil
}

// ahead returns how many bytes a reader has, or 0 if it does not tell.
func ahead(in io.Reader) uint64 {
	switch r := in.(type) {
	case interface{ Len() int }:
		return uint64(max(r.Len(), 0))
	case fs.File:
		if info, err := r.Stat(); err == nil {
			return uint64(max(info.Size(), 0))
		}
	}
	return 0
}

// binaryRows is what a reader needs for a file of WriteBinary, whose head it reads.
type binaryRows struct {
	migration *Migration
	alone     bool   // the Migration is not shared with other parts of a save.Set
	head      int64  // its bytes
	rest      []byte // the rows that were not read
	types     map[string]*binaryType
	merged    bool // a dropped component may make two archetypes one
}

// A binaryType is a component type of the file.
type binaryType struct {
	layout.Type
	c       *component // nil if it is dropped
	convert layout.Convert
	hook    func(OldValue, any) error
}

// entitiesIn appends the offsets of each Entity in a value of type t at off.
func entitiesIn(named []uintptr, t reflect.Type, off uintptr) []uintptr {
	switch t.Kind() {
	case reflect.Struct:
		if t.ConvertibleTo(entityType) {
			return append(named, off)
		}
		for f := range t.Fields() {
			if f.Name != "_" {
				named = entitiesIn(named, f.Type, off+f.Offset)
			}
		}
	case reflect.Array:
		of := entitiesIn(nil, t.Elem(), off)
		for i := 0; i < t.Len() && len(of) > 0; i++ {
			for _, at := range of {
				named = append(named, at+uintptr(i)*t.Elem().Size())
			}
		}
	}
	return named
}

// checkEntities returns an error if a value names an entity whose generation is even: look-ups would take a vacant
// slot for it. ReadJSON refuses slot 0, so ReadBinary does.
func (x *binaryType) checkEntities(cells []byte, rows []Entity) error {
	if len(x.c.named) == 0 || len(rows) == 0 {
		return nil
	}
	return x.c.checkEntities(unsafe.Pointer(&cells[0]), rows)
}

// checkEntities is binaryType.checkEntities for the values of the rows from p on.
func (c *component) checkEntities(p unsafe.Pointer, rows []Entity) error {
	for i := range rows {
		if err := checkEntitiesAt(unsafe.Add(p, uintptr(i)*c.size), c.named); err != nil {
			return fmt.Errorf("entity %s: component %s: %w", quote(rows[i]), c.name, err)
		}
	}
	return nil
}

// checkEntitiesAt is checkEntities for the value at p, which has an Entity at each of the offsets.
func checkEntitiesAt(p unsafe.Pointer, named []uintptr) error {
	for _, off := range named {
		e := *(*Entity)(unsafe.Add(p, off))
		if (e.gen&1 == 0 || e.index == 0) && !e.IsZero() {
			return fmt.Errorf("it contains %s; slots begin at 1, and generations are odd", quote(e))
		}
		if e.index >= placeholderBit {
			return fmt.Errorf("it contains %s, %s", quote(e), placeholderText)
		}
	}
	return nil
}

// types reads the descriptions of component types.
func (r *reader) types() error {
	b := r.binary
	b.types = map[string]*binaryType{}
	err := r.List(func() error {
		x := &binaryType{}
		if err := r.Decode(&x.Type); err != nil {
			return err
		}
		if err := x.Check(); err != nil {
			return fmt.Errorf("type %q: %w", jsonio.Clip(x.Name), err)
		}
		if b.types[x.Name] != nil {
			return fmt.Errorf("type %q occurs twice", jsonio.Clip(x.Name))
		}
		b.types[x.Name] = x
		if slices.Contains(b.migration.Dropped, x.Name) {
			b.merged = true
			b.note(x.Name + " was dropped")
			return nil
		}
		return r.match(x)
	})
	if err == nil {
		err = r.unused()
	}
	return err
}

// unused reports each Convert of a component type that the file lacks. If no component has the name, it is an error.
func (r *reader) unused() error {
	b := r.binary
	for _, name := range slices.Sorted(maps.Keys(b.migration.Convert)) {
		registered := slices.ContainsFunc(r.into.comps, func(c *component) bool { return c.name == name })
		if !registered && b.alone {
			return fmt.Errorf("%w: Convert[%.40q]: no such component is registered; allowed: %s", layout.ErrMigration, name, r.components())
		}
		found := false
		for _, x := range b.types {
			found = found || x.c != nil && x.c.name == name
		}
		if !found && (registered || b.alone) {
			b.note("Convert of " + name + ": the file has no such type")
		}
	}
	return nil
}

// components returns the names of up to 20 registered components, for an error.
func (r *reader) components() string {
	var names []string
	for _, c := range r.into.comps[:min(len(r.into.comps), 20)] {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

func (b *binaryRows) note(change string) {
	if b.migration.Changed != nil {
		b.migration.Changed(change)
	}
}

// match finds the component of a type and plans the conversion of its values.
func (r *reader) match(x *binaryType) (err error) {
	m, name := r.binary.migration, x.Name
	now, renamed := m.Renamed[name]
	if renamed {
		r.binary.note(name + " was renamed to " + now)
		name = now
	}
	c, err := r.registered(name)
	if err != nil && renamed {
		return fmt.Errorf("%w: Renamed[%.40q]: %w; allowed: %s", layout.ErrMigration, x.Name, err, r.components())
	}
	if err != nil {
		return err
	}
	for _, other := range r.binary.types {
		if other.c == c {
			return fmt.Errorf("%w: two types became %s; Renamed must give each another name", layout.ErrMigration, c.name)
		}
	}
	x.c = c
	to, err := x.c.describe()
	if err != nil {
		return err
	}
	x.hook = m.Convert[x.c.name]
	if x.hook != nil && x.c.typ == nil {
		return fmt.Errorf("%w: Convert[%q]: the component has no Go type", layout.ErrMigration, x.c.name)
	}
	p := layout.Planner{Renamed: m.Renamed, Note: r.binary.note, Lenient: x.hook != nil}
	if x.convert, err = p.Plan(x.c.name, &x.Type, &to); err == nil && x.convert == nil && x.hook != nil {
		x.convert = func(dst, src []byte) error { copy(dst, src); return nil }
	}
	return err
}

// take returns the next n bytes of the rows.
func (b *binaryRows) take(n uint64) ([]byte, error) {
	if n > uint64(len(b.rest)) {
		return nil, fmt.Errorf("%d bytes of rows are missing", n-uint64(len(b.rest)))
	}
	p := b.rest[:n:n]
	b.rest = b.rest[n:]
	return p, nil
}

// A fileColumn is a column of an archetype in the file.
type fileColumn struct {
	*binaryType
	bytes []byte
}

// rows reads the rows of an archetype with these types, n of them, into t.
func (r *reader) rows(t *table, types []*binaryType, n uint64) error {
	b := r.binary
	if n > uint64(len(b.rest))/uint64(entityBytes) {
		return fmt.Errorf("%d rows in %d bytes", n, len(b.rest))
	}
	entities, err := b.take(n * uint64(entityBytes))
	if err != nil {
		return err
	}
	columns := make([]fileColumn, len(types))
	for i, x := range types {
		if n > 0 && uint64(x.Size) > uint64(len(b.rest))/n {
			return fmt.Errorf("%d rows of %d bytes in %d bytes", n, x.Size, len(b.rest))
		}
		bytes, err := b.take((n*uint64(x.Size) + 7) &^ 7)
		if err != nil {
			return err
		}
		columns[i] = fileColumn{x, bytes}
	}
	for at := uint64(0); at < n; {
		if t.tailN == t.limit {
			if err := r.After(r.into.grow(t)); err != nil {
				return err
			}
		}
		k := min(n-at, uint64(t.limit-t.tailN))
		loc := t.tailLoc + t.tailN
		es := r.into.entitiesFrom(loc, int(k))
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(es))), k*uint64(entityBytes)), entities[at*uint64(entityBytes):])
		for _, e := range es {
			if !e.possible() || e.index > r.w.store.index.max || !r.named.Set(e.index, e.gen) {
				return r.add(e) // which finds the same
			}
			r.used = max(r.used, e.index)
		}
		t.tailN += uint32(k)
		for i := range columns {
			if err := r.fill(&columns[i], loc, at, k); err != nil {
				return err
			}
		}
		at += k
	}
	return nil
}

// fill writes k cells from loc on with the values of the file from at on.
func (r *reader) fill(x *fileColumn, loc uint32, at, k uint64) error {
	if x.c == nil || x.c.size == 0 && x.hook == nil {
		return nil
	}
	size := uint64(x.c.size)
	cells, e := unsafe.Slice((*byte)(r.into.cell(loc, x.c.id, x.c.size)), k*size), r.into.entitiesFrom(loc, int(k))
	if x.convert == nil {
		copy(cells, x.bytes[at*size:])
		return x.checkEntities(cells, e)
	}
	clear(cells)
	old := uint64(x.Size)
	for i := range k {
		src, dst := x.bytes[(at+i)*old:][:old:old], cells[i*size:][:size:size]
		err := x.convert(dst, src)
		if err == nil && x.hook != nil {
			err = x.hook(layout.NewOldValue(&x.Type, src), reflect.NewAt(x.c.typ, unsafe.Pointer(unsafe.SliceData(dst))).Interface())
			if ended := r.w.guard.stillOpen(); ended != nil {
				return ended
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", x.c.name, err)
			}
		}
		if err != nil {
			return fmt.Errorf("entity %s: component %w", quote(e[i]), err)
		}
	}
	return x.checkEntities(cells, e)
}
