package container

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

// A chosen key has the hash that its two last words give it: the first word takes the second one out of the hash, for
// tables of one size.
type chosen [4]uint64

// choose returns keys for tables of 2^b slots: 40 with one hash, 20 with one home and one control byte, and 20 with one
// home. Then follow 20 with one control byte, 30 whose homes are the first and the last group, and 30 more.
func choose(r *rand.Rand, m *Map[chosen, uint64], b uint8) (keys []chosen) {
	salt := saltOf(m.seed, b)
	t := table[chosen, uint64]{salt: salt, shift: 64 - uint64(b)}
	veil, last := salt*mult2^mult1, maskOf(t)&^7
	home, ctrl := uint64(r.IntN(1<<b))&^7, uint8(r.Uint32())|taken
	find := func(n int, fits func(h uint64) bool) {
		for len(keys) < n {
			k := chosen{veil, r.Uint64(), r.Uint64(), r.Uint64()}
			for ; !fits(hashKey(&k, salt)); k[3]++ {
			}
			keys = append(keys, k)
		}
	}
	find(1, func(uint64) bool { return true })
	for i := range uint64(39) {
		k := keys[0]
		k[1] += i + 1
		keys = append(keys, k)
	}
	find(60, func(h uint64) bool { return homeOf(t, h) == home && ctrlOf(t, h) == ctrl })
	find(80, func(h uint64) bool { return homeOf(t, h) == home })
	find(100, func(h uint64) bool { return ctrlOf(t, h) == ctrl })
	find(130, func(h uint64) bool { return homeOf(t, h) == 0 || homeOf(t, h) == last })
	find(160, func(uint64) bool { return true })
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// byDefinition returns the table that m must have, built in the order of a Go map and by openFar alone.
func byDefinition(t *testing.T, sp *Space, m *Map[chosen, uint64], model map[chosen]uint64) string {
	t.Helper()
	d := Map[chosen, uint64]{seed: m.seed}
	must(t, d.rebuild(sp, m.bits))
	defer d.Free(sp)
	to := d.table(sp)
	for k, v := range model {
		h := hashKey(&k, d.salt)
		*openFar(to, &k, h, homeOf(to, h)) = entry[chosen, uint64]{k, v}
		d.n++
	}
	return bytesOfMap(sp, &d)
}

// No choice of hashes makes a Map lose an entry, or makes its bytes depend on history, not even keys with one hash.
func TestMap_KeysWithChosenHashes(t *testing.T) {
	_, sp := heap(t)
	for seed := range uint64(max(memtest.Rounds(3), 1)) {
		for b := uint8(minBits); b <= 8; b++ {
			r := rand.New(rand.NewPCG(seed, uint64(b)))
			m := NewMap[chosen, uint64](r.Uint64())
			must(t, m.rebuild(sp, b))
			keys, model := choose(r, &m, b), map[chosen]uint64{}
			for step := range 800 {
				what, k, v := fmt.Sprintf("seed %d, 2^%d slots, step %d", seed, b, step), keys[r.IntN(len(keys))], r.Uint64()
				switch op := r.IntN(100); {
				case op < 55 && len(model) < m.Cap() || op == 99: // the last one may grow
					must(t, m.Set(sp, k, v))
					model[k] = v
				case op < 95:
					if _, had := model[k]; m.Delete(sp, k) != had {
						t.Fatalf("%s: Delete: %t", what, !had)
					}
					delete(model, k)
				case op < 97:
					seen := map[chosen]uint64{}
					was := maps.Clone(model)
					for k, v := range m.All(sp) {
						if _, twice := seen[k]; twice {
							t.Fatalf("%s: an entry was visited twice", what)
						}
						if seen[k] = v; r.IntN(3) == 0 {
							m.Delete(sp, k)
							delete(model, k)
						}
					}
					if !maps.Equal(seen, was) {
						t.Fatalf("%s: All visits %d of %d", what, len(seen), len(was))
					}
				case op == 97:
					m.DeleteFunc(sp, func(_ chosen, v uint64) bool { return v%3 == 0 })
					maps.DeleteFunc(model, func(_ chosen, v uint64) bool { return v%3 == 0 })
				case m.bits != b:
					must(t, m.rebuild(sp, max(b, bitsFor(len(model)))))
				}
				if m.Check(sp) != nil || m.Len() != len(model) || bytesOfMap(sp, &m) != byDefinition(t, sp, &m, model) {
					t.Fatalf("%s: %d entries of %d: %v", what, m.Len(), len(model), m.Check(sp))
				}
				for _, k := range keys {
					if v, ok := m.Get(sp, k); v != model[k] || ok != has(model, k) {
						t.Fatalf("%s: Get: %d, %t", what, v, ok)
					}
				}
			}
			m.Free(sp)
		}
	}
}

func has(model map[chosen]uint64, k chosen) bool {
	_, ok := model[k]
	return ok
}
