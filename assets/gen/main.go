// Command gen draws every picture of the game, digs its realms, and makes every sound.
//
//	go run -C assets/gen .             rewrites assets/art, levels, realms and sound
//	go run -C assets/gen . -only NAME  makes one picture, sound or realm, and the level files, in a second or two
//	go run -C assets/gen . -all        composes all realms: without it one whose sources are unchanged is skipped
//	go run -C assets/gen . -out DIR    writes the pictures somewhere else
//	go run -C assets/gen . -realms DIR writes the realms somewhere else
//	go run -C assets/gen . -levels DIR writes the levels somewhere else
//	go run -C assets/gen . -sound DIR  writes the sounds somewhere else
//	go run -C assets/gen . -wav DIR    writes the sounds as WAV, and nothing else, for other players
//	go run -C assets/gen . -figures    prints how loud and how bright each sound of the folder is, and nothing else
//	go run -C assets/gen . -sheet FILE composes some of each realm's ground into a PNG file, and nothing else
//
// A relative DIR or FILE is one below assets/gen. The command is a module of its own: who imports Strata does not
// download it.
//
// A picture is a function from a point to an ink. Signed distances give crisp edges, and hashed lattice noise gives
// texture. Nothing depends on time, order or a random source, so every run writes the same files. A sound is a
// function from seconds to a sample in the same way; oggenc, of the package vorbis-tools, encodes it.
//
// The pictures of the repository are a fifth smaller than those that gen writes. zopflipng -m, of the package zopfli, has
// encoded the same pixels again. Where it would store a sprite with a palette, optipng -o7 -nc did. The warden has
// --filters=m: it decodes with fewer objects. Do so with a new picture.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/strata-go/strata/engine/cmdline"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command returns the exit status: 1 if a file cannot be made, 2 for a command line that is wrong.
func command(args []string, out, fault io.Writer) int {
	printed := &cmdline.Output{Writer: out}
	o, err := parse(args, fault)
	switch {
	case err != nil:
	case o.wav != "":
		err = writeWAVs(o.wav)
	case o.sheet != "":
		err = writeSheet(o.sheet)
	case o.figures:
		err = writeFigures(printed, o.sound)
	default:
		var report string
		report, err = makeAll(&o)
		fmt.Fprint(printed, report)
	}
	return printed.Status("gen", err, fault)
}

// options are the flags.
type options struct {
	out, sound, realms, levels, wav, sheet string
	only                                   string // names with commas, or "" for all
	figures                                bool   // print those of the sounds
	all                                    bool   // realms whose sources have not changed, too
	cache                                  string // folder of the marks, "" for none
}

func parse(args []string, fault io.Writer) (o options, err error) {
	f := flag.NewFlagSet("gen", flag.ContinueOnError)
	f.StringVar(&o.out, "out", filepath.Join("..", "art"), "folder to write the pictures to")
	f.StringVar(&o.sound, "sound", filepath.Join("..", "sound"), "folder to write the sounds to")
	f.StringVar(&o.realms, "realms", filepath.Join("..", "realms"), "folder to write the realms to")
	f.StringVar(&o.levels, "levels", filepath.Join("..", "levels"), "folder to write the levels to")
	f.StringVar(&o.wav, "wav", "", "folder to write the sounds to as WAV, and nothing else")
	f.BoolVar(&o.figures, "figures", false, "print how loud and how bright each sound of the folder is, and nothing else")
	f.StringVar(&o.sheet, "sheet", "", "PNG file to compose some of each realm's ground into, and nothing else")
	f.StringVar(&o.only, "only", "", "make only what has these `names`, with commas between: \"drifter\" is both pictures of an enemy, \"tide\" a realm with its music; level files are written, too")
	f.BoolVar(&o.all, "all", false, "compose realms again that have not changed")
	if cache, err := os.UserCacheDir(); err == nil {
		o.cache = filepath.Join(cache, "strata")
	}
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
	case o.figures && (o.wav != "" || o.sheet != "" || o.only != ""):
		problem = "-figures prints a table and writes nothing: leave -wav, -sheet and -only out"
	case o.only != "" && (o.wav != "" || o.sheet != ""):
		problem = "-only selects files, and -wav and -sheet write none of them: use one of the three"
	}
	if err := cmdline.Writable(o.sheet); err != nil && problem == "" {
		problem = "-sheet: " + err.Error()
	}
	if problem != "" {
		return o, cmdline.Wrong(f, fault, problem)
	}
	return o, nil
}
