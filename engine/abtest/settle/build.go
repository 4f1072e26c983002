package settle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// A Build describes how a program is built. Package is its import path or folder. Dir is the folder in which go build
// runs, or "" for the current one. Flags are flags of go build other than -ldflags. Env are variables, as "NAME=value",
// in addition to those of the process.
type Build struct {
	Package, Dir string
	Flags, Env   []string
	LinkFlags    string // flags of the linker; may be empty
}

// Placement builds the program into the file name+number, on Windows with .exe, and returns the path of the file. A
// relative name is relative to Dir, and the path then begins with Dir. Numbers below 1 have the linker's usual order of
// functions. Each positive number has an order of its own, by the linker's flag -randlayout. The error contains the
// output of go build.
func (b Build) Placement(name string, number int) (file string, err error) {
	file = name + strconv.Itoa(number)
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	link := b.LinkFlags
	if number > 0 {
		if link != "" {
			link += " "
		}
		link += "-randlayout=" + strconv.Itoa(number)
	}
	output := file // go build runs in Dir
	if b.Dir != "" && !filepath.IsAbs(file) {
		file = filepath.Join(b.Dir, file)
	}
	args := append([]string{"build", "-o", output}, b.Flags...)
	if link != "" {
		args = append(args, "-ldflags="+link)
	}
	cmd := exec.Command("go", append(args, b.Package)...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), b.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", b.Package, err, out)
	}
	return file, nil
}
