package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// side returns the side of a library that is installed.
func (l library) side() (side, error) {
	if l.archive != "" {
		file, err := findArchive(l.archive)
		return side{name: l.name, kind: inC, archive: file}, err
	}
	file, err := find(l.soname)
	return side{name: l.name, kind: inC, preload: file}, err
}

// findArchive returns the file of a static library as the C compiler knows it.
func findArchive(name string) (string, error) {
	out, err := exec.Command("cc", "-print-file-name="+name).Output()
	if err != nil {
		return "", fmt.Errorf("cc: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == name || file == "" {
		return "", fmt.Errorf("there is no %s", name)
	}
	return filepath.EvalSymlinks(file)
}

// find returns the file of a shared library as the dynamic linker knows it.
func find(soname string) (string, error) {
	out, _ := exec.Command("/sbin/ldconfig", "-p").Output() // without it the folders remain
	for line := range strings.Lines(string(out)) {
		if name, file, ok := strings.Cut(strings.TrimSpace(line), " => "); ok && strings.HasPrefix(name, soname+" ") {
			return filepath.EvalSymlinks(file)
		}
	}
	for _, dir := range []string{"/usr/lib/*/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/"} {
		if files, _ := filepath.Glob(dir + soname); files != nil {
			return filepath.EvalSymlinks(files[0])
		}
	}
	return "", fmt.Errorf("there is no %s", soname)
}

// version returns the package and version of a library, or the file's name where no package has it.
func (s side) version() string {
	file := orElse(s.archive, s.preload)
	name := filepath.Base(file)
	owner, err := exec.Command("dpkg-query", "-S", file).Output()
	if err != nil { // where /lib is a link to /usr/lib the package may have either name
		owner, err = exec.Command("dpkg-query", "-S", "*/"+name).Output()
	}
	pkg, _, ok := strings.Cut(string(owner), ": ")
	if err != nil || !ok {
		return name
	}
	v, err := exec.Command("dpkg-query", "-W", "-f=${Package} ${Version}", pkg).Output()
	if err != nil || len(v) == 0 {
		return name
	}
	if s.archive != "" {
		return string(v) + ", static"
	}
	return string(v)
}

// serves reports whether the C program was served by the library of the side. From a shared object the program reports
// its file, from an archive its name.
func (s side) serves(served string) bool {
	if s.preload == "" {
		return served == "static "+strings.TrimSuffix(s.name, through)
	}
	real, err := filepath.EvalSymlinks(served)
	return err == nil && real == s.preload
}

// availableMemory returns the bytes that the system can give without swapping, or 2 GiB where it does not tell.
func availableMemory() uint64 {
	text, _ := os.ReadFile("/proc/meminfo")
	_, rest, _ := bytes.Cut(text, []byte("MemAvailable:"))
	if f := bytes.Fields(rest); len(f) > 0 {
		if kib, err := strconv.ParseUint(string(f[0]), 10, 64); err == nil {
			return kib << 10
		}
	}
	return 2 << 30
}

// load returns the load average of the last minute, or 0 where the system does not tell it.
func load() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	v, _ := strconv.ParseFloat(first, 64)
	return v
}
