package ecs

import (
	"iter"
	"math/bits"
	"strconv"
)

const (
	// MaxComponents is the largest number of component types of a world. A type that World.Track tracks
	// counts as two.
	MaxComponents = 256

	maskWords = MaxComponents / 64
)

// A mask is a set of component types, the key of an archetype. Code that runs per entity uses IDs and
// transitions instead, because a mask does not fit a register.
type mask [maskWords]uint64

// maskBit returns the set of one component.
func maskBit(id ID) (m mask) {
	m[id>>6] = 1 << (id & 63)
	return m
}

// has reports whether id is in the set.
func (m *mask) has(id ID) bool { return m[id>>6]>>(id&63)&1 != 0 }

// with returns the union.
func (m mask) with(other mask) mask {
	return mask{m[0] | other[0], m[1] | other[1], m[2] | other[2], m[3] | other[3]}
}

// without returns what is in m and not in other.
func (m mask) without(other mask) mask {
	return mask{m[0] &^ other[0], m[1] &^ other[1], m[2] &^ other[2], m[3] &^ other[3]}
}

// and returns the intersection.
func (m mask) and(other mask) mask {
	return mask{m[0] & other[0], m[1] & other[1], m[2] & other[2], m[3] & other[3]}
}

// all reports whether m contains other.
func (m *mask) all(other *mask) bool {
	return other[0]&^m[0]|other[1]&^m[1]|other[2]&^m[2]|other[3]&^m[3] == 0
}

// any reports whether m and other intersect.
func (m *mask) any(other *mask) bool {
	return m[0]&other[0]|m[1]&other[1]|m[2]&other[2]|m[3]&other[3] != 0
}

// empty reports whether the set is empty.
func (m *mask) empty() bool { return m[0]|m[1]|m[2]|m[3] == 0 }

// only returns the component by which m and other differ, or false if they do not differ by exactly
// one.
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

// ids ranges over the components in order of registration.
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

// below reports whether all components are among the first n.
func (m mask) below(n int) bool {
	for id := range m.ids() {
		if int(id) >= n {
			return false
		}
	}
	return true
}

// lowest returns the components among the first n.
func (m mask) lowest(n int) mask {
	for i := range m {
		if left := n - i*64; left < 64 {
			m[i] &= 1<<max(left, 0) - 1
		}
	}
	return m
}

// String returns the set as one hexadecimal number; bit i is component i.
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
