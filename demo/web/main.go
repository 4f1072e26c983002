// Command web builds the demo for the browser and serves it on this machine.
//
//	go run ./demo/web                 serve on 127.0.0.1:8080
//	go run ./demo/web -out site       write the files that any web server can serve
//
// Both print the sizes of the files that a player downloads. The page takes the demo's flags from its address:
// /?seed=7&overlay is -seed=7 -overlay, and /?headless&ticks=600&seed=7&hash prints the hash that every other system
// prints.
//
// # The files
//
//	index.html, wasm_exec.js    the page, and Go's own loader
//	NOTICES.txt                 the licences of what others wrote, which the page links to
//	strata.wasm                 the game and what it begins with, compiled while it comes
//	*.br, *.gz                  the same, compressed, for servers that send these, as nginx with
//	                            brotli_static or Caddy with precompressed; where a server sends
//	                            strata.wasm as it is, the page takes one of these and unpacks it
//	assets/                     sounds, and surveys and pictures of the ground, which the game fetches
//	                            when it needs them
//
// Addresses are relative: any folder of any server will do.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"

	"github.com/strata-go/strata/engine/cmdline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	addr, out string
}

// run is main with everything passed in: 0 for a run that went well, 1 for one that did not,
// 2 for a command line that is wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &cmdline.Output{Writer: stdout}
	o, err := parse(args, stderr)
	switch {
	case err != nil:
	case o.out != "":
		err = o.write(ctx, out)
	default:
		err = o.serve(ctx, out)
	}
	return out.Status("web", err, stderr)
}

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("web", flag.ContinueOnError)
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "serve on `HOST:PORT`; port 0 takes a free one")
	f.StringVar(&o.out, "out", "", "write the files to `DIR` and do not serve them")
	if err := cmdline.Parse(f, args, out); err != nil {
		return o, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	problem := ""
	switch _, port, err := net.SplitHostPort(o.addr); {
	case f.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q; every option is a flag, see -help", f.Arg(0))
	case given["addr"] && given["out"]:
		problem = "-addr serves and -out does not: use one of them"
	case given["out"] && o.out == "":
		problem = "-out: the name of a folder is needed"
	case err != nil || !isPort(port):
		problem = fmt.Sprintf("-addr %q: not HOST:PORT with a port from 0 to 65535, as in 127.0.0.1:8080", o.addr)
	}
	if problem != "" {
		return o, cmdline.Wrong(f, out, problem)
	}
	return o, nil
}

// isPort reports whether a text is the number of a port.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// write puts the files into a folder.
func (o *options) write(ctx context.Context, stdout io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if err := build(ctx, o.out, stdout); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "written to", o.out)
	return nil
}

// serve builds into a folder of its own and serves it until it is interrupted.
func (o *options) serve(ctx context.Context, stdout io.Writer) error {
	// The address first: whether it is free is known at once, and a build takes a while.
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	defer l.Close()
	dir, err := os.MkdirTemp("", "strata-web-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(stdout, "building for the browser")
	if err := build(ctx, dir, stdout); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "play at http://%s/ (interrupt to end)\n", l.Addr())
	return serve(ctx, l, dir)
}
