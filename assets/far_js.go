package assets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall/js"
	"time"
)

// far is a file system whose files lie in the folder assets next to the page, except those of near.
//
// Open fetches the whole file. It stays in the browser's memory, outside the program's, and Read copies from there.
// If the network or the server fails it is tried again, within patience. The streamer's patience must be much longer,
// because a busy page delays all of this. Some hosts send a page instead of a missing file; decoding it fails.
type far struct{ near fs.FS }

// The time that an Open may take in all, and the wait before the second try; before the third it is twice as long.
const (
	patience = 15 * time.Second
	again    = 400 * time.Millisecond
	tries    = 3
)

func (f far) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) || !Fetched(name) {
		return f.near.Open(name)
	}
	data, err := fetch("assets/" + name)
	if err != nil {
		return nil, &fs.PathError{Op: "fetch", Path: name, Err: err}
	}
	return &file{name: name, data: data, size: data.Get("length").Int()}, nil
}

// Download downloads a file from the page's server and returns its content. The path is relative to the page. Download
// fails if this takes more than about 15 s. If the server has no such file, the error wraps fs.ErrNotExist. Do not call
// Download from a JavaScript callback.
func Download(path string) ([]byte, error) {
	data, err := fetch(path)
	if err != nil {
		return nil, err
	}
	p := make([]byte, data.Get("length").Int())
	js.CopyBytesToGo(p, data)
	return p, nil
}

// fetch returns a file as a Uint8Array.
func fetch(url string) (data js.Value, err error) {
	for end, try := time.Now().Add(patience), 0; ; {
		var lasting bool
		if data, lasting, err = attempt(url, time.Until(end)); err == nil || lasting {
			return data, err
		}
		wait := again << try
		if try++; try == tries || time.Until(end) < 2*wait {
			return data, err
		}
		time.Sleep(wait)
	}
}

// attempt tries once. A lasting error would be the same at the next try.
func attempt(url string, timeout time.Duration) (data js.Value, lasting bool, err error) {
	if !js.Global().Get("document").Truthy() {
		return data, true, errors.New("there is no page to fetch it from")
	}
	signal := js.Global().Get("AbortSignal").Call("timeout", timeout.Milliseconds())
	answer, err := await(js.Global().Call("fetch", url, map[string]any{"signal": signal}))
	if err != nil {
		return data, false, err
	}
	switch status := answer.Get("status").Int(); {
	case answer.Get("ok").Bool():
	case status == 404:
		return data, true, fs.ErrNotExist
	default:
		return data, status < 500 && status != 429, fmt.Errorf("the server answers %d %s", status, answer.Get("statusText").String())
	}
	buffer, err := await(answer.Call("arrayBuffer"))
	if err != nil {
		return data, false, err
	}
	return js.Global().Get("Uint8Array").New(buffer), false, nil
}

// await waits for a promise.
func await(promise js.Value) (value js.Value, err error) {
	done := make(chan struct{})
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any { value = args[0]; close(done); return nil })
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any { err = js.Error{Value: args[0]}; close(done); return nil })
	defer kept.Release()
	defer broken.Release()
	promise.Call("then", kept, broken)
	<-done
	return value, err
}

// A file is a fetched file.
type file struct {
	name     string
	data     js.Value
	at, size int
}

func (f *file) Read(p []byte) (int, error) {
	if f.at == f.size {
		return 0, io.EOF
	}
	n := js.CopyBytesToGo(p, f.data.Call("subarray", f.at))
	f.at += n
	return n, nil
}

func (f *file) Close() error { return nil }

// Stat returns the size and the zero time, because fetched files are not watched for changes.
func (f *file) Stat() (fs.FileInfo, error) { return info{f}, nil }

type info struct{ *file }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(i.size) }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
