package engine

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"io/fs"

	"github.com/strata-go/strata/memory"
)

// portion is how many bytes a worker reads, or decodes, between two looks at whether the
// asset is still wanted.
const portion = 64 << 10

// load does the work on one asset. On success the block belongs to the caller; on failure
// nothing is held, and during says what was being done.
func (w *worker) load(path string, picture bool) (res result, during State, err error) {
	file, err := w.read(path)
	if err != nil || !picture {
		return result{block: file}, Reading, err
	}
	defer w.free(file)
	if err := w.decoding(); err != nil {
		return result{}, Decoding, err
	}
	res, err = w.decode(file.bytes())
	return res, Decoding, err
}

// read reads the file at path into a block of the worker's heap.
func (w *worker) read(path string) (block, error) {
	f, err := w.loader.cfg.FS.Open(path)
	if err != nil {
		return block{}, reason(err)
	}
	defer f.Close() // it was read only: nothing can be lost
	info, err := f.Stat()
	switch {
	case err != nil:
		return block{}, reason(err)
	case !info.Mode().IsRegular():
		return block{}, fmt.Errorf("it is no regular file: %v", info.Mode().Type())
	case info.Size() <= 0:
		return block{}, errors.New("the file is empty")
	case info.Size() > w.loader.cfg.MaxBytes:
		return block{}, fmt.Errorf("%w: file of %d bytes, allowed %d", ErrTooLarge, info.Size(), w.loader.cfg.MaxBytes)
	}
	b, err := w.alloc(uintptr(info.Size()))
	if err != nil {
		return block{}, noRoom(err, info.Size(), "the file")
	}
	if err := w.fill(b.bytes(), f); err != nil {
		w.free(b)
		return block{}, err
	}
	return b, nil
}

// fill reads the whole of f, which must be as long as dst.
func (w *worker) fill(dst []byte, f fs.File) error {
	for done := 0; done < len(dst); {
		n, err := io.ReadFull(f, dst[done:min(done+portion, len(dst))])
		done += n
		if cancelled := w.goOn(n); cancelled != nil {
			return cancelled
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("the file ends after %d of %d bytes: %w", done, len(dst), io.ErrUnexpectedEOF)
		}
		if err != nil {
			return reason(err)
		}
	}
	var more [1]byte
	if n, _ := f.Read(more[:]); n > 0 {
		return fmt.Errorf("the file is longer than the %d bytes that it says it has", len(dst))
	}
	return nil
}

// decode decodes a PNG into a staging block of premultiplied RGBA. Size and shape are checked
// before the decoder allocates anything in proportion to them.
func (w *worker) decode(file []byte) (result, error) {
	head, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return result{}, whole(err)
	}
	if head.Width < 1 || head.Height < 1 || int64(head.Height) > w.loader.cfg.MaxBytes/4/int64(head.Width) {
		return result{}, fmt.Errorf("%w: picture of %d x %d pixels, allowed %d bytes of pixels", ErrTooLarge, head.Width, head.Height, w.loader.cfg.MaxBytes)
	}
	size := 4 * int64(head.Width) * int64(head.Height)
	src := paced{w: w, src: file}
	img, err := png.Decode(&src)
	if err != nil && src.past { // png may call it "not enough pixel data"
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return result{}, whole(err)
	}
	b, err := w.alloc(uintptr(size))
	if err != nil {
		return result{}, noRoom(err, size, "the pixels")
	}
	// draw knows a fast way from each kind of picture that png returns, and premultiplies.
	dst := &image.RGBA{Pix: b.bytes(), Stride: 4 * head.Width, Rect: image.Rect(0, 0, head.Width, head.Height)}
	draw.Draw(dst, dst.Rect, img, img.Bounds().Min, draw.Src)
	w.decoded(size)
	return result{b, head.Width, head.Height}, nil
}

func (w *worker) decoded(bytes int64) {
	w.loader.mu.Lock()
	w.loader.stats.BytesDecoded += uint64(bytes)
	w.loader.mu.Unlock()
}

// A paced reader lets go of the processor, and looks for a cancellation, now and then.
type paced struct {
	w    *worker
	src  []byte
	read int  // since the last look
	past bool // more was wanted than there is
}

func (r *paced) Read(p []byte) (int, error) {
	if r.read >= pace {
		r.read = 0
		breathe()
		if err := r.w.goOn(0); err != nil {
			return 0, err
		}
	}
	if len(r.src) == 0 {
		r.past = true
		return 0, io.EOF
	}
	n := copy(p, r.src)
	r.src = r.src[n:]
	r.read += n
	return n, nil
}

// reason takes the path off an error of the file system: the LoadError has it.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// whole says of a picture that ended early that it did.
func whole(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the picture is truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}

func noRoom(err error, size int64, what string) error {
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge) {
		return fmt.Errorf("no room for %d bytes of %s in the worker's heap: %w", size, what, err)
	}
	return err
}
