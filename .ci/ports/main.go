// Command ports type-checks a module, its tests and all that they import from source, as each
// of the named systems sees them:
//
//	go run -C .ci/ports . windows/amd64 darwin/arm64 freebsd/amd64
//
// It stands in the gate where go build ./... for each of them would compile the standard library
// and every dependency anew, at six times the price, to find the same mistakes: a name, a type, a
// constant or a file that one system lacks. And it looks at the tests, which go build does not.
// What it cannot see is what the compiler's back end and the linker say: a frame that is too
// large, a symbol that is missing. For that .ci/nightly builds everything.
//
// It prints what is wrong and where, and exits 1 if anything is.
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

// run checks the module in root for each port, as many at a time as there are processors.
func run(root string, ports []string, stdout, stderr io.Writer) int {
	if len(ports) == 0 {
		fmt.Fprintln(stderr, "ports: no port given: GOOS/GOARCH, as go tool dist list prints them")
		return 2
	}
	for _, p := range ports {
		if system, arch, ok := strings.Cut(p, "/"); !ok || system == "" || arch == "" {
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
