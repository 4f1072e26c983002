// Command gen draws every picture of the game, and builds the worlds of its realms.
//
//	go run ./assets/gen            rewrites assets/art/*.png and assets/realms, from the root of the repository
//	go run ./assets/gen -out DIR   writes the pictures somewhere else; -realms does so for the worlds
//
// A picture is a function from a point to an ink: signed distances give crisp edges, hashed lattice noise gives
// texture, and nothing depends on time, order or a random source, so the same files come out each time.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", filepath.Join("assets", "art"), "folder to write the pictures to")
	realmsOut := flag.String("realms", filepath.Join("assets", "realms"), "folder to write the realms to")
	flag.Parse()
	err := writeRealms(*realmsOut)
	if err == nil {
		err = writeAll(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func writeAll(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	total := 0
	for i, img := range renderAll() {
		data, err := encode(img)
		if err != nil {
			return fmt.Errorf("%s: %w", pictures[i].name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, pictures[i].name+".png"), data, 0o644); err != nil {
			return err
		}
		total += len(data)
	}
	fmt.Printf("%d pictures, %d KiB in %s\n", len(pictures), total/1024, dir)
	return nil
}
