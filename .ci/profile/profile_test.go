// Package profile_test reads the profiles of package meter with the parser of pprof, and runs go tool pprof on them.
package profile_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

type shot [4]float32

// A game allocates in every tier, with tags and without.
type game struct {
	*tiers.Manager
	ai, sound *tiers.Tag
	shots     *pool.Pool[shot]
}

func newGame(t *testing.T, cfg tiers.Config) *game {
	t.Helper()
	m, err := tiers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.EndFrame(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	g := &game{Manager: m}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g.ai, err = m.Tag("ai")
	must(err)
	g.sound, err = m.Tag("sound")
	must(err)
	g.shots, err = tiers.NewPoolIn[shot](g.ai, pool.Config{Name: "shots", Capacity: 4096})
	must(err)
	must(m.BeginLevel())
	must(m.BeginFrame())
	return g
}

//go:noinline
func (g *game) think(n int) {
	for range n {
		memory.MakeSlice[uint64](g.ai, 40)
	}
}

//go:noinline
func (g *game) load(n int) {
	for range n {
		memory.MakeSlice[byte](g.sound, 50_000)
	}
}

func (g *game) play(t *testing.T, rng *rand.Rand) {
	t.Helper()
	g.think(1 + rng.IntN(3000))
	g.load(1 + rng.IntN(100))
	memory.MakeSlice[byte](g.Manager, 1+rng.IntN(3000)) // without a tag
	memory.MakeSlice[byte](g.sound.Frame(), 1+rng.IntN(3000))
	memory.MakeSlice[byte](g.ai.Level(), 1+rng.IntN(3000))
	memory.MakeSlice[byte](g.Worker(1).Tag(g.ai), 1+rng.IntN(100_000))
	for range rng.IntN(100) {
		if _, _, err := g.shots.New(); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, g *game) (raw []byte, p *profile.Profile) {
	t.Helper()
	var b bytes.Buffer
	if err := meter.WriteProfile(&b, g.Manager); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(b.Bytes()))
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), p
}

// sums adds up a value by a label.
func sums(t *testing.T, p *profile.Profile, value, label string) map[string]uint64 {
	t.Helper()
	for i, v := range p.SampleType {
		if v.Type != value {
			continue
		}
		by := map[string]uint64{}
		for _, s := range p.Sample {
			by[strings.Join(s.Label[label], "")] += uint64(s.Value[i])
		}
		return by
	}
	t.Fatalf("no values %q", value)
	return nil
}

func TestProfile_SumsAreTheStatistics(t *testing.T) {
	for seed := range uint64(6) {
		for _, cfg := range []tiers.Config{{}, {Tags: true}, {Tags: true, SampleBytes: 16 << 10}, {SampleBytes: 1024}} {
			g := newGame(t, cfg)
			g.play(t, rand.New(rand.NewPCG(seed, 2)))
			_, p := write(t, g)
			bytes, blocks := sums(t, p, "inuse_space", "tier"), sums(t, p, "inuse_objects", "tier")
			allocs := sums(t, p, "alloc_objects", "tier")
			for k := range tiers.Tier(tiers.Count) {
				s, name := g.Stats(k), k.String()
				if bytes[name] != s.InUse || blocks[name] != s.Live || allocs[name] != s.Allocs {
					t.Errorf("%s: the profile has %d bytes in %d of %d blocks, the tier %d in %d of %d", name, bytes[name], blocks[name], allocs[name], s.InUse, s.Live, s.Allocs)
				}
			}
			if !cfg.Tags {
				continue
			}
			byTag := sums(t, p, "inuse_space", "tag")
			for _, tag := range []*tiers.Tag{g.ai, g.sound} {
				if want := tag.Stats().InUse + tag.Frame().Taken().Bytes + tag.Level().Taken().Bytes; byTag[tag.Name()] != want {
					t.Errorf("tag %s: the profile has %d bytes, the statistics %d", tag.Name(), byTag[tag.Name()], want)
				}
			}
		}
	}
}

func TestProfile_NamesTheFunctionsThatAllocate(t *testing.T) {
	g := newGame(t, tiers.Config{Tags: true, SampleBytes: 4096})
	g.think(3000)
	g.load(100)
	_, p := write(t, g)
	leaf, outermost := map[string]int64{}, map[string]bool{}
	for _, s := range p.Sample {
		leaf[s.Location[0].Line[0].Function.Name] += s.Value[3]
		outermost[s.Location[len(s.Location)-1].Line[0].Function.Name] = true
	}
	for name, want := range map[string]int64{"think": 3000 * 320, "load": 100 * 50_000} {
		got := leaf["github.com/strata-go/strata/.ci/profile_test.(*game)."+name]
		if got < want || got > want*5/4 { // rounded up to classes, and nothing else in that tier and tag
			t.Errorf("%s has %d bytes: want %d and rounding; all: %v", name, got, want, leaf)
		}
	}
	for name := range outermost {
		if !strings.HasPrefix(name, "tier ") {
			t.Errorf("the outermost function is %s", name)
		}
	}
}

// pprof runs go tool pprof. It has a limit of time with the test binary.
func pprof(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool pprof %v: %v\n%s", args, err, complaints.String())
	}
	return string(out)
}

func TestProfile_GoToolPprofReadsIt(t *testing.T) {
	g := newGame(t, tiers.Config{Tags: true, SampleBytes: 4096})
	g.think(2000)
	first, _ := write(t, g)
	g.load(50)
	second, _ := write(t, g)
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.pb.gz"), filepath.Join(dir, "b.pb.gz")
	for name, raw := range map[string][]byte{a: first, b: second} {
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	top := pprof(t, "-top", "-cum", "-nodecount=100", b)
	for _, want := range []string{"Type: inuse_space", "(*game).think", "(*game).load", "tag ai", "tag sound", "tier slab", "tier large"} {
		if !strings.Contains(top, want) {
			t.Errorf("-top lacks %q:\n%s", want, top)
		}
	}
	diff := pprof(t, "-top", "-cum", "-nodecount=100", "-diff_base", a, b)
	if !strings.Contains(diff, "(*game).load") || strings.Contains(diff, "(*game).think") {
		t.Errorf("-diff_base shows:\n%s", diff)
	}
	if focus := pprof(t, "-top", "-cum", "-tagfocus", "tag=ai", b); strings.Contains(focus, "tag sound") {
		t.Errorf("-tagfocus tag=ai shows:\n%s", focus)
	}
}
