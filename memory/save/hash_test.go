package save_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

// numbers returns n bytes that depend on nothing but n's order.
func numbers(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestHash_Golden(t *testing.T) {
	b := numbers(1000)
	for n, want := range map[int]uint64{0: 0x4fc1ec7b18a104ab, 1: 0xbe9b36cb7bd1748f, 63: 0x9ddc69dd2f5556b8, 64: 0x6bdd22622477328d, 65: 0xbb366da5cc0e055e,
		1000: 0x5ec21803f3624ee3,
	} {
		if got := save.Hash(b[:n]); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

// slowHash is the definition again: word by word, with its own product of 32-bit halves.
func slowHash(b []byte) uint64 {
	k := [4]uint64{0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3}
	fold := func(a, b uint64) uint64 {
		al, ah, bl, bh := a&(1<<32-1), a>>32, b&(1<<32-1), b>>32
		mid := al*bl>>32 + ah*bl&(1<<32-1) + al*bh&(1<<32-1)
		return a*b ^ (ah*bh + ah*bl>>32 + al*bh>>32 + mid>>32)
	}
	word := func(i int) (w uint64) {
		for j := range 8 {
			if 8*i+j < len(b) {
				w |= uint64(b[8*i+j]) << (8 * j)
			}
		}
		return w
	}
	l := [4]uint64{k[1], k[2], k[3], k[0]}
	for i := 0; 64*i < len(b); i++ {
		for j := range l {
			l[j] = fold(word(8*i+2*j)^k[j], word(8*i+2*j+1)^l[j])
		}
	}
	return fold(fold(l[0], l[1])^uint64(len(b)), fold(l[2], l[3])^k[1])
}

func TestHash_IsItsDefinitionAtEveryLengthAndAddress(t *testing.T) {
	b := numbers(400)
	for n := range 330 {
		if at := n % 9; save.Hash(b[at:at+n]) != slowHash(b[at:at+n]) {
			t.Fatalf("%d bytes at %d: %#x, want %#x", n, at, save.Hash(b[at:at+n]), slowHash(b[at:at+n]))
		}
	}
}

func TestHash_LengthsOfEqualBytesDiffer(t *testing.T) {
	for _, fill := range []byte{0, 1, 0xFF} {
		b := make([]byte, 300)
		for i := range b {
			b[i] = fill
		}
		seen := map[uint64]int{}
		for n := range len(b) + 1 {
			h := save.Hash(b[:n])
			if other, twice := seen[h]; twice {
				t.Fatalf("%d and %d bytes of %#x have the same hash", other, n, fill)
			}
			seen[h] = n
		}
	}
}

// A flipped bit flips 32 of the 64 bits on average, and at least 10 of them.
func TestHash_FlippedBitFlipsHalf(t *testing.T) {
	for _, n := range []int{1, 8, 17, 64, 100, 300} {
		for name, b := range map[string][]byte{"zeros": make([]byte, n), "numbers": numbers(n)} {
			first, sum, least := save.Hash(b), 0, 64
			for i := range 8 * n {
				b[i/8] ^= 1 << (i % 8)
				k := bits.OnesCount64(save.Hash(b) ^ first)
				b[i/8] ^= 1 << (i % 8)
				sum += k
				least = min(least, k)
			}
			if mean := float64(sum) / float64(8*n); least < 10 || mean < 29 || mean > 35 {
				t.Errorf("%d %s: a bit flips %.1f bits on average, and at least %d", n, name, mean, least)
			}
		}
	}
}

func TestHash_PermutedBlocksAndLanesDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, size := range []int{8, 16, 64} {
		b := numbers(size * 8)
		for i := range 8 {
			for j := range i {
				p := append([]byte(nil), b...)
				copy(p[size*i:], b[size*j:size*j+size])
				copy(p[size*j:], b[size*i:size*i+size])
				name, h := fmt.Sprintf("pieces %d and %d of %d bytes", j, i, size), save.Hash(p)
				if other, twice := seen[h]; twice || h == save.Hash(b) {
					t.Errorf("%s exchanged: the same hash as %q", name, cmp.Or(other, "before"))
				}
				seen[h] = name
			}
		}
	}
}

func TestHash_CountersDoNotCollide(t *testing.T) {
	seen := make(map[uint64]bool, 1<<16)
	b := make([]byte, 72)
	for i := range uint64(1 << 12) {
		for _, at := range []int{0, 8, 32, 56, 64} {
			clear(b)
			binary.LittleEndian.PutUint64(b[at:], i+1)
			if h := save.Hash(b); seen[h] {
				t.Fatalf("%d at %d collides", i+1, at)
			} else {
				seen[h] = true
			}
		}
	}
}

// benchmark: the hash of a block, beside copy.
func BenchmarkHash(b *testing.B) {
	for _, size := range []int{64, 4 << 10, 64 << 10, 1 << 20, 4 << 20} {
		from, to := numbers(size), make([]byte, size)
		for name, f := range map[string]func(){"copy": func() { copy(to, from) }, "hash": func() { sink = save.Hash(from) }} {
			b.Run(fmt.Sprintf("bytes=%d/op=%s", size, name), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					f()
				}
			})
		}
	}
}

var sink uint64
