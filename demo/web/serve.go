package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The limits of the server. Downloads may take as long as they like if they make progress.
const (
	readTimeout  = 10 * time.Second // for a request
	stallTimeout = time.Minute      // for a client to take the next part of an answer
	idleTimeout  = 2 * time.Minute  // between two requests
	headerBytes  = 64 << 10
	pathBytes    = 1024 // 414 above; the longest path of the page has 40
	nameBytes    = 255  // of one name in it; systems refuse longer ones
)

// server serves a folder.
func server(dir string) *http.Server {
	return &http.Server{
		Handler: unstalled(handler(dir), stallTimeout),
		// Without this net/http itself answers OPTIONS * with 200.
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            readTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 readTimeout + stallTimeout, // until unstalled sets the next
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               headerBytes,
	}
}

// serve serves a folder until ctx ends.
func serve(ctx context.Context, l net.Listener, dir string) error {
	s := server(dir)
	done := context.AfterFunc(ctx, func() { s.Close() })
	defer done()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler sends the files of a folder, compressed if there is a compressed form that the client accepts. It
// answers GET and HEAD. Folders are not listed: a path that ends in a slash is that of an index.html.
func handler(dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed)
			return
		}
		if len(r.URL.Path) > pathBytes {
			refuse(w, http.StatusRequestURITooLong)
			return
		}
		name, ok := fileName(r.URL.Path)
		forms := []form{}
		if ok {
			forms = formsOf(dir, name)
		}
		if len(forms) == 0 {
			refuse(w, http.StatusNotFound)
			return
		}
		w.Header().Set("Vary", "Accept-Encoding")
		f := chosen(forms, r.Header.Values("Accept-Encoding"))
		if f == nil {
			refuse(w, http.StatusNotAcceptable)
			return
		}
		f.send(w, r, dir, name)
	})
}

// refuse answers with a status and its name.
func refuse(w http.ResponseWriter, status int) {
	http.Error(w, http.StatusText(status), status)
}

// fileName returns the path in the folder of a URL's path, and false if no file can have it.
func fileName(url string) (name string, ok bool) {
	name = strings.TrimPrefix(path.Clean("/"+url), "/")
	if url == "" || strings.HasSuffix(url, "/") {
		name = path.Join(name, indexName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > nameBytes {
			return "", false
		}
	}
	return name, fs.ValidPath(name) && !strings.ContainsRune(name, 0)
}

// A form is a file as it is, or compressed beside it.
type form struct {
	encoding string // as Accept-Encoding names it
	suffix   string
}

// allForms are the forms that a file may have. If a client accepts several equally, the first is sent.
var allForms = []form{{"br", ".br"}, {"gzip", ".gz"}, {"identity", ""}}

// formsOf returns the forms of a file that exist; a compressed one alone is none.
func formsOf(dir, name string) (forms []form) {
	for _, f := range allForms {
		file, _, err := open(dir, name+f.suffix)
		if err != nil {
			if f.suffix == "" {
				return nil
			}
			continue
		}
		_ = file.Close() // it was not read
		forms = append(forms, f)
	}
	return forms
}

// open opens a plain file; no link leads out of the folder.
func open(dir, name string) (*os.File, fs.FileInfo, error) {
	path := filepath.FromSlash(name)
	if info, err := os.Stat(filepath.Join(dir, path)); err != nil || !info.Mode().IsRegular() {
		return nil, nil, fs.ErrNotExist // to open a named pipe would wait for its writer
	}
	f, err := os.OpenInRoot(dir, path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // it was not read
		return nil, nil, fs.ErrNotExist
	}
	return f, info, nil
}

// send answers with one form of a file, or with the ranges of it that were asked for.
func (f form) send(w http.ResponseWriter, r *http.Request, dir, name string) {
	file, info, err := open(dir, name+f.suffix)
	if err != nil { // it was there a moment ago
		refuse(w, http.StatusNotFound)
		return
	}
	defer file.Close()
	h := w.Header()
	h.Set("Cache-Control", "no-cache") // the next build has the same names
	h.Set("X-Content-Type-Options", "nosniff")
	// Each form has a tag of its own: a range of one must not be joined to a range of another.
	h.Set("ETag", fmt.Sprintf(`"%x-%x%s"`, info.ModTime().UnixNano(), info.Size(), f.suffix))
	if f.suffix != "" {
		h.Set("Content-Encoding", f.encoding)
	}
	kind := mime.TypeByExtension(path.Ext(name)) // not that of the compressed form
	kind = cmp.Or(kind, "application/octet-stream")
	h.Set("Content-Type", kind)
	http.ServeContent(w, r, name, info.ModTime(), file)
}

// unstalled ends an answer whose client takes no part of it for a time, however long the whole may take.
func unstalled(h http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&progress{w, http.NewResponseController(w), limit}, r)
	})
}

// progress moves the deadline with each part. It has no ReadFrom, which would send a file in one call.
type progress struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

func (p *progress) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.limit)) // a writer without deadlines has no client that stalls
	return p.ResponseWriter.Write(data)
}

// Unwrap is for http.ResponseController.
func (p *progress) Unwrap() http.ResponseWriter { return p.ResponseWriter }
