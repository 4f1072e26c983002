package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A block of a cut rectangle: ticks [t0, t1), units [m0, m1).
type block struct{ t0, t1, m0, m1 int }

// cut makes an instance whose optimum is known: a rectangle of time and memory is cut into n
// blocks, which therefore fill it without a hole, and the blocks' places are forgotten. One
// cut in three is a pinwheel, which no sequence of straight cuts makes. With drop, that many
// of a hundred blocks are left out afterwards, as long as some moment stays full.
func cut(seed uint64, n, drop int) (buffers []Buffer, optimum uintptr) {
	const ticks, units = 4000, 1 << 20
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	blocks := []block{{0, ticks, 0, units}}
	for tries := 0; len(blocks) < n && tries < 100*n; tries++ {
		// The largest of three keeps the sizes within a few orders of magnitude.
		k := r.IntN(len(blocks))
		for range 2 {
			if o := r.IntN(len(blocks)); area(blocks[o]) > area(blocks[k]) {
				k = o
			}
		}
		kind := r.IntN(3)
		if tries == 0 {
			kind = 0 // a straight cut would leave two instances
		}
		if parts := divide(r, blocks[k], kind, n-len(blocks) >= 4); parts != nil {
			blocks = append(append(blocks[:k:k], blocks[k+1:]...), parts...)
		}
	}
	full := r.IntN(ticks)
	for _, b := range blocks {
		if drop > 0 && (full < b.t0 || full >= b.t1) && r.IntN(100) < drop {
			continue
		}
		buffers = append(buffers, Buffer{Size: uintptr(b.m1 - b.m0), Align: 1, Birth: b.t0, Death: b.t1})
	}
	r.Shuffle(len(buffers), func(i, j int) { buffers[i], buffers[j] = buffers[j], buffers[i] })
	for i := range buffers {
		buffers[i].ID = uint32(i)
	}
	return buffers, units
}

func area(b block) int { return (b.t1 - b.t0) * (b.m1 - b.m0) }

// divide cuts a block in two or, as a pinwheel, in five; nil where it is too small.
func divide(r *rand.Rand, b block, kind int, pinwheel bool) []block {
	w, h := b.t1-b.t0, b.m1-b.m0
	switch kind {
	case 0:
		if !pinwheel || w < 8 || h < 8 {
			return nil
		}
		x0, x1 := b.t0+1+r.IntN(w/2-1), b.t0+w/2+1+r.IntN(w/2-1)
		y0, y1 := b.m0+1+r.IntN(h/2-1), b.m0+h/2+1+r.IntN(h/2-1)
		return []block{
			{b.t0, x1, b.m0, y0}, {x1, b.t1, b.m0, y1}, {x0, b.t1, y1, b.m1}, {b.t0, x0, y0, b.m1}, {x0, x1, y0, y1},
		}
	case 1:
		if w < 4 {
			return nil
		}
		x := b.t0 + 1 + r.IntN(w-1)
		return []block{{b.t0, x, b.m0, b.m1}, {x, b.t1, b.m0, b.m1}}
	default:
		if h < 4 {
			return nil
		}
		y := b.m0 + 1 + r.IntN(h-1)
		return []block{{b.t0, b.t1, b.m0, y}, {b.t0, b.t1, y, b.m1}}
	}
}

func TestCut_TheBoundIsTheOptimum(t *testing.T) {
	for _, n := range []int{5, 50, 450} {
		for _, drop := range []int{0, 15} {
			buffers, optimum := cut(1, n, drop)
			p, err := Fast(buffers)
			if err != nil {
				t.Fatal(err)
			}
			if p.Bound() != optimum || drop == 0 && p.Len() != n {
				t.Errorf("n=%d drop=%d: bound %d of %d, %d buffers", n, drop, p.Bound(), optimum, p.Len())
			}
		}
	}
}

// What is reached within a number of steps, the same on every machine. A row that gets worse
// fails; -v prints what is reached.
func TestExact_RatioOnInstancesWithKnownOptimum(t *testing.T) {
	for _, c := range hardRows {
		t.Run(fmt.Sprintf("n=%d/drop=%d/seed=%d", c.n, c.drop, c.seed), func(t *testing.T) {
			if c.n > 200 && testenv.Brief() {
				t.Skip("a few seconds each")
			}
			buffers, _ := cut(c.seed, c.n, c.drop)
			fast, err := Fast(buffers)
			if err != nil {
				t.Fatal(err)
			}
			p, proof, err := Exact(buffers, Limits{Steps: 400_000})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("fast %.4f, exact %.4f in %v: %v", fast.Ratio(), p.Ratio(), proof.Elapsed, proof)
			if p.Ratio() > c.ratio {
				t.Errorf("ratio %.4f; want at most %.4f", p.Ratio(), c.ratio)
			}
		})
	}
}

var hardRows = []struct {
	n, drop int
	seed    uint64
	ratio   float64
}{
	{150, 0, 1, 1}, {150, 0, 2, 1}, {150, 15, 1, 1}, {150, 30, 2, 1},
	{300, 0, 1, 1}, {300, 15, 2, 1.12}, {300, 30, 3, 1},
	{450, 0, 1, 1.23}, {450, 15, 2, 1.09}, {450, 30, 3, 1.06},
}
