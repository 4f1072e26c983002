package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// order sorts candidates so that every prefix is a sample spread over files and operators in proportion to their
// candidates. Candidates of one file and operator are ordered by a hash. The i-th is then placed at (i + shift) /
// count, with a shift for each file and operator.
//
// Hashes of keys decide, not a random sequence: when a line is added elsewhere most of the sample stays.
func order(all []*mutant, seed uint64) []*mutant {
	strata := map[string][]*mutant{}
	for _, m := range all {
		name := m.file + " " + m.op
		strata[name] = append(strata[name], m)
	}
	place := map[*mutant]float64{}
	for name, ms := range strata {
		slices.SortFunc(ms, func(a, b *mutant) int {
			return cmp.Or(cmp.Compare(draw(seed, a.key()), draw(seed, b.key())), cmp.Compare(a.key(), b.key()))
		})
		shift := draw(seed, name)
		for i, m := range ms {
			place[m] = (float64(i) + shift) / float64(len(ms))
		}
	}
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b *mutant) int {
		return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(a.key(), b.key()))
	})
	return out
}

// draw is a number in [0, 1) that depends on nothing but its arguments.
func draw(seed uint64, text string) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, text))
	return float64(binary.LittleEndian.Uint64(sum[:])>>11) / (1 << 53)
}
