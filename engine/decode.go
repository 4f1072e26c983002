package engine

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"

	"github.com/strata-go/strata/memory"
)

// load does the work on one asset. On success the block is held; on failure nothing is, and
// during says what was being done. A panic is a failure, whoever's it was.
func (w *worker) load(path string, picture bool) (res result, during State, err error) {
	during = Reading
	defer func() {
		if v := recover(); v != nil {
			err = panicked(during.String(), v)
		}
		if err != nil {
			if lost := w.drop(); lost != nil {
				err = errors.Join(err, lost)
			}
		}
	}()
	file, err := w.read(path)
	if err != nil || !picture {
		return result{block: file}, during, err
	}
	if err := w.decoding(); err != nil {
		return result{}, during, err
	}
	during = Decoding
	if res, err = w.decode(file.bytes()); err != nil {
		return result{}, during, err
	}
	return res, during, w.free(heldFile)
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
	b, err := w.alloc(heldPixels, uintptr(size))
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
