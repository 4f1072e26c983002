package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A config is a way to build the package and its tests.
type config struct{ name, tags string }

// configs are tried in this order. The first is what users build.
var configs = [...]config{{"default", ""}, {"memdebug", "memdebug"}, {"memfast", "memfast"}}

// A source is a production file.
type source struct {
	data []byte
	in   [len(configs)]bool // whether it belongs to each of configs on this host
}

// A target is a package to mutate.
type target struct {
	rel     string // from the root, with slashes
	path    string // for import
	dir     string
	sources map[string]*source
	hash    string // of its folder's files, and of those of the tests'

	// Where the tests are: its own folder, or the nearest above it that has tests and, with
	// all that it imports, builds on the package. It may be without any.
	testDir  string
	rapid    bool               // the tests know the flags of pgregory.net/rapid
	forks    bool               // the tests start themselves again: their coverage misses lines
	hasShort bool               // some test is shorter with -short
	same     [len(configs)]bool // of configs: the files are those of the default, which is enough
}

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath, ForTest  string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
	Module                    *struct{ Main bool }
}

// findRoot climbs from the working folder to .ci; its parent is the repository.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == ".ci" {
			return filepath.Dir(dir), nil
		}
	}
	return "", errors.New("not inside a .ci folder: run with go run -C .ci/mutate . or give -root")
}

// list runs go list for a config.
func list(ctx context.Context, root, tags string, args ...string) ([]listed, error) {
	out, err := goTool(ctx, root, append([]string{"list", "-json=Dir,ImportPath,ForTest,GoFiles,TestGoFiles,XTestGoFiles,Module", "-tags=" + tags}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list %s: %w", strings.Join(args, " "), err)
		}
		all = append(all, p)
	}
}

// find returns the packages that -pkg asks for, sorted.
func find(ctx context.Context, root, pkgs string) ([]*target, error) {
	patterns := []string{"./memory/...", "./ecs"}
	if pkgs != "" {
		patterns = nil
		for p := range strings.SplitSeq(pkgs, ",") {
			patterns = append(patterns, "./"+strings.Trim(strings.TrimPrefix(strings.TrimSpace(p), "./"), "/"))
		}
	}
	byDir := map[string]*target{}
	for i, c := range configs {
		all, err := list(ctx, root, c.tags, patterns...)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			if err := gather(byDir, root, p, i); err != nil {
				return nil, err
			}
		}
	}
	var out []*target
	for _, t := range byDir {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *target) int { return strings.Compare(a.rel, b.rel) })
	for _, t := range out {
		if err := t.findTests(ctx, root); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// gather adds what a config lists of a package.
func gather(byDir map[string]*target, root string, p listed, c int) error {
	if len(p.GoFiles) == 0 {
		return nil
	}
	t := byDir[p.Dir]
	if t == nil {
		rel, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return err
		}
		t = &target{rel: filepath.ToSlash(rel), path: p.ImportPath, dir: p.Dir, sources: map[string]*source{}}
		byDir[p.Dir] = t
	}
	for _, name := range p.GoFiles {
		if t.sources[name] == nil {
			data, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			t.sources[name] = &source{data: data}
		}
		t.sources[name].in[c] = true
	}
	return nil
}

// findTests looks for tests here and upwards, and hashes the files of both folders.
func (t *target) findTests(ctx context.Context, root string) error {
	dir := t.dir
	for ; len(dir) > len(root); dir = filepath.Dir(dir) {
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			return err
		}
		if len(tests) == 0 {
			continue
		}
		if used, err := t.readTests(ctx, dir); err != nil {
			return err
		} else if used {
			break
		}
	}
	folders := []string{t.dir}
	if t.testDir != "" && t.testDir != t.dir {
		folders = append(folders, t.testDir)
	}
	var err error
	t.hash, err = hashFiles(folders)
	return err
}

// readTests takes the tests of dir if they build on the package, and learns their habits.
func (t *target) readTests(ctx context.Context, dir string) (used bool, err error) {
	var files [len(configs)][]string
	rapid := false
	for i, c := range configs {
		all, err := list(ctx, dir, c.tags, "-deps", "-test", ".")
		if err != nil {
			return false, err
		}
		for _, p := range all {
			used = used || p.Dir == t.dir
			rapid = rapid || p.ImportPath == "pgregory.net/rapid"
			if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.ImportPath, ".test") {
				continue // the last is a main that go test makes up
			}
			for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
				files[i] = append(files[i], filepath.Join(p.Dir, name))
			}
		}
		slices.Sort(files[i])
		files[i] = slices.Compact(files[i])
	}
	if !used {
		return false, nil
	}
	for i := range configs {
		t.same[i] = i > 0 && slices.Equal(files[i], files[0])
	}
	for _, file := range files[0] {
		data, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		t.hasShort = t.hasShort || bytes.Contains(data, []byte("testing.Short()"))
		for _, start := range []string{"os.Executable()", "os.Args[0]", "memtest.UnderUlimit("} {
			t.forks = t.forks || bytes.Contains(data, []byte(start))
		}
	}
	t.testDir, t.rapid = dir, rapid
	return true, nil
}

// hashFiles covers names and contents of the files directly in the folders.
func hashFiles(folders []string) (string, error) {
	h := sha256.New()
	for _, dir := range folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n", e.Name(), len(data))
			h.Write(data)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// candidates are all mutants of the package, sorted by file and place.
func (t *target) candidates() ([]*mutant, error) {
	var all []*mutant
	for _, name := range slices.Sorted(maps.Keys(t.sources)) {
		ms, err := scan(name, t.sources[name].data)
		if err != nil {
			return nil, err
		}
		all = append(all, ms...)
	}
	return all, nil
}
