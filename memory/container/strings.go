package container

import (
	"iter"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Strings keeps each string once and gives each string a number, its id. Examples are names, paths and lines of
// dialogue. A program compares ids, stores them in components and uses them as keys instead of strings. The string of
// an id is read without a copy. The zero Strings is empty and ready; [NewStrings] sets a seed.
//
//	index   | hash, id | 0 | hash, id | ...         open addressing, by the hash of the text
//	texts   | at, n, refs | at, n, refs | ...       by id, from 1
//	pages   | hero·· | orc····· | elf····· | ...    slots of one size, from 1 byte up
//
// Id 0 is the empty string in every Strings. New ids are given in order, from 1. Each id has a count of calls of
// Intern. Each Release takes one from the count; a count of 2^32-1 does not change any more. When the count is 0, the
// string is freed, and its id is reused for a later string of similar length. After [Strings.Shrink], or if the string
// had more than 987 bytes, the id is reused for a string of any length. A program need not call Release. Strings does
// not detect the use of a released id that was reused.
//
// A string moves only in Shrink. A string of up to 987 bytes lies in a slot. The sizes of slots are the Fibonacci
// numbers from 1 to 987, and above 21 three more sizes between each two of them. A longer string has its own block. In
// addition, an id takes 12 to 24 bytes, and 11 to 22 bytes in the index; a longer string takes 24 to 48 bytes more.
// Slots of released strings are reused for strings of similar size. Shrink frees them for strings of any size, and Free
// frees all memory. The package comment shows the waste for words and sentences.
//
// A Strings has 696 bytes and no pointer. Lifetimes, errors, panics and goroutines are as for [Vec]. After Intern,
// Release, Clear, Reserve or Shrink, copies of the Strings must not be used: make copies with [Strings.Clone]. Beyond
// 3·2^28 strings, 2^20 pages, or 2^31-1 bytes in a string the error is memory.ErrTooLarge. A Strings has several blocks
// that grow one after another, so an allocator that frees newest first panics with a *memory.Misuse after a few
// strings.
type Strings struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) pages, texts and index are as a Vec is; the index is a power of two, less than full
	//	(2) every page that has a block has whole slots of one rung, or one text above the ladder, and
	//	    shares no byte with another one, nor with texts, index and the list of pages
	//	(3) the pages of a rung are chained from its first one, those without a block from spare; no
	//	    page is in two chains
	//	(4) every live text has its own slot, of the rung of its length, and every slot up to the used
	//	    ones of the page that is being cut up has a text
	//	(5) freed texts are on the list of the rung of their slot, or of bare ids if they have none,
	//	    once; live counts the others
	//	(6) every live text is in the index, once, with its hash, where a search finds it
	pages Vec[page]
	texts Vec[text]
	index Vec[link]
	seed  uint64
	live  uint32      // texts
	_     uint32      // so that the size is the same in builds that align to 4 bytes
	rungs [rungs]rung // of the ladder
	bare  uint32      // the newest dead id without a slot, or 0
	spare uint32      // the first page without a block, from 1; 0: none
}

// A page holds the texts of one rung, or one text above the ladder.
type page struct {
	off   uint64 // bytes from the base of the space
	slots uint32 // above the ladder: bytes, or 0 if the page has no block
	rung  uint16
	extra uint16 // 1 if Shrink empties the page; without a meaning after it
	next  uint32 // number of the next page of the rung, or without a block, from 1; 0: none
	_     uint32
}

// A text is what an id stands for.
type text struct {
	at   uint32 // page << slotBits | slot, or nowhere
	n    uint32 // bytes; of a dead one the next dead id, or 0
	refs uint32 // Interns that were not released; 0: dead. forever: not counted any more
}

// A link is a place in the index; the zero one is vacant.
type link struct{ hash, id uint32 }

// A rung is the state of a size of slots.
type rung struct {
	first uint32 // page, from 1; 0: none
	page  uint32 // that is being cut up, from 1
	used  uint32 // slots of it
	dead  uint32 // the newest dead id, or 0
}

const (
	slotBits = 12 // a page of 1-byte slots has 4096
	maxPages = 1 << (32 - slotBits)
	forever  = math.MaxUint32
	nowhere  = math.MaxUint32 // of a bare id: no page has so many slots, as there are only 256 texts of one byte
)

