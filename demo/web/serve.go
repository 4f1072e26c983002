package main

import (
	"context"
	"errors"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// serve serves a folder until ctx ends.
func serve(ctx context.Context, l net.Listener, dir string) error {
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: handler(dir)}
	done := context.AfterFunc(ctx, func() { s.Close() })
	defer done()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// encodings are how a file may lie beside itself, the smaller first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// handler sends the files of a folder, compressed where they lie there compressed and the browser
// takes that.
func handler(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-cache") // the next build has the same names
		h.Set("Vary", "Accept-Encoding")
		name := path.Clean("/" + r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/") {
			name = path.Join(name, "index.html")
		}
		for _, e := range encodings {
			if !accepts(r, e.name) {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)+e.suffix)); err != nil {
				continue
			}
			h.Set("Content-Encoding", e.name)
			h.Set("Content-Type", mime.TypeByExtension(path.Ext(name))) // and not that of the archive
			r.URL.Path = name + e.suffix
			break
		}
		files.ServeHTTP(w, r)
	})
}

// accepts reports whether a browser takes an encoding.
func accepts(r *http.Request, encoding string) bool {
	return slices.ContainsFunc(strings.Split(r.Header.Get("Accept-Encoding"), ","), func(e string) bool {
		name, weight, _ := strings.Cut(strings.TrimSpace(e), ";")
		return name == encoding && strings.ReplaceAll(weight, " ", "") != "q=0"
	})
}
