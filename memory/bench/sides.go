package main

import (
	"slices"
	"strings"
)

// A kind says what a side is.
type kind int

const (
	strata kind = iota // an allocator of Strata
	inGo               // another Go allocator
	inC                // malloc of a library
)

// A side is an allocator with its configuration.
type side struct {
	name    string
	kind    kind
	tags    []string // of the Go driver
	env     []string // of go build
	option  string   // of the driver
	archive string   // the static library that serves malloc, or
	preload string   // the shared one
	wrapped bool     // calls go through a function of one line that is never inlined
	noop    bool     // an allocator that does nothing
	extra   bool     // named by -peer, or a reference: shown and not judged
}

// The names of sides that the tables refer to.
const (
	slabs    = "slab"
	manager  = "manager"
	pools    = "pool"
	tlsfs    = "tlsf"
	quick    = "tlsf, quick lists"
	arenas   = "arena"
	frames   = "manager's frames"
	remotes  = "slab and remote"
	caches   = "slab.Cache"
	huge     = "slab, huge pages"
	warmed   = "slab, huge pages, warmed"
	runtimes = "Go runtime"
	slicings = "reused slices"
	syncPool = "sync.Pool"
	goArenas = "GOEXPERIMENT=arenas"
	modernc  = "modernc.org/memory"
	glibc    = "glibc"
	jemalloc = "jemalloc"
	tcmalloc = "tcmalloc"
	mimalloc = "mimalloc"

	fast    = ", memfast"
	through = ", wrapped"
	next    = ", go1.27"
)

// libraries are the C peers that -check demands. Those that Debian packages as an archive are linked statically, which
// makes tcmalloc 28 % faster in W2 than LD_PRELOAD, jemalloc 26 % and glibc 9 %; in other workloads 3 to 7 %. Debian has
// no archive of mimalloc.
var libraries = []library{
	{name: glibc, archive: "libc.a"},
	{name: jemalloc, archive: "libjemalloc.a"},
	{name: tcmalloc, archive: "libtcmalloc_minimal.a"},
	{name: mimalloc, soname: "libmimalloc.so.2"},
}

// A library serves malloc, from an archive or else from a shared object.
type library struct{ name, archive, soname string }

// cNames returns the names of the C peers.
func cNames() (names []string) {
	for _, l := range libraries {
		names = append(names, l.name)
	}
	return names
}

// goSides are all sides in Go but the derived ones: memfast, wrapped and go1.27.
var goSides = []side{
	{name: slabs, tags: []string{"slab"}},
	{name: huge, tags: []string{"slab"}, option: "huge"},
	{name: warmed, tags: []string{"slab"}, option: "warm"},
	{name: manager, tags: []string{"manager"}},
	{name: pools, tags: []string{"pool"}},
	{name: tlsfs, tags: []string{"tlsf"}},
	{name: quick, tags: []string{"tlsf"}, option: "quick"},
	{name: arenas, tags: []string{"bump"}},
	{name: frames, tags: []string{"frame"}},
	{name: remotes, tags: []string{"remote"}},
	{name: caches, tags: []string{"cache"}},
	{name: goLoop, tags: []string{"noop"}, noop: true},
	{name: runtimes, kind: inGo},
	{name: slicings, kind: inGo, tags: []string{"collected", "slices"}, extra: true},
	{name: syncPool, kind: inGo, tags: []string{"collected", "syncpool"}},
	{name: goArenas, kind: inGo, tags: []string{"collected", "arenas"}, env: []string{"GOEXPERIMENT=arenas"}},
	{name: modernc, kind: inGo, tags: []string{"modernc"}},
}

// goSide returns the Go side of this name. The endings memfast, wrapped and go1.27 change how it is built.
func goSide(name string) (s side, ok bool) {
	base, found := strings.CutSuffix(name, next)
	if found {
		s.env = append(s.env, "GOTOOLCHAIN="+nextGo)
	}
	if base, found = strings.CutSuffix(base, through); found {
		s.tags, s.wrapped = append(s.tags, "wrapped"), true
	}
	if base, found = strings.CutSuffix(base, fast); found {
		s.tags = append(s.tags, "memfast")
	}
	i := slices.IndexFunc(goSides, func(g side) bool { return g.name == base })
	if i < 0 {
		return side{}, false
	}
	g := goSides[i]
	g.name, g.wrapped = name, s.wrapped
	if len(g.tags) > 0 {
		g.tags = append([]string{"chosen"}, g.tags...)
	}
	g.tags, g.env = append(g.tags[:len(g.tags):len(g.tags)], s.tags...), append(g.env[:len(g.env):len(g.env)], s.env...)
	return g, true
}

// nextGo is the toolchain of -go127.
const nextGo = "go1.27.3"

// recipe names the program of a side: sides that differ in an option of the driver alone share one.
func (s side) recipe() string {
	if s.kind == inC {
		if s.noop {
			return cLoop
		}
		if s.archive == "" {
			if s.wrapped {
				return "c" + through
			}
			return "c"
		}
		return "c " + s.name
	}
	return strings.Join(append(s.tags[:len(s.tags):len(s.tags)], s.env...), " ")
}
