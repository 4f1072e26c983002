package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// folder makes a folder to serve. A file outside it must not be.
func folder(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "site")
	for name, data := range map[string]string{
		"../secret.txt": "secret", "index.html": "page", "index.html.br": "PAGE", "index.html.gz": "Page", "x.wasm": "x-wasm",
		"x.wasm.gz": "X-WASM", "assets/x.ogg": "0123456789", "only.br": "alone", "odd": "no type",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ask sends one request to the handler of a folder.
func ask(dir, method, path string, header http.Header) *httptest.ResponseRecorder {
	r := &http.Request{Method: method, URL: &url.URL{Path: path}, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	w := httptest.NewRecorder()
	unstalled(handler(dir), time.Minute).ServeHTTP(w, r)
	return w
}

func TestHandler_StatusOfEachPath(t *testing.T) {
	dir := folder(t)
	for _, c := range []struct {
		path string
		want int
		body string
	}{
		{"/", 200, "page"}, {"", 200, "page"}, {"/index.html", 200, "page"}, {"//index.html", 200, "page"}, {"/./x.wasm", 200, "x-wasm"},
		{"/assets/x.ogg", 200, "0123456789"}, {"/../x.wasm", 200, "x-wasm"}, {"/odd", 200, "no type"}, {"/only.br", 200, "alone"},
		{"/assets", 404, ""}, {"/assets/", 404, ""}, {"/none", 404, ""}, {"/x.wasm/", 404, ""}, {"/x.wasm/y", 404, ""}, {"/only", 404, ""},
		{"/../secret.txt", 404, ""}, {"/assets/../../secret.txt", 404, ""}, {`/..\secret.txt`, 404, ""}, {"/assets/.././../secret.txt", 404, ""},
		{"/\x00", 404, ""}, {"/x.wasm\x00.txt", 404, ""}, {"/\xff\xfe", 404, ""}, {"/a:b", 404, ""}, {"/x.wasm.", 404, ""},
		{"/" + strings.Repeat("a", 255), 404, ""}, {"/" + strings.Repeat("a", 256), 404, ""}, {"/" + strings.Repeat("a", 1000), 404, ""},
		{"/" + strings.Repeat("a/", 500), 404, ""}, {"/" + strings.Repeat("a", 1024), 414, ""}, {"/" + strings.Repeat("../", 4000), 414, ""},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := ask(dir, method, c.path, nil)
			body := w.Body.String()
			if w.Code != c.want || c.want == 200 && method == "GET" && body != c.body || strings.Contains(body, "secret") {
				t.Errorf("%s %.60q: %d %q; want %d %q", method, c.path, w.Code, body, c.want, c.body)
			}
			if c.want != 200 && (strings.Contains(body, "href") || w.Header().Get("Content-Encoding") != "") {
				t.Errorf("%s %.60q: %q, %v", method, c.path, body, w.Header())
			}
		}
	}
}

func TestHandler_LinkOutOfTheFolderIsNotFound(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := folder(t)
	for name, to := range map[string]string{"out.txt": "../secret.txt", "up": "..", "in.txt": "x.wasm", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{"/out.txt": 404, "/up/secret.txt": 404, "/in.txt": 200, "/loop": 404} {
		if w := ask(dir, "GET", path, nil); w.Code != want || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %q, want %d", path, w.Code, w.Body, want)
		}
	}
}

func TestHandler_OtherMethodsAreRefused(t *testing.T) {
	dir := folder(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "PROPFIND", "get", ""} {
		for _, path := range []string{"/", "/none", "/assets/", "*"} {
			if w := ask(dir, method, path, nil); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}

func TestHandler_AcceptEncoding(t *testing.T) {
	dir := folder(t)
	for _, c := range []struct {
		accept string
		want   string // "" as it is, "406" none
	}{
		{"", ""}, {"br", "br"}, {"gzip", "gzip"}, {"gzip, br", "br"}, {"br, gzip", "br"}, {"GZIP", "gzip"}, {"x-gzip", "gzip"}, {"deflate", ""}, {"zstd, deflate", ""},
		{"br;q=0", ""}, {"br;q=0.0", ""}, {"br;q=0.00", ""}, {"br;q=0.000", ""}, {"br; q=0.0", ""}, {"br ;Q=0.", ""}, {"br;q=0.0, gzip", "gzip"},
		{"br;q=0.001", "br"}, {"br;q=1.000", "br"}, {"br;q=1", "br"}, {"br;q=0.5, gzip;q=0.6", "gzip"}, {"br;q=0.6, gzip;q=0.5", "br"},
		{"*", "br"}, {"*;q=0.5", "br"}, {"*;q=0.5, br;q=0", "gzip"}, {"*;q=0.5, gzip", "gzip"}, {"gzip, *;q=0", "gzip"}, {"*;q=0", "406"}, {"*;q=0.0", "406"},
		{"identity;q=0", "406"}, {"identity;q=0, br", "br"}, {"identity, *;q=0", ""}, {"identity, br;q=0.5", ""}, {"identity;q=0.5, br", "br"},
		{"br;q=2", ""}, {"br;q=-1", ""}, {"br;q=NaN", ""}, {"br;q=0x1", ""}, {"br;q=1e0", ""}, {"br;q=", ""}, {"br;", ""}, {"br;level=1", ""}, {"br;q=0.1234", ""},
		{",,, ,", ""}, {"br, br;q=0", ""}, {"brotli", ""}, {"b r", ""}, {"\tbr\t", "br"}, {strings.Repeat("x,", 20_000) + "br", "br"},
	} {
		header := http.Header{}
		if c.accept != "" {
			header.Set("Accept-Encoding", c.accept)
		}
		w := ask(dir, "GET", "/", header)
		h, want := w.Header(), map[string]string{"": "page", "br": "PAGE", "gzip": "Page", "406": "Not Acceptable\n"}[c.want]
		if w.Body.String() != want || (w.Code == 406) != (c.want == "406") || w.Code == 200 && h.Get("Content-Encoding") != c.want || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%.60q: %d %q as %q; want %q", c.accept, w.Code, w.Body, h.Get("Content-Encoding"), c.want)
		}
	}
	if w := ask(dir, "GET", "/", http.Header{"Accept-Encoding": {"gzip;q=0.2", "br;q=0.1"}}); w.Body.String() != "Page" {
		t.Errorf("two headers: %q", w.Body)
	}
	if w := ask(dir, "GET", "/x.wasm.gz", http.Header{"Accept-Encoding": {"gzip"}}); w.Header().Get("Content-Encoding") != "" || w.Header().Get("Content-Type") == "application/wasm" {
		t.Errorf("a compressed file that is asked for by its name: %v", w.Header())
	}
}

func TestHandler_RangesAndConditions(t *testing.T) {
	dir := folder(t)
	const path = "/assets/x.ogg"
	first := ask(dir, "GET", path, nil)
	tag, date := first.Header().Get("ETag"), first.Header().Get("Last-Modified")
	page := ask(dir, "GET", "/", http.Header{"Accept-Encoding": {"br"}}).Header().Get("ETag")
	if tag == "" || date == "" || page == "" || page == ask(dir, "GET", "/", nil).Header().Get("ETag") {
		t.Fatalf("ETag %q, Last-Modified %q; compressed %q", tag, date, page)
	}
	for _, c := range []struct {
		header http.Header
		want   int
		body   string
	}{
		{http.Header{"Range": {"bytes=2-4"}}, 206, "234"},
		{http.Header{"Range": {"bytes=-3"}}, 206, "789"},
		{http.Header{"Range": {"bytes=8-"}}, 206, "89"},
		{http.Header{"Range": {"bytes=8-99"}}, 206, "89"},
		{http.Header{"Range": {"bytes=10-"}}, 416, ""},
		{http.Header{"Range": {"bytes=5-2"}}, 416, ""},
		{http.Header{"Range": {"bytes=x"}}, 416, ""},
		{http.Header{"Range": {"bytes=99999999999999999999-"}}, 416, ""},
		{http.Header{"Range": {"bytes=2-4"}, "If-Range": {tag}}, 206, "234"},
		{http.Header{"Range": {"bytes=2-4"}, "If-Range": {page}}, 200, "0123456789"},
		{http.Header{"If-None-Match": {tag}}, 304, ""},
		{http.Header{"If-None-Match": {"*"}}, 304, ""},
		{http.Header{"If-None-Match": {page}}, 200, "0123456789"},
		{http.Header{"If-Match": {page}}, 412, ""},
		{http.Header{"If-Modified-Since": {date}}, 304, ""},
		{http.Header{"If-Modified-Since": {"no date"}}, 200, "0123456789"},
		{http.Header{"If-Unmodified-Since": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, 412, ""},
	} {
		w := ask(dir, "GET", path, c.header)
		if w.Code != c.want || w.Code < 300 && w.Body.String() != c.body {
			t.Errorf("%v: %d %q, want %d %q", c.header, w.Code, w.Body, c.want, c.body)
		}
	}
	many := ask(dir, "GET", path, http.Header{"Range": {"bytes=" + strings.Repeat("0-9,", 5000) + "0-9"}})
	if many.Code >= 500 || many.Body.Len() > 1000 {
		t.Errorf("5,001 ranges: %d, %d bytes", many.Code, many.Body.Len())
	}
	encoded := ask(dir, "GET", "/", http.Header{"Accept-Encoding": {"br"}, "Range": {"bytes=1-2"}})
	if encoded.Code != 206 || encoded.Body.String() != "AG" || encoded.Header().Get("Content-Encoding") != "br" {
		t.Errorf("a range of the compressed form: %d %q, %v", encoded.Code, encoded.Body, encoded.Header())
	}
}

// The methods that net/http would answer before the handler are refused, too.
func TestServer_RefusesOtherMethods(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = server(folder(t))
	s.Start()
	defer s.Close()
	for _, request := range []string{"OPTIONS *", "OPTIONS /", "CONNECT x:1", "TRACE /", "POST /", "PRI *"} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, request+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != 405 || answer.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %v, %v", request, answer, err)
		}
		c.Close()
	}
}

func TestServer_HasEveryTimeout(t *testing.T) {
	s := server(t.TempDir())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("%+v", s)
	}
}

