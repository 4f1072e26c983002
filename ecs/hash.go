package ecs

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// A word is one scalar of a component type, or two adjacent 4-byte elements of an array: what Hash
// reads in one step. Padding and blank fields are in no word, because Go leaves their bytes undefined.
type word struct {
	off  uint32
	size uint8 // 1, 2, 4 or 8
	kind wordKind
}

type wordKind uint8

const (
	plainWord wordKind = iota
	floatWord
	pairWord      // two 4-byte values, read separately to be independent of byte order
	floatPairWord // two float32
	rawWord       // up to eight bytes of a type without a Go type
)

// hashWords returns the scalars of a pointer-free type in field order.
func hashWords(t reflect.Type) []word { return appendWords(nil, t, 0) }

func appendWords(ws []word, t reflect.Type, off uintptr) []word {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				ws = appendWords(ws, f.Type, off+f.Offset)
			}
		}
	case reflect.Array:
		ws = appendArray(ws, t, off)
	case reflect.Complex64:
		ws = append(ws, word{off: uint32(off), size: 8, kind: floatPairWord})
	case reflect.Complex128:
		ws = append(ws, word{off: uint32(off), size: 8, kind: floatWord}, word{off: uint32(off) + 8, size: 8, kind: floatWord})
	case reflect.Float32, reflect.Float64:
		ws = append(ws, word{off: uint32(off), size: uint8(t.Size()), kind: floatWord})
	default:
		ws = append(ws, word{off: uint32(off), size: uint8(t.Size())})
	}
	return ws
}

// appendArray pairs 4-byte elements, so that vectors and matrices of float32 hash in half the steps.
// Pairing depends on the type only, never on padding, so it is the same on all systems.
func appendArray(ws []word, t reflect.Type, off uintptr) []word {
	elem, n := t.Elem(), uintptr(t.Len())
	i := uintptr(0)
	if k := elem.Kind(); k == reflect.Float32 || k == reflect.Int32 || k == reflect.Uint32 {
		kind := pairWord
		if k == reflect.Float32 {
			kind = floatPairWord
		}
		for ; i+1 < n; i += 2 {
			ws = append(ws, word{off: uint32(off + 4*i), size: 8, kind: kind})
		}
	}
	for ; i < n; i++ {
		ws = appendWords(ws, elem, off+i*elem.Size())
	}
	return ws
}

// Hash mixes the state of the world into h and returns the result. The state is all entities, the targets of
// relations, and all pointer-free components without padding and blank fields, in storage order. The component types
// of each archetype with entities are included, but not the values of types with pointers. Ticks, resources, events
// and pending commands are not included.
//
// For the same h, two worlds have the same Hash if they had the same operations with the same results since New, and
// have the same Config.ChunkBytes and Config.FirstChunkBytes. Registering a component type is such an operation,
// because IDs are hashed. Constructors of filters and mappers register the types that are new, in the order of their
// arguments. If filters or mappers are created in varying order, register all types first, in one place. Reset is such
// an operation, too: a world after Reset is not a new world. The Hash is the same on all 64-bit architectures. In
// components with a Go type all NaNs count as equal, because their bits differ between processors. 0 and -0 are
// different. Of a component from [World.RegisterSize] every bit counts. Hash allocates nothing and does not lock the
// world.
func (w *World) Hash(h uint64) uint64 {
	h = mix(h, uint64(w.store.index.live))
	for _, t := range w.store.tables {
		if t.tailN == 0 {
			continue
		}
		m := w.store.withoutCompanions(t.mask)
		h = hashMask(h, &m)
		if t.variants != nil {
			for i := range t.variants.relations {
				h = mix(h, uint64(t.targets[i].index)|uint64(t.targets[i].gen)<<32)
			}
		}
		h = mix(h, uint64(t.rows()))
		run, step := span{t: t}, int(t.step)
		for left := t.rows(); left > 0; left -= step {
			h = w.store.hashRows(h, &run, min(left, step))
		}
	}
	return h
}