// NewStrings returns an empty Strings with a seed for its hashes. If strangers choose the strings, use a secret seed,
// as for a [Map].
func NewStrings(seed uint64) Strings { return Strings{seed: seed} }

// Len returns the number of strings, without the empty string.
func (s *Strings) Len() int { return int(s.live) }

// Lookup returns the id of t and true. If t is not interned, Lookup returns 0 and false. For the empty string it
// always returns 0 and true.
func (s *Strings) Lookup(sp *Space, t string) (id uint32, ok bool) {
	if len(t) == 0 {
		return 0, true
	}
	if s.live == 0 {
		return 0, false
	}
	id, _ = s.find(sp, t, s.hash(t))
	return id, id != 0
}

// LookupBytes is [Strings.Lookup] of a string with the bytes of t.
func (s *Strings) LookupBytes(sp *Space, t []byte) (id uint32, ok bool) {
	return s.Lookup(sp, unsafe.String(unsafe.SliceData(t), len(t)))
}

// Intern returns the id of t and adds one to the count of the id. If t is new, Intern copies it and gives it an id.
// The empty string has id 0 and no count. After a count has reached 2^32-1, Release does not free the string. If t is
// new and cannot be added, Intern returns 0 and an error as [Vec.Append] does. A failed Intern changes no string and
// no id, but may have allocated memory for later calls.
func (s *Strings) Intern(sp *Space, t string) (id uint32, err error) {
	if len(t) == 0 {
		return 0, nil
	}
	h := s.hash(t)
	if s.live > 0 {
		if id, _ := s.find(sp, t, h); id != 0 {
			if x := s.text(sp, id); x.refs != forever {
				x.refs++
			}
			return id, nil
		}
	}
	return s.add(sp, t, h)
}

// InternBytes is [Strings.Intern] for a string with the bytes of t. The errors are those of Intern. The slice t may
// change afterwards.
func (s *Strings) InternBytes(sp *Space, t []byte) (id uint32, err error) {
	return s.Intern(sp, unsafe.String(unsafe.SliceData(t), len(t)))
}

// Text returns the string of an id, or "" if the id is 0 or has no string. The string is no copy. It is valid until a
// Release makes the count 0, until Shrink, Clear or Free, or until the allocator frees the blocks. To keep the string
// longer, copy it with strings.Clone.
func (s *Strings) Text(sp *Space, id uint32) string {
	if uint(id-1) >= uint(s.texts.n) {
		return ""
	}
	x := s.text(sp, id)
	if x.refs == 0 {
		return ""
	}
	return unsafe.String((*byte)(s.where(sp, x.at)), int(x.n))
}

// Refs returns the count of an id: the number of calls of Intern without a Release, at most 2^32-1. If the id has no
// string, Refs returns 0. For id 0, the empty string, Refs always returns 1.
func (s *Strings) Refs(sp *Space, id uint32) uint32 {
	if id == 0 {
		return 1
	}
	if uint(id-1) >= uint(s.texts.n) {
		return 0
	}
	return s.text(sp, id).refs
}

// Release takes one from the count of id, unless the count is 2^32-1. If the count is then 0, Release frees the
// string, and the id can be reused. Release of id 0 does nothing. Release panics with a *memory.Misuse if id has no
// string. If the id was reused, Release takes one from the count of the new string. If the allocator panics, nothing
// has changed.
func (s *Strings) Release(sp *Space, id uint32) {
	if id == 0 {
		return
	}
	if uint(id-1) >= uint(s.texts.n) || s.text(sp, id).refs == 0 {
		panic(&memory.Misuse{Package: "container", Op: "Strings.Release", Addr: uintptr(id), Reason: "the id has no text: released too often, or of another Strings"})
	}
	switch x := s.text(sp, id); x.refs {
	case forever:
	case 1:
		s.drop(sp, id)
	default:
		x.refs--
	}
}

// All returns an iterator over ids and strings, in the order of the ids, without the empty string. The loop may intern
// and release strings. Strings that it interns may be visited. Strings that it releases before their turn are not
// visited.
func (s *Strings) All(sp *Space) iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for id := uint32(1); id <= s.texts.n; id++ {
			if s.text(sp, id).refs != 0 && !yield(id, s.Text(sp, id)) {
				return
			}
		}
	}
}