// pipes is a listener without a network, for a bubble of synctest.
type pipes chan net.Conn

func (l pipes) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (l pipes) Close() error   { return nil }
func (l pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects and sends the beginning of a request, or a complete one.
func (l pipes) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	c, theirs := net.Pipe()
	l <- theirs
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

// A slow client gets all of a large file, in hours. Connections of clients that read nothing, ask for nothing or send
// half a request are closed after their time-out, and not before.
func TestServer_SlowClientsAreServedStalledOnesLeft(t *testing.T) {
	dir := t.TempDir()
	large := bytes.Repeat([]byte("large"), 4<<20)
	if err := os.WriteFile(filepath.Join(dir, "large"), large, 0o644); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		s := server(dir)
		ended := make(chan error)
		go func() { ended <- s.Serve(l) }()

		slow, got, began := l.dial(t, "GET /large HTTP/1.0\r\n\r\n"), 0, time.Now()
		for part := make([]byte, 32<<10); ; time.Sleep(stallTimeout * 9 / 10) {
			n, err := io.ReadFull(slow, part)
			if got += n; err != nil {
				break
			}
		}
		if took := time.Since(began); got < len(large) || took < time.Hour {
			t.Errorf("a slow client got %d of %d bytes in %v", got, len(large), took)
		}

		const first = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		for what, c := range map[string]struct {
			request string
			answer  bool // the client reads one
			after   time.Duration
		}{
			"takes nothing":          {"GET /large HTTP/1.0\r\n\r\n", false, stallTimeout},
			"sends nothing":          {"", false, readTimeout},
			"ends no header":         {"GET / HTTP/1.1\r\nHost: x\r\n", false, readTimeout},
			"asks for nothing more":  {first, true, idleTimeout},
			"ends no second request": {first + "GET / HTTP/1.1\r\nHost: x\r\n", true, readTimeout},
		} {
			client := l.dial(t, c.request)
			if c.answer {
				answer, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				_, _ = io.Copy(io.Discard, answer.Body) // a refusal, which is short
			}
			time.Sleep(c.after * 9 / 10)
			if left(client) {
				t.Errorf("a client that %s is left before %v", what, c.after)
			}
			time.Sleep(c.after/10 + readTimeout)
			if !left(client) {
				t.Errorf("a client that %s is not left after %v", what, c.after)
			}
			client.Close()
		}
		close(l)
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		slow.Close()
	})
}

// left reports whether the server has closed a connection. It sends nothing.
func left(c net.Conn) bool {
	_ = c.SetWriteDeadline(time.Now())
	_, err := c.Write([]byte("x"))
	return errors.Is(err, io.ErrClosedPipe)
}
