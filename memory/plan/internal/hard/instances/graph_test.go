package instances

import "testing"

// What the comment of Graph says of sizes and lives, for several seeds and counts.
func TestGraph_SizesAndLivesAreAsDocumented(t *testing.T) {
	for _, n := range []int{1000, 20_000} {
		for seed := range uint64(5) {
			sizes, long, middle := map[uintptr]bool{}, 0, 0
			for i, b := range Graph(seed, n) {
				sizes[b.Size] = true
				life := b.Death - b.Birth
				if b.ID != uint32(i) || b.Align != 64 || b.Size < 64 || b.Size >= 16<<10 || life < 2 || life > n/2+n/4 && life > 31 {
					t.Fatalf("seed %d, %d buffers: %+v", seed, n, b)
				}
				switch {
				case life >= n/2:
					long++
				case life > 31:
					middle++
					if life > n/10+2 {
						t.Fatalf("seed %d, %d buffers: %+v lives for %d steps", seed, n, b, life)
					}
				}
			}
			if len(sizes) > 60 || n == 20_000 && (long < n/200 || long > n/50 || middle < n/20 || middle > n*3/20) {
				t.Errorf("seed %d: %d sizes; of %d buffers %d live long and %d for a while", seed, len(sizes), n, long, middle)
			}
		}
	}
}
