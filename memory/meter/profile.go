package meter

import (
	"cmp"
	"compress/gzip"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/strata-go/strata/memory/tiers"
)

// WriteProfile writes the memory that a manager has in use, as a profile for go tool pprof. The file is a
// gzip-compressed profile.proto, as runtime/pprof writes it.
//
//	alloc_objects   blocks allocated since New; for a tag in the tiers frame and level, since the frame or level began
//	alloc_space     bytes of these blocks, estimated by samples; without samples the bytes in use
//	inuse_objects   live blocks
//	inuse_space     bytes in use, with rounding; the default
//
// The call stacks have one function for each tier, "tier slab", then one for each tag and pool, "tag bodies" and "pool
// shots". Memory without a tag is directly below its tier. With [tiers.Config.SampleBytes] the manager samples
// allocations of slab, large and inbox, and not of pools. The functions that allocated sampled memory follow in its
// stacks. Innermost functions of the packages below memory are left out. Each stack has the labels tier, tag and pool,
// except empty ones.
//
// Summed over a tier, inuse_objects, inuse_space and alloc_objects are exact: they are equal to Manager.Stats. The sums
// over a tag are exact outside Frame and Level, see [tiers.Inspector.EachUse]. The manager's samples only divide these
// sums among the functions, in proportion to the estimates. If a tag in a tier has no live sample, its memory has no
// functions.
//
// Call WriteProfile on the game goroutine. It allocates from the Go heap and takes some milliseconds. m must not be
// nil. WriteProfile returns the error of w; on error a part of the file may have been written.
func WriteProfile(w io.Writer, m *tiers.Manager) error {
	p := newProfile(time.Now(), m.Inspect())
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.encode()); err != nil {
		return err
	}
	return z.Close()
}

// valueCount is the number of values of a sample.
const valueCount = 4

// The values of a sample, in the order of the Go heap profile.
const (
	allocObjects = iota
	allocSpace
	inUseObjects
	inUseSpace
)

// A profile is the content of a profile.proto.
type profile struct {
	encoder
	when      time.Time
	functions map[functionKey]uint64 // numbers from 1
	locations map[functionLine]uint64
}

type functionKey struct{ name, file string }

type functionLine struct {
	function uint64
	line     int
}

// A part names what exact sums exist for.
type part struct {
	tier      tiers.Tier
	tag, pool string
}

func newProfile(when time.Time, i tiers.Inspector) *profile {
	p := &profile{when: when, functions: map[functionKey]uint64{}, locations: map[functionLine]uint64{}}
	p.begin()
	stacks := map[part][]stack{}
	i.EachSample(func(s tiers.Sample) {
		key := part{tier: s.Tier, tag: s.Tag}
		stacks[key] = append(stacks[key], stack{p.stack(s.Stack), [valueCount]float64{s.Allocs, s.Bytes, s.Live, s.InUse}})
	})
	i.EachUse(func(u tiers.Use) {
		key := part{u.Tier, u.Tag, u.Pool}
		exact := [valueCount]uint64{u.Allocs, u.InUse, u.Live, u.InUse}
		for _, s := range share(exact, stacks[key]) {
			p.sample(key, s.stack, s.values)
		}
	})
	return p
}

// A stack is a call stack with its estimates, innermost location first.
type stack struct {
	locations []uint64
	estimates [valueCount]float64
}

// A row is a call stack with its values.
type shared struct {
	stack  []uint64
	values [valueCount]uint64
}

// share divides exact sums among call stacks in proportion to the estimates. What no estimate explains has no stack.
func share(exact [valueCount]uint64, stacks []stack) (rows []shared) {
	rows = make([]shared, len(stacks)+1) // the last one without a stack
	for i, s := range stacks {
		rows[i].stack = s.locations
	}
	for v := range valueCount {
		var sum float64
		for _, s := range stacks {
			sum += s.estimates[v]
		}
		if v == allocSpace && sum > 0 {
			exact[v] = max(exact[v], uint64(sum)) // no statistics have it
		}
		left := exact[v]
		if sum > 0 {
			for i, s := range stacks {
				n := min(uint64(float64(exact[v])*(s.estimates[v]/sum)), left)
				rows[i].values[v] = n
				left -= n
			}
			i := largest(stacks, v) // the rest is what rounding left
			rows[i].values[v] += left
			left = 0
		}
		rows[len(stacks)].values[v] = left
	}
	return slices.DeleteFunc(rows, func(r shared) bool { return r.values == [valueCount]uint64{} })
}

// largest returns the stack with the largest estimate.
func largest(stacks []stack, v int) (at int) {
	for i, s := range stacks {
		if s.estimates[v] > stacks[at].estimates[v] {
			at = i
		}
	}
	return at
}

// module is the path below which the innermost functions are left out.
const module = "github.com/strata-go/strata/memory"

// ours reports whether a function belongs to the library, and not to its tests.
func ours(function string) bool {
	rest, ok := strings.CutPrefix(function, module)
	if !ok {
		return false
	}
	pkg := rest[strings.LastIndexByte(rest, '/')+1:]
	pkg, _, _ = strings.Cut(pkg, ".")
	return !strings.HasSuffix(pkg, "_test")
}

// stack returns the locations of a call stack without the innermost functions of Strata.
func (p *profile) stack(pcs []uintptr) (locations []uint64) {
	if len(pcs) == 0 {
		return nil
	}
	inner := true
	frames := runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if inner = inner && ours(f.Function); !inner && f.Function != "runtime.goexit" {
			locations = append(locations, p.location(cmp.Or(f.Function, "unknown"), f.File, f.Line))
		}
	}
	return locations
}

// sample adds a sample: the tier is the outermost function.
func (p *profile) sample(key part, stack []uint64, values [valueCount]uint64) {
	stack = slices.Clone(stack)
	if key.pool != "" {
		stack = append(stack, p.location("pool "+key.pool, "", 0))
	}
	if key.tag != "" {
		stack = append(stack, p.location("tag "+key.tag, "", 0))
	}
	stack = append(stack, p.location("tier "+key.tier.String(), "", 0))
	p.encoder.sample(stack, values[:], [][2]string{{"tier", key.tier.String()}, {"tag", key.tag}, {"pool", key.pool}})
}

// location returns the number of a line of a function.
func (p *profile) location(name, file string, line int) uint64 {
	f := functionKey{name, file}
	id, ok := p.functions[f]
	if !ok {
		id = uint64(len(p.functions) + 1)
		p.functions[f] = id
		p.encoder.function(id, name, file)
	}
	l := functionLine{id, line}
	at, ok := p.locations[l]
	if !ok {
		at = uint64(len(p.locations) + 1)
		p.locations[l] = at
		p.encoder.location(at, id, line)
	}
	return at
}

func (p *profile) encode() []byte { return p.end(p.when.UnixNano()) }
