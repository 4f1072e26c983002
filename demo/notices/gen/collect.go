package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// targets are the systems that the demo is built for.
var targets = []string{"linux/amd64", "windows/amd64", "darwin/arm64", "freebsd/amd64", "js/wasm"}

const (
	demoPath = "github.com/strata-go/strata/demo"
	rule     = "--------------------------------------------------------------------------------\n"
	head     = `Third-party notices

The game Strata links the software below, some of it on some systems only. Each licence stands under the
names of what it covers. The licence of Strata itself is in LICENSE, and that of its pictures and sounds in
assets/LICENSE-ART.md. This file is written by "go generate ./demo/notices".
`
)

// licenceName matches the files that are taken: licences, notices, and grants of patents.
var licenceName = regexp.MustCompile(`(?i)^((un)?licen[sc]e|copying|copyright|notice|patents)([-.].*)?$`)

// A notice is a licence file.
type notice struct {
	of   string // module and version, and the folder if it is not the module's root
	file string
	text string
}

// collect returns the notices of all that the demo links. Equal texts are given once, under all their names.
func collect() ([]byte, error) {
	root, err := goTool("", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	all, err := noticesIn("The Go language, its runtime and standard library", root, root)
	if err != nil {
		return nil, err
	}
	linked, err := modules()
	if err != nil {
		return nil, err
	}
	for _, m := range linked {
		found, err := m.notices()
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return format(all), nil
}

// format sorts by name, Go first, and joins the names of equal texts.
func format(all []notice) []byte {
	var out bytes.Buffer
	out.WriteString(head)
	for i, n := range all {
		same := func(o notice) bool { return o.text == n.text }
		if slices.ContainsFunc(all[:i], same) {
			continue
		}
		out.WriteString("\n" + rule)
		for _, o := range all[i:] {
			if same(o) {
				fmt.Fprintf(&out, "%s (%s)\n", o.of, o.file)
			}
		}
		out.WriteString(rule + "\n" + n.text)
	}
	return out.Bytes()
}

// A module is one that the demo links, with the folders of the linked packages.
type module struct {
	name, version, root string
	folders             []string
}

// modules returns the linked modules in the order of their names.
func modules() ([]module, error) {
	byName := map[string]*module{}
	for _, target := range targets {
		list, err := goTool(target, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", demoPath)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) != 4 || f[2] == "" || f[3] == "" {
				return nil, fmt.Errorf("%s: go list printed %q; want a module in the module cache", target, line)
			}
			m := byName[f[0]]
			if m == nil {
				m = &module{name: f[0], version: f[1], root: f[2]}
				byName[f[0]] = m
			}
			if !slices.Contains(m.folders, f[3]) {
				m.folders = append(m.folders, f[3])
			}
		}
	}
	var out []module
	for _, m := range byName {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// notices returns the licence files of the module's root, and of each folder from there to a linked package.
func (m *module) notices() ([]notice, error) {
	folders := map[string]bool{m.root: true}
	for _, dir := range m.folders {
		for ; dir != m.root; dir = filepath.Dir(dir) {
			if rel, err := filepath.Rel(m.root, dir); err != nil || !filepath.IsLocal(rel) {
				return nil, fmt.Errorf("%s: package in %s is outside of the module's folder %s", m.name, dir, m.root)
			}
			folders[dir] = true
		}
	}
	var sorted []string
	for dir := range folders {
		sorted = append(sorted, dir)
	}
	slices.Sort(sorted)
	var out []notice
	for _, dir := range sorted {
		found, err := noticesIn(m.name+" "+m.version, m.root, dir)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if !slices.ContainsFunc(out, func(n notice) bool { return !strings.HasPrefix(strings.ToUpper(n.file), "PATENTS") }) {
		return nil, fmt.Errorf("%s %s: there is no licence in %s", m.name, m.version, m.root)
	}
	return out, nil
}

// noticesIn returns the licence files of one folder.
func noticesIn(of, root, dir string) (out []notice, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")) + "\n"
		out = append(out, notice{of, path.Join(filepath.ToSlash(rel), e.Name()), text})
	}
	return out, nil
}

// goTool runs the go command as if on a system, or on this one if target is empty.
func goTool(target string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if goos, goarch, ok := strings.Cut(target, "/"); ok {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+goarch)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s for %q: %w: %s", args[0], target, err, strings.TrimSpace(complaints.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