// withoutCompanions numbers the components in m as if there were no companions.
func (r *registry) withoutCompanions(m mask) mask {
	if r.companions.empty() {
		return m
	}
	n, plain := ID(0), mask{}
	for id, c := range r.comps {
		if c.owner != nil {
			continue
		}
		if m.has(ID(id)) {
			plain = plain.with(maskBit(n))
		}
		n++
	}
	return plain
}

// hashMask mixes in the first word, and each other word that is not 0 with its number. So the value for
// a world with few types does not depend on MaxComponents.
func hashMask(h uint64, m *mask) uint64 {
	h = mix(h, m[0])
	for i, word := range m[1:] {
		if word != 0 {
			h = mix(mix(h, uint64(i)+1), word)
		}
	}
	return h
}

// hashRows mixes in the next n rows of run, column by column, and advances run. n is the row count of
// the table's smallest chunk, independent of where the rows are. So the sizes of available blocks do
// not affect the hash.
func (s *store) hashRows(h uint64, run *span, n int) uint64 {
	t, from := run.t, *run
	run.left = n
	for loc, k := run.next(); k > 0; loc, k = run.next() {
		for _, e := range s.entitiesFrom(loc, k) {
			h = mix(h, uint64(e.index)|uint64(e.gen)<<32)
		}
	}
	for i := range t.columns {
		comp, rows := t.columns[i].comp, from
		if rows.left = n; len(comp.words) == 0 { // a companion, which must not affect the hash
			continue
		}
		for loc, k := rows.next(); k > 0; loc, k = rows.next() {
			p := s.cell(loc, comp.id, comp.size)
			for row := range k {
				h = hashCell(h, unsafe.Add(p, uintptr(row)*comp.size), comp.words)
			}
		}
	}
	return h
}

// rawWords returns the bytes of a type without a Go type in groups of eight.
func rawWords(size uintptr) (ws []word) {
	for off := uintptr(0); off < size; off += 8 {
		ws = append(ws, word{off: uint32(off), size: uint8(min(size-off, 8)), kind: rawWord})
	}
	return ws
}

func hashCell(h uint64, p unsafe.Pointer, ws []word) uint64 {
	for _, w := range ws {
		q := unsafe.Add(p, uintptr(w.off))
		switch {
		case w.kind == rawWord:
			v := uint64(0) // byte by byte: independent of alignment and byte order
			for i := range w.size {
				v |= uint64(*(*byte)(unsafe.Add(q, i))) << (8 * i)
			}
			h = mix(h, v)
		case w.kind == floatPairWord:
			h = mix(h, uint64(canonical32(q))|uint64(canonical32(unsafe.Add(q, 4)))<<32)
		case w.kind == pairWord:
			h = mix(h, uint64(*(*uint32)(q))|uint64(*(*uint32)(unsafe.Add(q, 4)))<<32)
		case w.kind == floatWord && w.size == 4:
			h = mix(h, uint64(canonical32(q)))
		case w.kind == floatWord:
			h = mix(h, canonical64(q))
		case w.size == 8:
			h = mix(h, *(*uint64)(q))
		case w.size == 4:
			h = mix(h, uint64(*(*uint32)(q)))
		case w.size == 2:
			h = mix(h, uint64(*(*uint16)(q)))
		default:
			h = mix(h, uint64(*(*uint8)(q)))
		}
	}
	return h
}

// canonical32 returns the bits of a float32, equal for all NaNs.
func canonical32(p unsafe.Pointer) uint32 {
	if v := *(*float32)(p); v != v {
		return 0x7FC00000
	}
	return *(*uint32)(p)
}

func canonical64(p unsafe.Pointer) uint64 {
	if v := *(*float64)(p); v != v {
		return 0x7FF8000000000000
	}
	return *(*uint64)(p)
}

// mix mixes v into h by a full 128-bit product, so each bit of v affects each bit of h.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v^0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
	return hi ^ lo ^ bits.RotateLeft64(h, 29)
}
