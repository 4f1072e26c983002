package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/notices"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func web(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

func TestFlags_MistakesExitWith2AndSayWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-port", "80"}, "flag provided but not defined: -port"},
		{[]string{"-addr", "8080"}, `-addr "8080": not HOST:PORT`},
		{[]string{"-addr", "127.0.0.1:99999"}, "a port from 0 to 65535"},
		{[]string{"-addr", "127.0.0.1:"}, "a port from 0 to 65535"},
		{[]string{"-addr", "127.0.0.1:0", "-out", "x"}, "use one of them"},
		{[]string{"-out", ""}, "the name of a folder is needed"},
		{[]string{"now"}, `unexpected argument "now"`},
	} {
		code, stdout, stderr := web(t.Context(), c.args...)
		if code != 2 || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%v: exit %d, stdout %q, stderr %q; want exit 2 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
	if code, _, stderr := web(t.Context(), "-help"); code != 0 || !strings.Contains(stderr, "-out") {
		t.Errorf("-help: exit %d, %q", code, stderr)
	}
}

func TestServe_AnAddressInUseIsAnErrorBeforeTheBuild(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if code, stdout, stderr := web(t.Context(), "-addr", l.Addr().String()); code != 1 || !strings.Contains(stderr, "web: -addr:") || stdout != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestServe_GivesThePageAndItsTypesUntilInterrupted(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"index.html": string(index), wasmName: "\x00asm", "wasm_exec.js": "//"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- serve(ctx, l, dir) }()
	for path, kind := range map[string]string{"/": "text/html", "/" + wasmName: "application/wasm", "/wasm_exec.js": "javascript"} {
		answer, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || len(body) == 0 || !strings.Contains(answer.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %s, %s, %d bytes, %v", path, answer.Status, answer.Header.Get("Content-Type"), len(body), err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestServe_SendsWhatLiesThereCompressedToWhoTakesIt(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"index.html": "page", "index.html.br": "PAGE", "index.html.gz": "Page", "x.wasm": "x", "x.wasm.gz": "X"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, accept, body, encoding, kind string }{
		{"/", "gzip, deflate, br, zstd", "PAGE", "br", "text/html"},
		{"/?seed=7", "gzip", "Page", "gzip", "text/html"},
		{"/", "br;q=0, gzip;q=0.5", "Page", "gzip", "text/html"},
		{"/", "", "page", "", "text/html"},
		{"/x.wasm", "gzip, br", "X", "gzip", "application/wasm"},
		{"/../x.wasm", "br", "x", "", "application/wasm"},
		{"/x.wasm.gz", "gzip", "X", "", ""},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		r.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		handler(dir).ServeHTTP(w, r)
		h := w.Header()
		if w.Body.String() != c.body || h.Get("Content-Encoding") != c.encoding || !strings.Contains(h.Get("Content-Type"), c.kind) || h.Get("Vary") == "" {
			t.Errorf("%s for %q: %d %q as %q, %q", c.path, c.accept, w.Code, w.Body, h.Get("Content-Encoding"), h.Get("Content-Type"))
		}
	}
}

// The page and the builder must agree on names; a browser is not needed to see that.
func TestIndex_AsksForTheFilesThatAreBuilt(t *testing.T) {
	for _, name := range []string{wasmName, loaderName, "WASM_BYTES", noticeName} {
		if !bytes.Contains(index, []byte(`"`+name+`"`)) {
			t.Errorf("index.html does not ask for %s", name)
		}
	}
}

// built is the site, made once for all tests: it takes a while.
var built struct {
	once           sync.Once
	dir            string
	code           int
	stdout, stderr string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(filepath.Dir(filepath.Dir(built.dir))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// site returns the folder with all that a browser needs.
func site(t *testing.T) string {
	t.Helper()
	if testenv.Brief() {
		t.Skip("builds the whole game for another system")
	}
	b := &built
	b.once.Do(func() {
		watch(t)
		dir, err := os.MkdirTemp("", "strata-web-test-*")
		if err != nil {
			t.Fatal(err)
		}
		b.dir = filepath.Join(dir, "new", "site")
		b.code, b.stdout, b.stderr = web(context.Background(), "-out", b.dir)
	})
	if b.code != 0 {
		t.Fatalf("exit %d, stdout %q, stderr %q", b.code, b.stdout, b.stderr)
	}
	return b.dir
}

// watch looks at every folder that the game is built from. What the go command builds inside a test is
// unknown to it: of these files it knows, so that it does not say "cached" where they have changed. The
// module's own folder is not among them: in it lies .git, which changes whenever somebody asks it something.
func watch(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", demoPath)
	cmd.Env = append(cmd.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	tops := map[string]bool{}
	for dir := range strings.Lines(string(out)) {
		name, err := filepath.Rel(root, strings.TrimSpace(dir))
		if err != nil || !filepath.IsLocal(name) || name == "." {
			t.Fatalf("%q is no folder of %q: %v", dir, root, err)
		}
		top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		tops[top] = true
	}
	if len(tops) < 5 {
		t.Fatalf("the game is built from %v", tops)
	}
	for top := range tops {
		if err := filepath.WalkDir(filepath.Join(root, top), func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOut_WritesAllThatABrowserNeeds(t *testing.T) {
	dir := site(t)
	t.Log(built.stdout)
	if !strings.Contains(built.stdout, dir) || !strings.Contains(built.stdout, "brotli") {
		t.Errorf("it says %q", built.stdout)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, wasmName))
	if err != nil || !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		t.Errorf("%s: %d bytes, %v", wasmName, len(wasm), err)
	}
	for _, name := range page {
		for _, suffix := range []string{"", ".gz", ".br"} {
			if _, err := os.Stat(filepath.Join(dir, name+suffix)); err != nil {
				t.Error(err)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, noticeName)); err != nil || string(text) != notices.Text {
		t.Errorf("%s: %d bytes, %v", noticeName, len(text), err)
	}
	if page, err := os.ReadFile(filepath.Join(dir, indexName)); err != nil || !bytes.Contains(page, fmt.Appendf(nil, `Number("%d")`, len(wasm))) {
		t.Errorf("the page does not know that the program has %d bytes, %v", len(wasm), err)
	}
	err = fs.WalkDir(assets.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		_, missing := os.Stat(filepath.Join(dir, "assets", name))
		if fetched := assets.Fetched(name); fetched != (missing == nil) {
			t.Errorf("%s: fetched %v, written %v", name, fetched, missing == nil)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBuild_WhatTheGoCommandSaysIsInTheError(t *testing.T) {
	if _, err := tool(t.Context(), nil, "build", "-nonsense"); err == nil || !strings.Contains(err.Error(), "-nonsense") {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if code, _, stderr := web(ctx, "-out", t.TempDir()); code != 1 || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}
