// Command ports type-checks this module with its tests, and all that they import from source, for each of the named
// systems:
//
//	go run -C .ci/ports . windows/amd64 darwin/arm64 freebsd/amd64
//
// The gate uses it instead of go build ./... for each system, which would compile the standard library and every
// dependency again and take six times as long. It finds the same mistakes: a name, a type, a constant or a file that
// one system lacks. It also checks the tests. It does not find errors of the compiler's back end and the linker, such
// as a frame that is too large or a missing symbol; for these .ci/nightly builds everything.
//
// It prints each mistake with its position. The exit status is 1 if there is one, and 2 for an invalid command line.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	root, err := filepath.Abs("../..")
	if err != nil {
		fmt.Fprintln(os.Stderr, "ports:", err)
		os.Exit(1)
	}
	os.Exit(run(root, os.Args[1:], os.Stdout, os.Stderr))
}

// run checks the module in root for each port, at most one at a time for each processor.
func run(root string, ports []string, stdout, stderr io.Writer) int {
	if len(ports) == 0 {
		fmt.Fprintln(stderr, "ports: no port given: GOOS/GOARCH, as go tool dist list prints them")
		return 2
	}
	for _, p := range ports {
		if system, arch, ok := strings.Cut(p, "/"); !ok || system == "" || arch == "" || strings.Contains(arch, "/") {
			fmt.Fprintf(stderr, "ports: %q is no port: GOOS/GOARCH, as go tool dist list prints them\n", p)
			return 2
		}
	}
	results := make([]result, len(ports))
	turn := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, p := range ports {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			begin := time.Now()
			results[i] = check(root, p)
			results[i].took = time.Since(begin)
		})
	}
	wg.Wait()
	code := 0
	for i, r := range results {
		for _, e := range r.errs {
			fmt.Fprintf(stderr, "%s: %v\n", ports[i], e)
			code = 1
		}
		fmt.Fprintf(stdout, "%-14s %d packages of the module, with tests; %d in all, %.0f s\n", ports[i], r.own, r.all, r.took.Seconds())
	}
	return code
}
