package ecs

import (
	"iter"
	"math/bits"
	"strconv"
)

const (
	// MaxComponents is the number of component types that one world can hold: an ID is a byte,
	// and the key of an archetype is four machine words, which map look-ups hash at once.
	MaxComponents = 256

	maskWords = MaxComponents / 64
)

// A mask is a set of component types. It is what keys an archetype; the paths that run per
// entity look at IDs and at edges instead, because a mask does not fit a register.
type mask [maskWords]uint64

// maskBit returns the set of one component.
func maskBit(id ID) (m mask) {
	m[id>>6] = 1 << (id & 63)
	return m
}

// has reports whether id is in the set.
func (m *mask) has(id ID) bool { return m[id>>6]>>(id&63)&1 != 0 }

// with returns what is in m, in other or in both.
func (m mask) with(other mask) mask {
	return mask{m[0] | other[0], m[1] | other[1], m[2] | other[2], m[3] | other[3]}
}

// without returns what is in m and not in other.
func (m mask) without(other mask) mask {
	return mask{m[0] &^ other[0], m[1] &^ other[1], m[2] &^ other[2], m[3] &^ other[3]}
}

// and returns what is in both.
func (m mask) and(other mask) mask {
	return mask{m[0] & other[0], m[1] & other[1], m[2] & other[2], m[3] & other[3]}
}

// all reports whether everything in other is in m.
func (m *mask) all(other *mask) bool {
	return other[0]&^m[0]|other[1]&^m[1]|other[2]&^m[2]|other[3]&^m[3] == 0
}

// any reports whether something in other is in m.
func (m *mask) any(other *mask) bool {
	return m[0]&other[0]|m[1]&other[1]|m[2]&other[2]|m[3]&other[3] != 0
}

// empty reports whether nothing is in the set.
func (m *mask) empty() bool { return m[0]|m[1]|m[2]|m[3] == 0 }

// only returns the one component by which m and other differ; false where it is not one.
func (m *mask) only(other *mask) (id ID, ok bool) {
	n := 0
	for i := range m {
		if diff := m[i] ^ other[i]; diff != 0 {
			id = ID(i*64 + bits.TrailingZeros64(diff))
			n += bits.OnesCount64(diff)
		}
	}
	return id, n == 1
}

// ids ranges over the components in the set, in order of registration.
func (m mask) ids() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, word := range m {
			for ; word != 0; word &= word - 1 {
				if !yield(ID(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// below reports whether all components in the set are among the first n.
func (m mask) below(n int) bool {
	for id := range m.ids() {
		if int(id) >= n {
			return false
		}
	}
	return true
}

// String prints the set as one hexadecimal number, bit i for component i.
func (m mask) String() string {
	n := maskWords - 1
	for n > 0 && m[n] == 0 {
		n--
	}
	s := "0x" + strconv.FormatUint(m[n], 16)
	for n--; n >= 0; n-- {
		word := strconv.FormatUint(m[n], 16)
		s += "0000000000000000"[len(word):] + word
	}
	return s
}
