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

// find returns the file of a shared library as the dynamic linker knows it, or "" for the C library's own malloc.
func find(soname string) (string, error) {
	if soname == "" {
		return "", nil
	}
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

// version returns the package and version of a library's file, or the file's name where no package has it.
func version(file string) string {
	if file == "" {
		out, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
		if err != nil {
			return "unknown version"
		}
		return strings.TrimSpace(string(out))
	}
	name := filepath.Base(file)
	owner, err := exec.Command("dpkg-query", "-S", name).Output()
	pkg, _, ok := strings.Cut(string(owner), ": ")
	if err != nil || !ok {
		return name
	}
	v, err := exec.Command("dpkg-query", "-W", "-f=${Package} ${Version}", pkg).Output()
	if err != nil || len(v) == 0 {
		return name
	}
	return string(v)
}

// servedBy reports whether the file that served malloc is the one that was to serve it.
func servedBy(file, preload string) bool {
	if preload == "" {
		base := filepath.Base(file)
		return strings.HasPrefix(base, "libc.so.") || strings.HasPrefix(base, "libc-")
	}
	real, err := filepath.EvalSymlinks(file)
	return err == nil && real == preload
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
