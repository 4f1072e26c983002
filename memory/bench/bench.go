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
		s, err := l.side()
		if err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", l.name, err))
			continue
		}
		b.add(s)
	}
	b.found[cLoop] = side{name: cLoop, kind: inC, noop: true}
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
		return nil, fmt.Errorf("%w\nDebian has them in libc6-dev, libjemalloc-dev, libgoogle-perftools-dev and libmimalloc2.0", err)
	}
	dir, err := os.MkdirTemp("", "membench")
	b.dir = dir
	return b, err
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// add makes a library a side, and a wrapped one.
func (b *bench) add(s side) {
	b.versions[s.name] = s.version()
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

// goLinkFlags are those of every Go program: without symbols it links faster.
const goLinkFlags = "-s -w"

// cFlags are those of the C program. Without -fno-builtin the compiler would remove pairs of malloc and free.
var cFlags = []string{"-O2", "-fno-builtin", "-fno-plt", "-pthread"}

// cSources are the files of the C program in the folder c, which has other programs as well. The first has main.
var cSources = []string{"driver", "draw", "batch", "churn", "fixed", "handover", "mixed", "replay"}

func (b *bench) build(s side, number int) (string, error) {
	name := filepath.Join(b.dir, strings.NewReplacer(" ", "_", "=", "_").Replace("driver_"+s.recipe()+"_"))
	if s.kind != inC {
		return settle.Build{
			Package: "./driver", Flags: []string{"-trimpath", "-tags=" + strings.Join(s.tags, ",")},
			Env: append([]string{"CGO_ENABLED=0"}, s.env...), LinkFlags: goLinkFlags,
		}.Placement(name, number)
	}
	return name, b.link(s, name)
}

// link builds the C program of a side from the objects of its sources.
func (b *bench) link(s side, name string) error {
	args := append(cFlags[:len(cFlags):len(cFlags)], "-o", name)
	for _, source := range cSources {
		object, err := b.object(source, s)
		if err != nil {
			return err
		}
		args = append(args, object)
	}
	if s.archive == "" {
		return cc(append(args, "-ldl"))
	}
	args = append(args, "-static", "-Wl,--whole-archive")
	if !strings.HasPrefix(s.name, glibc) { // the compiler links that one itself
		args = append(args, s.archive)
	}
	return cc(append(args, "-Wl,--no-whole-archive", "-lstdc++", "-lm"))
}

// object compiles a source, unless an earlier side has. Only the main program differs by how it is linked.
func (b *bench) object(source string, s side) (string, error) {
	var defines []string
	switch {
	case s.noop:
		defines = append(defines, "-DNOOP")
	case s.wrapped:
		defines = append(defines, "-DWRAPPED")
	}
	if s.archive != "" && source == cSources[0] {
		defines = append(defines, "-DSTATIC")
	}
	name := filepath.Join(b.dir, source+strings.Join(defines, "")+".o")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	return name, cc(append(append(cFlags[:len(cFlags):len(cFlags)], defines...), "-c", "-o", name, filepath.Join("c", source+".c")))
}

func cc(args []string) error {
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w\n%s", err, out)
	}
	return nil
}
