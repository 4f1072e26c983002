package container

import "unsafe"

// minIndex is the least size of an index that is not empty: a cache line.
const minIndex = 8

// hash returns the 32 bits of a text's hash that the index keeps.
func (s *Strings) hash(t string) uint32 {
	return uint32(hashBytes(unsafe.Pointer(unsafe.StringData(t)), uintptr(len(t)), s.seed) >> 32)
}

// find returns the id of a text with hash h and its place in the index; 0 where it is not
// there. It ends also where, against the invariants, no place is vacant. There is an index.
func (s *Strings) find(sp *Space, t string, h uint32) (id, at uint32) {
	mask := s.index.n - 1
	links := s.index.Slice(sp)
	for i := range s.index.n {
		at = (h + i) & mask
		l := links[at]
		if l.id == 0 {
			return 0, at
		}
		if l.hash == h && s.Text(sp, l.id) == t {
			return l.id, at
		}
	}
	return 0, 0
}

// widen makes the index large enough for one more id: at most three quarters of it are taken.
func (s *Strings) widen(sp *Space) error {
	if s.live < s.index.n-s.index.n/4 {
		return nil
	}
	return s.rehash(sp, max(2*uintptr(s.index.n), minIndex))
}

// rehash moves the ids to an index of another size, a power of two.
func (s *Strings) rehash(sp *Space, size uintptr) error {
	bytes, err := bytesOf(int(size), unsafe.Sizeof(link{}))
	if err != nil {
		return err
	}
	off, err := sp.alloc(bytes, unsafe.Alignof(link{}))
	if err != nil {
		return err
	}
	old := s.index
	next := Vec[link]{off: off, n: uint32(size), cap: uint32(size)}
	to := next.Slice(sp)
	for _, l := range old.Slice(sp) {
		if l.id != 0 {
			enter(to, l)
		}
	}
	s.index = next
	sp.replace(old.off, uintptr(old.cap)*unsafe.Sizeof(link{}), off, bytes, func() bool {
		if s.live > old.n-old.n/4 {
			return false
		}
		to := old.Slice(sp)
		clear(to)
		for _, l := range s.index.Slice(sp) {
			if l.id != 0 {
				enter(to, l)
			}
		}
		s.index = old
		return true
	})
	return nil
}

// enter puts a link into the first vacant place from its home on; there is one.
func (s *Strings) enter(sp *Space, l link) { enter(s.index.Slice(sp), l) }

func enter(links []link, l link) {
	mask := uint32(len(links) - 1)
	for i := range links {
		if at := (l.hash + uint32(i)) & mask; links[at].id == 0 {
			links[at] = l
			return
		}
	}
	panic(ruined("Strings", "no place of the index is vacant"))
}

// leave vacates a place of the index: what follows up to the next vacant one moves into the gap
// where that is not in front of its home.
func (s *Strings) leave(sp *Space, at uint32) {
	links := s.index.Slice(sp)
	mask := uint32(len(links) - 1)
	i := at
	for range mask {
		i = (i + 1) & mask
		if links[i].id == 0 {
			break
		}
		if (i-links[i].hash)&mask >= (i-at)&mask {
			links[at] = links[i]
			at = i
		}
	}
	links[at] = link{}
}
