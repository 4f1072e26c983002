// Command server is the loop of a game server, three times. Players in zones send inputs and chat. In each tick a
// player gets a packet with the changes since the last packet that has arrived. The rules, the format of packets and
// the clients are the same three times. The memory of packets, of snapshots and of chat is
//
//	plain   made when it is needed, as in most servers in Go
//	reused  made once and used again, by hand
//	strata  packets in frame memory; snapshots and chat from an allocator with tags, freed by hand
//
// Without flags the command runs all in rotation, in processes of their own, and prints the time and memory of each:
//
//	go run ./demo/dropin/server
//
// The variants are in plain.go, reused.go and strata.go. With -http the variant strata serves profiles while it runs:
//
//	go run ./demo/dropin/server -variant strata -ticks 100000 -http :6060 &
//	go tool pprof -top http://localhost:6060/debug/pprof/strata
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/strata-go/strata/demo/dropin/profiles"
	"github.com/strata-go/strata/engine/cmdline"
)

// variants are the servers by name. The first is the one that the others are compared with.
var variants = []struct {
	name string
	make func(seed uint64) (server, error)
}{
	{"plain", newPlain},
	{"reused", newReused},
	{"strata", func(seed uint64) (server, error) { return newStrata(seed, nil) }},
}

func main() {
	os.Exit(cmdline.Status("server", run(os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

func run(args []string, out, fault io.Writer) error {
	serves := false
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	ticks := f.Int("ticks", 6000, "`N` ticks of each run, after a tenth as many that are not measured")
	rounds := f.Int("rounds", 6, "`N` runs of each variant")
	seed := f.Uint64("seed", 1, "`seed` of the zones and the players")
	only := f.String("variant", "", "run plain, reused or strata once in this process and print its figures as JSON")
	asked := profiles.Flag(f)
	if err := cmdline.Parse(f, args, fault); err != nil {
		return err
	}
	f.Visit(func(f *flag.Flag) { serves = serves || f.Name == "http" })
	switch {
	case *ticks < 1 || *rounds < 1 || *rounds > 1000 || f.NArg() > 0:
		return cmdline.Wrong(f, fault, fmt.Sprintf("-ticks %d -rounds %d and %d more arguments; allowed are at least 1, 1 to 1000, and none", *ticks, *rounds, f.NArg()))
	case serves && *only != "strata":
		return cmdline.Wrong(f, fault, "-http is for the server with a manager: use it with -variant strata")
	case serves:
		s, err := newStrata(*seed, asked)
		if err != nil {
			return err
		}
		return report(s, *ticks, *seed, out)
	case *only == "":
		return compare(*ticks, *rounds, *seed, out)
	}
	for _, v := range variants {
		if v.name == *only {
			s, err := v.make(*seed)
			if err != nil {
				return err
			}
			return report(s, *ticks, *seed, out)
		}
	}
	return cmdline.Wrong(f, fault, fmt.Sprintf("-variant %.20q: allowed are plain, reused and strata", *only))
}
