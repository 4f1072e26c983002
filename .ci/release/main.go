// Command release checks what a user of a version gets. From the root of the repository:
//
//	go run -C .ci/release . zip        # the bytes of the module's zip file, by folder, and its bound
//	go run -C .ci/release . api        # what has changed in the exported names since the last version
//	go run -C .ci/release . downloads  # what go mod tidy downloads for four programs, and whether they run
//
// All three judge the commit HEAD. Changes that are not committed are not part of a version.
//
// # API
//
// The packages below memory, ecs, engine, particles and render are compared with those of the newest tag vX.Y.Z that
// HEAD contains. Before there is a tag they are compared with the commit in since.txt. Internal packages, programs and
// assets promise nothing.
//
// If there is a tag, each change that breaks programs must be named in CHANGELOG.md, above the section of that tag, as
// in tiers.Manager.EndLevel. Otherwise the exit status is 1.
//
// # Downloads
//
// The command writes the zip file into a module proxy of files, with an empty module cache in front of it. Other
// modules come from the cache of this machine, then from GOPROXY.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const module = "github.com/strata-go/strata"

func main() {
	root, err := filepath.Abs("../..")
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	os.Exit(run(root, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 if nothing is wrong, 1 if something is, 2 for an invalid command line.
func run(root string, args []string, stdout, stderr io.Writer) int {
	parts := map[string]func(string, io.Writer) error{"zip": zipSize, "api": apiChanges, "downloads": downloads}
	if len(args) != 1 || parts[args[0]] == nil {
		fmt.Fprintf(stderr, "release: %.60q: want zip, api or downloads\n", args)
		return 2
	}
	if err := parts[args[0]](root, stdout); err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
	return 0
}
