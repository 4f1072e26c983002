package main

import (
	archive "archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	gomod "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// mostBytes is the limit of the zip file. A third of that is the sounds and realms that the game needs without a network.
const mostBytes = 5_500_000

// version is that of the zip file. Its length is part of each name in the file.
const version = "v0.1.0"

// makeZip returns the zip file of HEAD, as the go command makes it.
func makeZip(root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "strata-zip")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := extract(root, "HEAD", dir); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = zip.CreateFromDir(&file, gomod.Version{Path: module, Version: version}, dir)
	return file.Bytes(), err
}

// zipSize prints the size of the zip file and of its folders.
func zipSize(root string, out io.Writer) error {
	file, err := makeZip(root)
	if err != nil {
		return err
	}
	r, err := archive.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, f := range r.File {
		name := strings.TrimPrefix(f.Name, module+"@"+version+"/")
		// A file's name is in its own header and in the directory at the end of the zip file.
		sizes[folder(name)] += int(f.CompressedSize64) + 30 + 46 + 2*len(f.Name)
	}
	for _, dir := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) }) {
		fmt.Fprintf(out, "%9d  %s\n", sizes[dir], dir)
	}
	fmt.Fprintf(out, "%9d  in all, in %d files; the limit is %d\n", len(file), len(r.File), mostBytes)
	if len(file) > mostBytes {
		return fmt.Errorf("the zip file has %d bytes: want at most %d", len(file), mostBytes)
	}
	return nil
}

// folder returns the first two elements of a file's name, without the file itself.
func folder(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		return "."
	}
	return strings.Join(parts[:min(2, len(parts)-1)], "/")
}
