package save

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Hash returns a 64-bit hash of b and its length. The hash is the same on every architecture. Deliberate collisions are
// easy. Hash allocates nothing.
func Hash(b []byte) uint64 {
	l := start
	return l.sum(l.blocks(b), len(b))
}

const laneBlock = 64 // bytes: two words for each lane

// lanes is the state of a hash between two blocks of 64 bytes.
//
//	block | w0 w1 | w2 w3 | w4 w5 | w6 w7 |
//	       lane 0  lane 1  lane 2  lane 3
type lanes [4]uint64

// The constants of wyhash, final version 4: odd, with 32 set bits and no pattern. Without them the product of zeros would
// be zero.
const (
	lane0 = 0xa0761d6478bd642f
	lane1 = 0xe7037ed1a0b428db
	lane2 = 0x8ebc6af09c88c6e3
	lane3 = 0x589965cc75374cc3
)

// Each lane starts with the constant of the next one: with its own, exchanging its first two words would not change it.
var start = lanes{lane1, lane2, lane3, lane0}

// blocks adds the whole blocks of b and returns the rest.
//
// The loop tests its end after a block, and counts blocks: the compiler then keeps the lanes in registers and reads the
// words where it uses them. A loop over slices takes 1.4 times as long.
func (l *lanes) blocks(b []byte) []byte {
	n := len(b) / laneBlock
	if n == 0 {
		return b
	}
	rest := b[n*laneBlock:]
	l0, l1, l2, l3 := l[0], l[1], l[2], l[3]
	for p := unsafe.Pointer(unsafe.SliceData(b)); ; p = unsafe.Add(p, laneBlock) {
		w := (*[laneBlock]byte)(p)
		l0 ^= binary.LittleEndian.Uint64(w[8:])
		l1 ^= binary.LittleEndian.Uint64(w[24:])
		l2 ^= binary.LittleEndian.Uint64(w[40:])
		l3 ^= binary.LittleEndian.Uint64(w[56:])
		l0 = fold(binary.LittleEndian.Uint64(w[0:])^lane0, l0)
		l1 = fold(binary.LittleEndian.Uint64(w[16:])^lane1, l1)
		l2 = fold(binary.LittleEndian.Uint64(w[32:])^lane2, l2)
		l3 = fold(binary.LittleEndian.Uint64(w[48:])^lane3, l3)
		if n--; n == 0 {
			break
		}
	}
	*l = lanes{l0, l1, l2, l3}
	return rest
}

// sum returns the hash of n bytes, of which rest are not added yet. The rest is padded with zeros, which the length
// distinguishes from zeros of the input.
func (l *lanes) sum(rest []byte, n int) uint64 {
	if len(rest) > 0 {
		var last [laneBlock]byte
		copy(last[:], rest)
		l.blocks(last[:])
	}
	return fold(fold(l[0], l[1])^uint64(n), fold(l[2], l[3])^lane1)
}

// fold returns the upper half XOR the lower half of the product. Each bit of a and b reaches all bits of the result,
// unless the other one is 0.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

const (
	// copyBlock is how much is hashed and then copied: it stays in the first-level cache with its copy. Blocks of 16 KiB do
	// not. Copying and hashing 64 bytes at a time is slower.
	copyBlock = 4 << 10

	// smallState is the size of a state from which on Save copies in blocks. With blocks a state of 95 or 180 KiB took
	// longer by .07 of a copy, and one of 300 KiB as long.
	smallState = 256 << 10

	// pastCaches is the size from which on Go's copy writes past the caches on amd64. So large blocks are copied at once.
	pastCaches = 1 << 20
)

// block returns how many of the next n bytes are copied at once.
func block(n int) int {
	switch {
	case n >= 2*pastCaches:
		return pastCaches
	case n >= pastCaches:
		return n
	}
	return min(n, copyBlock)
}

// copyHashed copies b to at, and hashes it. Each block is hashed first, which brings it into the caches. Pieces below 1
// KiB are hashed together, after they were copied.
func (c *Coder) copyHashed(at int, b []byte) {
	for len(b) >= copyBlock/4 {
		n := block(len(b))
		head := -(at - c.hashed) & (laneBlock - 1)
		copy(c.buf[at:], b[:head])
		c.lanes.blocks(c.buf[c.hashed : at+head])
		rest := c.lanes.blocks(b[head:n])
		c.touched = c.buf[at+n-1]
		copy(c.buf[at:], b[:n])
		at, b = at+n, b[n:]
		c.hashed = at - len(rest)
	}
	at += copy(c.buf[at:], b)
	if at-c.hashed >= copyBlock {
		rest := c.lanes.blocks(c.buf[c.hashed:at])
		c.hashed = at - len(rest)
	}
}

// hash returns the hash of all that was saved in buf.
func (c *Coder) hash(buf []byte) uint64 {
	return c.lanes.sum(c.lanes.blocks(buf[c.hashed:]), len(buf))
}
