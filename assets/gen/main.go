// Command gen draws every picture of the game and digs its realms.
//
//	go run ./assets/gen                          rewrites assets/art and assets/realms, from the root of the repository
//	go run ./assets/gen -out DIR -realms DIR     writes somewhere else
//	go run ./assets/gen -sheet FILE              only composes some of each realm's ground into a PNG file
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
	dug := flag.String("realms", filepath.Join("assets", "realms"), "folder to write the realms to")
	sheet := flag.String("sheet", "", "PNG file to compose some of each realm's ground into, instead of all else")
	flag.Parse()
	var err error
	if *sheet != "" {
		err = writeSheet(*sheet)
	} else if err = writeAll(*out); err == nil {
		err = writeRealms(*dug)
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
