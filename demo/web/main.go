// Command web builds the demo for the browser and serves it on this machine:
//
//	go run ./demo/web                 serve on 127.0.0.1:8080
//	go run ./demo/web -out site       write the files that any web server can serve
//
// The page takes the demo's flags from its address: /?seed=7&overlay is -seed=7 -overlay, and
// /?headless&ticks=600&seed=7&hash prints the hash that every other system prints.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

//go:embed index.html
var index []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	addr, out string
}

// errUsage says that the command line was wrong, and that the reason was printed.
var errUsage = errors.New("usage")

// run is main with everything passed in: 0 for a run that went well, 1 for one that did not,
// 2 for a command line that is wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	play := o.serve
	if o.out != "" {
		play = o.write
	}
	if err := play(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "web:", err)
		return 1
	}
	return 0
}

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("web", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "serve on `HOST:PORT`; port 0 takes a free one")
	f.StringVar(&o.out, "out", "", "write the files to `DIR` and do not serve them")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, errUsage // flag has said why
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	problem := ""
	switch _, _, err := net.SplitHostPort(o.addr); {
	case f.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q; every option is a flag, see -help", f.Arg(0))
	case given["addr"] && given["out"]:
		problem = "-addr serves and -out does not: use one of them"
	case given["out"] && o.out == "":
		problem = "-out: the name of a folder is needed"
	case err != nil:
		problem = fmt.Sprintf("-addr %s: not HOST:PORT, as in 127.0.0.1:8080", o.addr)
	}
	if problem != "" {
		fmt.Fprintln(out, "web: "+problem)
		return o, errUsage
	}
	return o, nil
}

// write puts the files into a folder.
func (o *options) write(ctx context.Context, stdout io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if err := build(ctx, o.out); err != nil {
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
	if err := build(ctx, dir); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "play at http://%s/ (interrupt to end)\n", l.Addr())
	return serve(ctx, l, dir)
}

func serve(ctx context.Context, l net.Listener, dir string) error {
	files := http.FileServer(http.Dir(dir))
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store") // the next build has the same names
		files.ServeHTTP(w, r)
	})}
	done := context.AfterFunc(ctx, func() { s.Close() })
	defer done()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// The demo's import path and the name under which the page asks for it.
const (
	demoPath = "github.com/strata-go/strata/demo"
	wasmName = "strata.wasm"
)

// build writes the page, Go's own loader and the game to dir. The loader belongs to the
// toolchain that builds: another version's does not fit.
func build(ctx context.Context, dir string) error {
	root, err := tool(ctx, nil, "env", "GOROOT")
	if err != nil {
		return err
	}
	loader, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("the Go installation has no loader for the browser: %w", err)
	}
	wasm, err := filepath.Abs(filepath.Join(dir, wasmName))
	if err != nil {
		return err
	}
	env := append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if _, err := tool(ctx, env, "build", "-trimpath", "-ldflags=-s -w", "-o", wasm, demoPath); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "wasm_exec.js"), loader, 0o644),
		os.WriteFile(filepath.Join(dir, "index.html"), index, 0o644),
	)
}

// tool runs the go command and returns what it printed. Its complaints are in the error.
func tool(ctx context.Context, env []string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", errors.New("interrupted")
		}
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
