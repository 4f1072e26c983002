package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// A bench has the programs and libraries that tests run.
type bench struct {
	o        options
	dir      string
	programs map[string][]string // by recipe: the placements, or the one C program
	found    map[string]side     // the C sides by name
	versions map[string]string   // of the C sides
}

// newBench finds the libraries. It returns an error if one of the four is missing.
func newBench(o options) (*bench, error) {
	b := &bench{o: o, programs: map[string][]string{}, found: map[string]side{}, versions: map[string]string{}}
	var missing []error
	for _, l := range libraries {
		file, err := find(l.soname)
		if err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", l.name, err))
			continue
		}
		b.add(side{name: l.name, kind: inC, preload: file})
	}
	for _, p := range o.peers {
		file, err := filepath.EvalSymlinks(p.preload)
		if err != nil {
			missing = append(missing, fmt.Errorf("-peer %s: %w", p.name, err))
			continue
		}
		p.preload = file
		b.add(p)
	}
	if err := errors.Join(missing...); err != nil {
		return nil, fmt.Errorf("%w\nDebian has the libraries in libjemalloc2, libtcmalloc-minimal4 and libmimalloc2.0", err)
	}
	dir, err := os.MkdirTemp("", "membench")
	b.dir = dir
	return b, err
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// add makes a library a side, and a wrapped one.
func (b *bench) add(s side) {
	b.versions[s.name] = version(s.preload)
	b.found[s.name] = s
	s.name, s.wrapped = s.name+through, true
	b.found[s.name] = s
}

// side returns the side of this name.
func (b *bench) side(name string) (side, error) {
	if s, ok := b.found[name]; ok {
		return s, nil
	}
	if s, ok := goSide(name); ok {
		return s, nil
	}
	return side{}, fmt.Errorf("there is no side %q", name)
}

// program returns a program of the side, and builds it if it is the first of its kind.
func (b *bench) program(s side, placement int) (string, error) {
	r := s.recipe()
	if s.kind == inC {
		placement = 0
	}
	for len(b.programs[r]) <= placement {
		fmt.Fprintf(os.Stderr, "\r\x1b[Kbuilding %s %d", r, len(b.programs[r])+1)
		file, err := b.build(s, len(b.programs[r]))
		if err != nil {
			return "", err
		}
		b.programs[r] = append(b.programs[r], file)
	}
	return b.programs[r][placement], nil
}

// goFlags are those of every Go program; without symbols it links faster.
const goLinkFlags = "-s -w"

// cFlags are those of the C program. Without -fno-builtin the compiler would remove pairs of malloc and free.
var cFlags = []string{"-O2", "-fno-builtin", "-fno-plt", "-pthread"}

// cSources are the files of the C program in the folder c, which has other programs as well.
var cSources = []string{"driver", "draw", "batch", "churn", "fixed", "handover", "mixed"}

func (b *bench) build(s side, number int) (string, error) {
	name := filepath.Join(b.dir, strings.NewReplacer(" ", "_", "=", "_").Replace("driver_"+s.recipe()+"_"))
	if s.kind != inC {
		return settle.Build{
			Package: "./driver", Flags: []string{"-trimpath", "-tags=" + strings.Join(s.tags, ",")},
			Env: append([]string{"CGO_ENABLED=0"}, s.env...), LinkFlags: goLinkFlags,
		}.Placement(name, number)
	}
	args := append(cFlags[:len(cFlags):len(cFlags)], "-o", name)
	if s.wrapped {
		args = append(args, "-DWRAPPED")
	}
	for _, file := range cSources {
		args = append(args, filepath.Join("c", file+".c"))
	}
	cc := exec.Command("cc", append(args, "-ldl")...)
	if out, err := cc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc: %w\n%s", err, out)
	}
	return name, nil
}
