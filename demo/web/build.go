package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/notices"
)

//go:embed index.html
var index []byte

// The demo's import path, this command's, and the names under which the page asks for its files.
const (
	demoPath   = "github.com/strata-go/strata/demo"
	webPath    = demoPath + "/web"
	wasmName   = "strata.wasm"
	loaderName = "wasm_exec.js"
	indexName  = "index.html"
	noticeName = "NOTICES.txt" // the licences of what the page contains; index.html links to it
)

// page is what is compressed.
var page = []string{indexName, loaderName, wasmName}

// cold are packages of which no tick depends on the speed. Without inlining the program is some 6 % shorter to download.
var cold = []string{
	"github.com/hajimehoshi/ebiten/v2/...", "golang.org/x/...",
	"archive/...", "compress/...", "crypto/...", "encoding/...", "flag", "fmt", "go/...", "image/...", "io/...", "log/...",
	"math/big", "net/...", "os", "reflect", "regexp/...", "text/...",
	"github.com/strata-go/strata/demo", "github.com/strata-go/strata/demo/coach", "github.com/strata-go/strata/demo/realm/...",
	"github.com/strata-go/strata/demo/replay", "github.com/strata-go/strata/demo/shell", "github.com/strata-go/strata/demo/strictjson",
	"github.com/strata-go/strata/demo/tour", "github.com/strata-go/strata/engine/atomicfile", "github.com/strata-go/strata/engine/cmdline",
	"github.com/strata-go/strata/memory/heapsites", "github.com/strata-go/strata/memory/layout", "github.com/strata-go/strata/memory/plan/...",
	"github.com/strata-go/strata/memory/save", "github.com/strata-go/strata/memory/trace",
}

// build writes all that a browser needs to dir, and says how much it is. The loader belongs to the
// toolchain that builds: another version's does not fit.
func build(ctx context.Context, dir string, stdout io.Writer) error {
	root, err := tool(ctx, nil, "env", "GOROOT")
	if err != nil {
		return err
	}
	loader, err := os.ReadFile(filepath.Join(root, "lib", "wasm", loaderName))
	if err != nil {
		return fmt.Errorf("the Go installation has no loader for the browser: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	env := append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	wasm := filepath.Join(dir, wasmName)
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", wasm}
	for _, pkg := range cold {
		args = append(args, "-gcflags="+pkg+"=-l")
	}
	if _, err := tool(ctx, env, append(args, demoPath)...); err != nil {
		return err
	}
	info, err := os.Stat(wasm)
	if err != nil {
		return err
	}
	// Of a compressed answer a browser does not say how long it will be.
	sized := bytes.ReplaceAll(index, []byte("WASM_BYTES"), fmt.Append(nil, info.Size()))
	err = errors.Join(
		os.Chmod(wasm, 0o644),
		os.WriteFile(filepath.Join(dir, loaderName), loader, 0o644),
		os.WriteFile(filepath.Join(dir, indexName), sized, 0o644),
		os.WriteFile(filepath.Join(dir, noticeName), []byte(notices.Text), 0o644),
		copyAssets(filepath.Join(dir, "assets")),
	)
	if err != nil {
		return err
	}
	if err := compress(ctx, dir); err != nil {
		return err
	}
	return sizes(stdout, dir)
}

// copyAssets writes what the game fetches.
func copyAssets(dir string) error {
	return fs.WalkDir(assets.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !assets.Fetched(name) {
			return err
		}
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}

// compress writes .gz and .br beside the files of the page. The sounds and pictures are compressed.
func compress(ctx context.Context, dir string) error {
	source, err := tool(ctx, nil, "list", "-f", "{{.Dir}}", webPath)
	if err != nil {
		return err
	}
	args := []string{"run", "-C", filepath.Join(source, "brotli"), "."}
	for _, name := range page {
		name = filepath.Join(dir, name)
		if err := gzipped(name); err != nil {
			return err
		}
		args = append(args, name)
	}
	_, err = tool(ctx, nil, args...)
	return err
}

// gzipped writes a file's .gz.
func gzipped(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name+".gz", out.Bytes(), 0o644)
}

// sizes says how large the page is, as it is and compressed.
func sizes(stdout io.Writer, dir string) error {
	const mib = 1 << 20
	for _, form := range []struct{ name, suffix string }{{"as it is", ""}, {"gzip", ".gz"}, {"brotli", ".br"}} {
		sum := int64(0)
		for _, name := range page {
			info, err := os.Stat(filepath.Join(dir, name+form.suffix))
			if err != nil {
				return err
			}
			sum += info.Size()
		}
		fmt.Fprintf(stdout, "the page, %-8s    %6.2f MiB\n", form.name, float64(sum)/mib)
	}
	sum := int64(0)
	err := filepath.WalkDir(filepath.Join(dir, "assets"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	fmt.Fprintf(stdout, "fetched as needed     %6.2f MiB in all\n", float64(sum)/mib)
	return err
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
	return strings.TrimSpace(stdout.String()), nil
}
