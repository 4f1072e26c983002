package stream

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/engine/stream/png"
)

// A Picture is a decoded PNG. The function upload of [Pictures] gets a Picture with its Pixels. In the value of
// Handle.Get, Pixels is nil.
type Picture struct {
	Width, Height int    // in pixels, both at least 1
	Pixels        []byte // premultiplied RGBA, 4*Width*Height bytes, row by row from the top
}

// Pictures returns a kind of PNG files. The function upload is called as Kind.Deliver: it passes the pixels to the GPU,
// on the game goroutine. The pixels are valid during the call. The function drop, if not nil, is called as
// Kind.Release. If a reload replaces a picture, drop is not called for the old picture. If a reload fails or is
// cancelled after upload has returned ErrMore, the old picture stays: drop must then discard only the incomplete
// upload. A picture with more than Config.MaxBytes of pixels, or with rows above [png.MaxRowBytes], fails with
// ErrTooLarge. Register the kind with one streamer only, because it has a decoder for each worker.
func Pictures(upload func(name string, p Picture) error, drop func(name string)) Kind[Picture] {
	var decoders [maxWorkers]*png.Decoder // each made and used by one worker
	k := Kind[Picture]{
		Name: "picture",
		Decode: func(r *Reader, heap *Heap) (Picture, error) {
			d := &decoders[heap.Worker()]
			if *d == nil {
				*d = new(png.Decoder)
			}
			return decodePicture(*d, r, heap)
		},
		Deliver: func(name string, p, _ *Picture) error {
			err := upload(name, *p)
			if !errors.Is(err, ErrMore) {
				p.Pixels = nil
			}
			return err
		},
	}
	if drop != nil {
		k.Release = func(name string, _ *Picture) { drop(name) }
	}
	return k
}

func decodePicture(d *png.Decoder, r *Reader, heap *Heap) (p Picture, err error) {
	h, err := d.Decode(r, func(h png.Header) ([]byte, error) {
		p.Pixels, err = heap.Bytes(h.Bytes())
		return p.Pixels, err
	}, int(r.w.s.cfg.MaxBytes/4))
	if errors.Is(err, png.ErrTooLarge) {
		err = fmt.Errorf("%w, allowed are Config.MaxBytes = %d bytes of pixels: %w", ErrTooLarge, r.w.s.cfg.MaxBytes, err)
	}
	p.Width, p.Height = h.Width, h.Height
	return p, err
}
