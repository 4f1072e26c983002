package main

import (
	"bytes"
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
	"time"
)

// folder makes a folder to serve. A file outside it must not be.
func folder(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "site")
	for name, data := range map[string]string{
		"../secret.txt": "secret", "index.html": "page", "index.html.br": "PAGE", "index.html.gz": "Page", "x.wasm": "x-wasm",
		"x.wasm.gz": "X-WASM", "assets/sound.flac": "0123456789", "only.br": "alone", "odd": "no type",
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
		{"/assets/sound.flac", 200, "0123456789"}, {"/../x.wasm", 200, "x-wasm"}, {"/odd", 200, "no type"}, {"/only.br", 200, "alone"},
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
	const path = "/assets/sound.flac"
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

func TestServer_HasEveryTimeout(t *testing.T) {
	s := server(t.TempDir())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("%+v", s)
	}
}

// A slow client gets all of a large file, in more time than it may stall; one that takes nothing is left.
func TestServer_SlowClientsAreServedStalledOnesLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := bytes.Repeat([]byte("large"), 4<<20) // more than the buffers of a connection
	if err := os.WriteFile(filepath.Join(dir, "large"), large, 0o644); err != nil {
		t.Fatal(err)
	}
	const stall = 2 * time.Second // a busy machine may stop this process for a while
	ended := make(chan struct{}, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unstalled(handler(dir), stall).ServeHTTP(w, r)
		ended <- struct{}{}
	}))
	defer s.Close()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err == nil {
			_, err = io.WriteString(c, "GET /large HTTP/1.0\r\n\r\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	stalled := dial()
	defer stalled.Close()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the server waits for a client that takes nothing")
	}
	slow := dial()
	defer slow.Close()
	got := 0
	for began, part := time.Now(), make([]byte, 1<<20); ; {
		if time.Since(began) < stall*6/5 {
			time.Sleep(stall / 20)
		}
		n, err := slow.Read(part)
		if got += n; err != nil {
			break
		}
	}
	if got < len(large) {
		t.Errorf("a slow client got %d of %d bytes", got, len(large))
	}
}
