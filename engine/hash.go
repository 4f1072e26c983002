package engine

import (
	"math"
	"unsafe"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/memory/save"
)

// The constants of FNV-1a with 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// A Hasher computes a 64-bit hash of a simulation's state. The hash is FNV-1a on words of 64 bits with an additional
// shift. A Hasher does not resist deliberate collisions. The zero Hasher is ready to use, by one goroutine at a
// time. The hash depends on the order of the calls, so add the state in a fixed order.
type Hasher struct {
	sum uint64 // XOR fnvOffset, so that the zero Hasher starts right
}

// Uint64 adds v.
func (h *Hasher) Uint64(v uint64) {
	s := (h.sum ^ fnvOffset ^ v) * fnvPrime
	h.sum = s ^ s>>32 ^ fnvOffset
}

// Int adds v.
func (h *Hasher) Int(v int) { h.Uint64(uint64(int64(v))) }

// Bool adds 1 if v is true, and 0 otherwise.
func (h *Hasher) Bool(v bool) {
	var n uint64
	if v {
		n = 1
	}
	h.Uint64(n)
}

// Float32 adds the bits of v. Processors produce NaNs with different bits, so every NaN adds the same fixed bits. 0
// and -0 differ.
func (h *Hasher) Float32(v float32) { h.Uint64(uint64(canonical(v))) }

// Vec2 adds both components in one step. Every NaN adds the same fixed bits. Two calls of Float32 give another hash
// than one call of Vec2.
func (h *Hasher) Vec2(v mgl32.Vec2) {
	h.Uint64(uint64(canonical(v[0]))<<32 | uint64(canonical(v[1])))
}

func canonical(v float32) uint32 {
	if v != v {
		return 0x7FC00000
	}
	return math.Float32bits(v)
}

// Bytes adds save.Hash(b): it depends on the bytes and on their number. Bytes is several times faster than
// [Hasher.Uint64] for each word. Two calls for the halves of b give another hash than one call for b. Do not pass the
// memory of a struct with padding: the bytes of the padding are unspecified.
func (h *Hasher) Bytes(b []byte) { h.Uint64(save.Hash(b)) }

// String adds s as Bytes([]byte(s)) does.
func (h *Hasher) String(s string) { h.Bytes(unsafe.Slice(unsafe.StringData(s), len(s))) }

// Sum returns the hash of everything added since the last Reset.
func (h *Hasher) Sum() uint64 { return h.sum ^ fnvOffset }

// Reset makes h equal to the zero Hasher.
func (h *Hasher) Reset() { h.sum = 0 }
