package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	gomod "golang.org/x/mod/module"
)

// programs are what a user may begin with, each with one package of the module.
var programs = []struct{ imports, code string }{
	{"memory/tiers", "m, err := tiers.New(tiers.Config{})\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tm.Close()"},
	{"memory/save", "_ = new(save.Set)"},
	{"ecs", "_ = ecs.New"},
	{"render/overlay", "_ = overlay.New"},
}

// downloads prints what go mod tidy downloads for each program, builds it, and plays the demo of the zip file.
func downloads(root string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "strata-downloads")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	proxies, err := proxy(root, filepath.Join(dir, "proxy"))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "a program with   modules  zip files   of these, this module")
	for i, p := range programs {
		u := user{dir: filepath.Join(dir, fmt.Sprint("user", i)), cache: filepath.Join(dir, fmt.Sprint("cache", i)), proxies: proxies}
		name := p.imports[strings.LastIndex(p.imports, "/")+1:]
		program := fmt.Sprintf("package main\n\nimport %q\n\nfunc main() {\n\t%s\n}\n", module+"/"+p.imports, p.code)
		err := errors.Join(
			writeFile(filepath.Join(u.dir, "go.mod"), strings.NewReader("module example.com/"+name+"\n\ngo 1.26.0\n\nrequire "+module+" "+version+"\n")),
			writeFile(filepath.Join(u.dir, "main.go"), strings.NewReader(program)))
		if err != nil {
			return err
		}
		if _, err := u.goTool("mod", "tidy"); err != nil {
			return err
		}
		zips, err := u.zips()
		if err != nil {
			return err
		}
		all, own := int64(0), int64(0)
		for _, z := range zips {
			all += z.size
			if z.path == module {
				own = z.size
			}
		}
		fmt.Fprintf(out, "%-15s  %7d  %6.2f MB   %.2f MB\n", p.imports, len(zips), float64(all)/1e6, float64(own)/1e6)
		for _, z := range zips {
			fmt.Fprintf(out, "  %9d  %s\n", z.size, z.path)
		}
		if _, err := u.goTool("build", "-o", os.DevNull, "."); err != nil {
			return err
		}
	}
	u := user{dir: dir, cache: filepath.Join(dir, "cache-demo"), proxies: proxies}
	played, err := u.goTool("run", module+"/demo@"+version, "-headless", "-autopilot", "-config", "none", "-ticks", "300", "-hash")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "go run %s/demo@%s, 300 ticks:\n%s", module, version, played)
	return nil
}

// proxy writes a module proxy of files with the zip file of HEAD, and returns a value for GOPROXY.
func proxy(root, dir string) (string, error) {
	file, err := makeZip(root)
	if err != nil {
		return "", err
	}
	escaped, err := gomod.EscapePath(module)
	if err != nil {
		return "", err
	}
	gomodFile, err := git(root, "show", "HEAD:go.mod")
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	for name, text := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`,
		version + ".mod": string(gomodFile), version + ".zip": string(file),
	} {
		if err := writeFile(filepath.Join(at, name), strings.NewReader(text)); err != nil {
			return "", err
		}
	}
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return "", err
	}
	cache, rest, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	return fileURL(dir) + "," + fileURL(filepath.Join(cache, "cache", "download")) + "," + rest, nil
}

// fileURL returns the URL of a folder.
func fileURL(dir string) string { return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/") }

// A user runs the go command in a folder, with a module cache that is empty at first.
type user struct{ dir, cache, proxies string }

func (u user) goTool(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = u.dir
	// The checksum database does not know a version that is not published.
	cmd.Env = append(os.Environ(), "GOPROXY="+u.proxies, "GOMODCACHE="+u.cache, "GOSUMDB=off",
		"GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	return string(out), nil
}

// A download is a zip file in a module cache.
type download struct {
	path string // of the module
	size int64
}

// zips returns the zip files in the cache, the largest first.
func (u user) zips() (all []download, err error) {
	top := filepath.Join(u.cache, "cache", "download")
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".zip" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(top, filepath.Dir(filepath.Dir(name)))
		if err != nil {
			return err
		}
		path, err := gomod.UnescapePath(filepath.ToSlash(dir))
		all = append(all, download{path, info.Size()})
		return err
	})
	slices.SortFunc(all, func(a, b download) int { return cmp.Compare(b.size, a.size) })
	return all, err
}
