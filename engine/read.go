package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// portion is how many bytes a worker reads, or decodes, between two looks at whether the
// asset is still wanted.
const portion = 64 << 10

// emptyReads is how many reads in a row may bring nothing, and no error either: what package
// io allows.
const emptyReads = 100

// read reads the file at path into a block of the worker's heap, which it holds.
func (w *worker) read(path string) (block, error) {
	if s, ok := w.loader.cfg.FS.(fs.StatFS); ok { // opening a named pipe waits for its writer
		if _, err := w.stat(func() (fs.FileInfo, error) { return s.Stat(path) }); err != nil {
			return block{}, err
		}
	}
	var f fs.File
	err := w.ask("Open", func() (err error) { f, err = w.loader.cfg.FS.Open(path); return err })
	if err == nil && f == nil {
		err = errors.New("the call of Open gave neither file nor error")
	}
	if err != nil && f == nil {
		return block{}, reason(err)
	}
	var b block
	if err == nil {
		b, err = w.readOpen(f)
	}
	if w.gone {
		_ = guarded("the file system", f.Close) // nobody is left to be told
		return block{}, errAbandoned
	}
	_ = w.ask(callClose, f.Close) // it was read only: nothing can be lost
	if w.gone {
		return block{}, errAbandoned
	}
	return b, reason(err)
}

// stat asks for the size of a file, and whether it may be read at all.
func (w *worker) stat(ask func() (fs.FileInfo, error)) (size int64, err error) {
	var info fs.FileInfo
	err = w.ask("Stat", func() (err error) {
		if info, err = ask(); err != nil {
			return err
		}
		size, err = regular(info)
		return err
	})
	return size, reason(err)
}

// regular returns the size of what is a regular file.
func regular(info fs.FileInfo) (size int64, err error) {
	if info == nil {
		return 0, errors.New("the call of Stat gave neither information nor error")
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("it is no regular file: %v", info.Mode().Type())
	}
	return info.Size(), nil
}

func (w *worker) readOpen(f fs.File) (block, error) {
	size, err := w.stat(f.Stat)
	switch {
	case err != nil:
		return block{}, err
	case size <= 0:
		return block{}, errors.New("the file is empty")
	case size > w.loader.cfg.MaxBytes:
		return block{}, fmt.Errorf("%w: file of %d bytes, allowed %d", ErrTooLarge, size, w.loader.cfg.MaxBytes)
	}
	b, err := w.alloc(heldFile, uintptr(size))
	if err != nil {
		return block{}, noRoom(err, size, "the file")
	}
	return b, w.fill(b.bytes(), f)
}

// fill reads the whole of f, which must be as long as dst.
func (w *worker) fill(dst []byte, f fs.File) error {
	if w.buf == nil {
		w.buf = make([]byte, portion)
	}
	for done, empty := 0, 0; done < len(dst); {
		n := 0
		err := w.ask("Read", func() (err error) {
			n, err = readSome(f, w.buf[:min(portion, len(dst)-done)], &empty)
			return err
		})
		if w.gone {
			return errAbandoned
		}
		copy(dst[done:], w.buf[:n])
		done += n
		switch cancelled := w.goOn(n); {
		case cancelled != nil:
			return cancelled
		case done == len(dst):
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("the file ends after %d of %d bytes: %w", done, len(dst), io.ErrUnexpectedEOF)
		case err != nil:
			return reason(err)
		}
	}
	more := 0
	err := w.ask("Read", func() (err error) { more, err = f.Read(w.buf[:1]); return err })
	switch {
	case w.gone:
		return errAbandoned
	case errors.Is(err, errCancelled):
		return err
	case more != 0:
		return fmt.Errorf("the file is longer than the %d bytes that it says it has", len(dst))
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
