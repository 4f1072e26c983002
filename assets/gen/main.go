// Command gen draws every picture of the game, digs its realms, and makes every sound.
//
//	go run ./assets/gen             rewrites assets/art, levels, realms and sound, from the root of the repository
//	go run ./assets/gen -out DIR    writes the pictures somewhere else
//	go run ./assets/gen -realms DIR writes the realms somewhere else
//	go run ./assets/gen -levels DIR writes the levels somewhere else
//	go run ./assets/gen -sound DIR  writes the sounds somewhere else
//	go run ./assets/gen -wav DIR    writes the sounds as WAV, and nothing else, for players that know no FLAC
//	go run ./assets/gen -sheet FILE composes some of each realm's ground into a PNG file, and nothing else
//
// A picture is a function from a point to an ink: signed distances give crisp edges, hashed lattice noise gives
// texture, and nothing depends on time, order or a random source, so the same files come out each time. A sound is a
// function from seconds to a sample in the same way.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", filepath.Join("assets", "art"), "folder to write the pictures to")
	sound := flag.String("sound", filepath.Join("assets", "sound"), "folder to write the sounds to")
	dug := flag.String("realms", filepath.Join("assets", "realms"), "folder to write the realms to")
	levels := flag.String("levels", filepath.Join("assets", "levels"), "folder to write the levels to")
	wav := flag.String("wav", "", "folder to write the sounds to as WAV, and nothing else")
	sheet := flag.String("sheet", "", "PNG file to compose some of each realm's ground into, and nothing else")
	flag.Parse()
	var err error
	switch {
	case *wav != "":
		err = writeWAVs(*wav)
	case *sheet != "":
		err = writeSheet(*sheet)
	default:
		err = errors.Join(writeAll(*out), writeLevels(*levels), writeRealms(*dug), writeSounds(*sound))
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