// Clear removes every string and keeps the memory, except the blocks of strings above 987 bytes. Ids begin at 1
// again. If the allocator panics, some strings are removed and the other strings are unchanged; another Clear
// continues. If the Strings has memory and its allocator is closed, Clear panics with a *memory.Misuse. Clear also
// panics if the Strings was overwritten, as far as its bytes or the allocator's metadata show it.
func (s *Strings) Clear(sp *Space) {
	sp.idle()
	s.mustBeSound()
	if s.texts.cap|s.pages.cap|s.index.cap == 0 {
		return // without a block, also where the allocator is closed
	}
	s.mustBeBlocks(sp)
	for id := s.texts.n; id > 0; id-- {
		if s.mustHavePage(s.text(sp, id)) && s.page(sp, s.text(sp, id).at).rung == large {
			s.drop(sp, id)
		}
	}
	s.live, s.bare = 0, 0
	s.texts.Clear()
	clear(s.index.Slice(sp))
	for k := range s.rungs {
		s.rungs[k] = rung{first: s.rungs[k].first, page: s.rungs[k].first}
	}
	s.chainSpare(sp)
}

// mustHavePage reports whether a text is live, and panics if its page does not exist.
func (s *Strings) mustHavePage(x *text) (live bool) {
	if x.at>>slotBits >= s.pages.n && (x.refs != 0 || x.at != nowhere) {
		panic(ruined("Strings", "a text is on a page that is not there"))
	}
	return x.refs != 0
}

// mustBeBlocks panics if the allocator records no blocks of the ids, the pages and the index. It is called before they
// are read to free others.
func (s *Strings) mustBeBlocks(sp *Space) {
	sp.mustBeBlock(s.texts.off, uintptr(s.texts.cap)*unsafe.Sizeof(text{}))
	sp.mustBeBlock(s.pages.off, uintptr(s.pages.cap)*unsafe.Sizeof(page{}))
	sp.mustBeBlock(s.index.off, uintptr(s.index.cap)*unsafe.Sizeof(link{}))
	sp.mustLive() // in every build
}

// mustBeSound panics if the header of the Strings was overwritten, as far as the header alone shows it. It is called
// before the blocks are read.
func (s *Strings) mustBeSound() {
	s.pages.mustBeSound()
	s.texts.mustBeSound()
	s.index.mustBeSound()
	n := s.index.n
	noBlock(n&(n-1) != 0 || s.live > n-n/4 || s.live > s.texts.n || s.pages.n > maxPages, "Strings")
}

// Free frees all memory and leaves the Strings empty and ready. The Strings keeps its seed. Free panics as
// [Strings.Clear] does. If the allocator panics, some strings may be removed, but no block is lost, and another Free
// continues.
func (s *Strings) Free(sp *Space) {
	s.Clear(sp)
	s.rungs = [rungs]rung{} // from here on it is empty, also when some pages are left
	s.index.Free(sp)
	s.texts.Free(sp)
	for s.pages.n > 0 {
		p := s.pages.slot(sp, int(s.pages.n-1))
		sp.free(p.off, p.bytes())
		if s.spare == s.pages.n { // Clear has chained them last to first
			s.spare = p.next
		}
		s.pages.n--
	}
	s.pages.Free(sp)
	s.Forget()
}

// Forget leaves the Strings empty and ready without freeing the memory. The Strings keeps its seed. Call Forget after
// the allocator was reset.
func (s *Strings) Forget() { *s = Strings{seed: s.seed} }

// Bytes returns the numbers of bytes in the blocks of the Strings. The result texts counts the strings and the waste
// of slots and pages. The result metadata counts the ids, the index and the list of pages.
func (s *Strings) Bytes(sp *Space) (texts, metadata uint64) {
	for _, p := range s.pages.Slice(sp) {
		texts += uint64(p.bytes())
	}
	return texts, uint64(s.pages.cap)*uint64(unsafe.Sizeof(page{})) +
		uint64(s.texts.cap)*uint64(unsafe.Sizeof(text{})) + uint64(s.index.cap)*uint64(unsafe.Sizeof(link{}))
}
