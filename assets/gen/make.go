package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A target is a picture, a sound or a realm. Level files are not targets: gen writes them each time, because they
// list the pictures.
type target struct {
	name  string
	label string       // the file or folder it writes, for the report
	made  func() bool  // whether what it would write is there already; nil if it is made each time
	write func() error // safe for concurrent use
}

// matches reports whether -only NAME selects the target. NAME is its own name or the part before an underscore:
// "drifter" selects both pictures of the enemy, "tide" a realm with its music.
func (t target) matches(name string) bool {
	return t.name == name || strings.HasPrefix(t.name, name+"_")
}

// targets lists everything that gen makes, in the order in which it reports.
func targets(o *options) (all []target) {
	for _, p := range pictures {
		file := filepath.Join(o.out, p.name+".png")
		all = append(all, target{name: p.name, label: file, write: func() error { return writePicture(file, p) }})
	}
	for i := range realms {
		r := &realms[i]
		mark := o.realmMark(r)
		all = append(all, target{name: r.Name, label: filepath.Join(o.realms, r.Name), made: mark.current, write: func() error {
			if err := writeRealm(o.realms, r); err != nil {
				return err
			}
			return mark.keep()
		}})
	}
	for _, t := range tunes() {
		file := filepath.Join(o.sound, t.name+".ogg")
		all = append(all, target{name: t.name, label: file, write: func() error { return writeSound(file, t) }})
	}
	return all
}

// selected returns the targets that -only names, all of them without it.
func selected(o *options) ([]target, error) {
	all := targets(o)
	if o.only == "" {
		return all, nil
	}
	for _, name := range strings.Split(o.only, ",") {
		if !slices.ContainsFunc(all, func(t target) bool { return t.matches(name) }) {
			return nil, fmt.Errorf("-only %.40q: there is no such picture, sound or realm; allowed: %s", name, strings.Join(groups(all), ", "))
		}
	}
	return slices.DeleteFunc(all, func(t target) bool {
		return !slices.ContainsFunc(strings.Split(o.only, ","), t.matches)
	}), nil
}

// groups returns the shortest names that together select every target.
func groups(all []target) (names []string) {
	for _, t := range all {
		if !slices.ContainsFunc(all, func(u target) bool { return u.name != t.name && t.matches(u.name) }) {
			group, _, _ := strings.Cut(t.name, "_")
			names = append(names, group)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// makeAll makes the selected targets, as many at once as there are processors, and returns what it reports.
func makeAll(o *options) (report string, err error) {
	list, err := selected(o)
	if err != nil {
		return "", err
	}
	for _, dir := range []string{o.out, o.levels, o.realms, o.sound} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	if err := writeLevels(o.levels); err != nil {
		return "", err
	}
	lines, errs := make([]string, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	slot := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, t := range list {
		wg.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			if t.made != nil && !o.all && t.made() {
				lines[i] = t.label + ": unchanged, skipped; -all makes it again\n"
				return
			}
			if errs[i] = t.write(); errs[i] == nil && o.only != "" {
				lines[i] = t.label + "\n"
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return "", fmt.Errorf("%s: %w", list[i].name, err)
		}
	}
	return strings.Join(lines, "") + fmt.Sprintf("%d of %d pictures, sounds and realms\n", len(list), len(targets(o))), nil
}

func writePicture(file string, p picture) error {
	data, err := encode(render(p))
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
