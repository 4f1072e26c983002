package stream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// emptyReads is how many reads in a row may bring nothing, and no error either: what package
// io allows.
const emptyReads = 100

// A Reader reads the file of an asset for its decode function. A Reader is an io.Reader and an io.ByteReader. Every 32
// KiB (8 KiB in a browser) the Reader checks whether the asset was cancelled; if so, the read fails. After an error
// other than io.EOF the asset is not loaded, regardless of the result of the decode function. Further reads return the
// bytes that are buffered, and then the same error. A Reader is valid on the goroutine of the decode function until the
// decode function returns.
type Reader struct {
	w     *worker
	f     fs.File
	name  string
	stamp stamp
	left  int64  // bytes of the file that are not in buf yet
	buf   []byte // read, and not given out
	ended bool   // it was seen that the file ends where it should
	err   error
}

// Name returns the name of the asset.
func (r *Reader) Name() string { return r.name }

// Size returns the length of the whole file in bytes, at least 1.
func (r *Reader) Size() int64 { return r.stamp.size }

// Read reads up to len(p) bytes. At the end of the file it returns io.EOF. If the file is shorter or longer than
// Size, Read returns another error.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := r.fill(1); err != nil {
		return 0, err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// ReadByte reads one byte. It returns the errors of Read.
func (r *Reader) ReadByte() (byte, error) {
	if len(r.buf) == 0 {
		if err := r.fill(1); err != nil {
			return 0, err
		}
	}
	c := r.buf[0]
	r.buf = r.buf[1:]
	return c, nil
}

// Peek returns the next n bytes without advancing the Reader. An n above 4096 counts as 4096. If n is negative, Peek
// panics. The bytes are valid until the next call of a method of the Reader. If fewer bytes are left, Peek returns them
// and io.EOF. Other errors are errors of Read.
func (r *Reader) Peek(n int) ([]byte, error) {
	n = min(n, 4096)
	if err := r.fill(n); err != nil {
		return r.buf, err
	}
	return r.buf[:n], nil
}

// Wanted returns an error if the asset was cancelled, or if an earlier error of Heap.Alloc has ended the work on the
// asset (see [Heap]). Decode functions that compute for long between two reads should call Wanted, and must return its
// error. In a browser each call sleeps for 1 ms.
func (r *Reader) Wanted() error {
	breathe()
	s := r.w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.w.wanted()
}

// fill sees to it that n bytes are in buf, n being far below its capacity.
func (r *Reader) fill(n int) error {
	empty := 0
	for len(r.buf) < n {
		switch {
		case r.err != nil:
			return r.err
		case r.left == 0:
			if err := r.end(); err != nil {
				return r.failed(err)
			}
			return io.EOF
		}
		if err := r.more(&empty); err != nil {
			return r.failed(err)
		}
	}
	return nil
}

// failed keeps err; what stops the worker needs no keeping.
func (r *Reader) failed(err error) error {
	if r.w.stop != nil {
		return r.w.stop
	}
	if r.w.gone {
		return errAbandoned
	}
	r.err = reason(err)
	return r.err
}

// more makes one call of Read. What is left in buf moves to the front.
func (r *Reader) more(empty *int) error {
	w := r.w
	if err := r.Wanted(); err != nil {
		return err
	}
	kept := copy(w.buf, r.buf)
	n := 0
	room := w.buf[kept:min(int64(len(w.buf)), int64(kept)+r.left)]
	err := w.ask("Read", func() (err error) { n, err = readSome(r.f, room, empty); return err })
	if w.gone {
		return errAbandoned
	}
	r.buf, r.left = w.buf[:kept+n], r.left-int64(n)
	w.s.mu.Lock()
	w.s.stats.BytesRead += uint64(n)
	w.s.mu.Unlock()
	switch {
	case w.stop != nil:
		return w.stop
	case r.left == 0:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the file ends after %d of %d bytes: %w", r.stamp.size-r.left, r.stamp.size, io.ErrUnexpectedEOF)
	}
	return err
}

// end makes sure that the file is no longer than it says.
func (r *Reader) end() error {
	if r.ended {
		return nil
	}
	more := 0
	err := r.w.ask("Read", func() (err error) { more, err = r.f.Read(r.w.buf[:1]); return err })
	switch {
	case r.w.gone:
		return errAbandoned
	case r.w.stop != nil:
		return err
	case more != 0:
		return fmt.Errorf("the file is longer than the %d bytes that it says it has", r.stamp.size)
	}
	r.ended = true
	return nil
}

// open opens the file, has use read it through w.reader, and closes it, whatever happens.
func (w *worker) open(name string, use func() error) error {
	r := &w.reader
	*r = Reader{w: w, name: name}
	if s, ok := w.s.cfg.FS.(fs.StatFS); ok { // opening a named pipe waits for its writer
		if err := w.stat(func() (fs.FileInfo, error) { return s.Stat(name) }); err != nil {
			return err
		}
	}
	err := w.ask("Open", func() (err error) { r.f, err = w.s.cfg.FS.Open(name); return err })
	if err == nil && r.f == nil {
		err = errors.New("the call of Open gave neither file nor error")
	}
	if err != nil && r.f == nil {
		return reason(err)
	}
	defer func() {
		f := r.f
		r.f = nil
		if w.gone {
			_ = guarded("the file system", f.Close) // nobody is left to be told
			return
		}
		_ = w.ask(callClose, f.Close) // it was read only: nothing can be lost
	}()
	if err == nil {
		err = w.stat(r.f.Stat)
	}
	switch {
	case err != nil:
		return reason(err)
	case r.stamp.size <= 0:
		return errors.New("the file is empty")
	case r.stamp.size > w.s.cfg.MaxBytes:
		return fmt.Errorf("%w: file of %d bytes, allowed are Config.MaxBytes = %d", ErrTooLarge, r.stamp.size, w.s.cfg.MaxBytes)
	}
	r.left = r.stamp.size
	return use()
}

// stat asks for the size of a file, and whether it may be read at all.
func (w *worker) stat(ask func() (fs.FileInfo, error)) error {
	err := w.ask("Stat", func() error {
		info, err := ask()
		if err != nil {
			return err
		}
		if info != nil {
			w.reader.stamp = stampOf(info) // also of what cannot be read: it is not tried again until it is another one
		}
		return regular(info)
	})
	return reason(err)
}

// regular returns an error for what is no regular file.
func regular(info fs.FileInfo) error {
	if info == nil {
		return errors.New("the call of Stat gave neither information nor error")
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file: %v", info.Mode().Type())
	}
	return nil
}

// readSome is one Read that is held to its contract; empty counts those in a row that
// brought nothing.
func readSome(f fs.File, p []byte, empty *int) (int, error) {
	n, err := f.Read(p)
	switch {
	case n < 0 || n > len(p):
		return 0, fmt.Errorf("Read gave %d bytes where %d were asked for", n, len(p))
	case n > 0:
		*empty = 0
	case err == nil:
		if *empty++; *empty >= emptyReads {
			return 0, fmt.Errorf("%d reads brought nothing: %w", emptyReads, io.ErrNoProgress)
		}
	}
	return n, err
}

// reason takes the path off an error of the file system: the LoadError has it.
func reason(err error) error {
	if p, ok := err.(*fs.PathError); ok && p.Err != nil {
		return p.Err
	}
	return err
}
