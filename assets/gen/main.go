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
	"io"
	"os"
	"path/filepath"

	"github.com/strata-go/strata/engine/cmdline"
)

func main() { os.Exit(command(os.Args[1:], os.Stderr)) }

// command returns the exit status: 1 if a file cannot be made, 2 for a command line that is wrong.
func command(args []string, fault io.Writer) int {
	o, err := parse(args, fault)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	switch {
	case o.wav != "":
		err = writeWAVs(o.wav)
	case o.sheet != "":
		err = writeSheet(o.sheet)
	default:
		err = errors.Join(writeAll(o.out), writeLevels(o.levels), writeRealms(o.realms), writeSounds(o.sound))
	}
	if err != nil {
		fmt.Fprintln(fault, "gen:", err)
		return 1
	}
	return 0
}

// options are the flags.
type options struct{ out, sound, realms, levels, wav, sheet string }

func parse(args []string, fault io.Writer) (o options, err error) {
	f := flag.NewFlagSet("gen", flag.ContinueOnError)
	f.StringVar(&o.out, "out", filepath.Join("assets", "art"), "folder to write the pictures to")
	f.StringVar(&o.sound, "sound", filepath.Join("assets", "sound"), "folder to write the sounds to")
	f.StringVar(&o.realms, "realms", filepath.Join("assets", "realms"), "folder to write the realms to")
	f.StringVar(&o.levels, "levels", filepath.Join("assets", "levels"), "folder to write the levels to")
	f.StringVar(&o.wav, "wav", "", "folder to write the sounds to as WAV, and nothing else")
	f.StringVar(&o.sheet, "sheet", "", "PNG file to compose some of each realm's ground into, and nothing else")
	if err := cmdline.Parse(f, args, fault); err != nil {
		return o, err
	}
	problem := ""
	f.Visit(func(x *flag.Flag) {
		if x.Value.String() == "" {
			problem = fmt.Sprintf("-%s: a name is needed", x.Name)
		}
	})
	switch {
	case f.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q; every option is a flag, see -help", f.Arg(0))
	case o.wav != "" && o.sheet != "":
		problem = "-wav and -sheet each write nothing else: use one of them"
	}
	if problem != "" {
		return o, cmdline.Wrong(f, fault, problem)
	}
	return o, nil
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
