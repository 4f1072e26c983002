package tlsf

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/align"
)

func TestBins_BoundsAgree(t *testing.T) {
	for n := uint32(1); n < 1<<20; n += 1 + n>>9 {
		b := binAbove(n)
		if binSize(b) < n || b > 1 && binSize(b-1) >= n || binOf(binSize(b)) != b {
			t.Fatalf("%d granules: bin %d from %d on", n, b, binSize(b))
		}
		if low := binOf(n); binSize(low) > n || binSize(low+1) <= n {
			t.Fatalf("%d granules: in bin %d from %d to %d", n, low, binSize(low), binSize(low+1))
		}
		if b != binOf(n) && b != binOf(n)+1 {
			t.Fatalf("%d granules: in bin %d, served from bin %d", n, binOf(n), b)
		}
		if waste := binSize(b) - n; n >= binsPer && waste*binsPer >= binSize(b) {
			t.Fatalf("%d granules: a whole bin wastes %d", n, waste)
		}
	}
	if b := binAbove(align.MaxGrains); b >= binCount {
		t.Errorf("the largest size has bin %d of %d", b, binCount)
	}
}
