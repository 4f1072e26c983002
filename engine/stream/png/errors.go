package png

import (
	"errors"
	"fmt"
)

// The errors that an [Error] wraps, besides errors of the caller's reader. If the file ends early, the Error wraps
// [io.ErrUnexpectedEOF].
var (
	// ErrFormat is wrapped if the file is not a PNG, is damaged, or violates the standard.
	ErrFormat = errors.New("not a valid PNG")
	// ErrTooLarge is wrapped if the picture has more pixels than the caller allows or than math.MaxInt/8, or rows of
	// more than MaxRowBytes bytes.
	ErrTooLarge = errors.New("picture too large")
)

// An Error says why a picture was not decoded: a fault of the file, a limit that the picture exceeds, or an error of
// the reader. Err tells which. An Error contains the place in the file, but not the name of the file.
type Error struct {
	Problem string // the fault, and the allowed values if there are any
	Chunk   string // the type of the current chunk; "" before the first chunk
	Offset  int64  // bytes read from the reader so far
	Row     int    // number of the row in its pass of Adam7, or in the picture, from 0; -1 outside the rows
	Err     error  // ErrFormat, ErrTooLarge, io.ErrUnexpectedEOF, an error of the reader, or one about the reader
}

// Error returns a text with the problem, the offset and Err. Chunk and Row are included if the error has them.
func (e *Error) Error() string {
	where := fmt.Sprintf("byte %d", e.Offset)
	if e.Chunk != "" {
		where += fmt.Sprintf(", chunk %q", e.Chunk)
	}
	if e.Row >= 0 {
		where += fmt.Sprintf(", row %d", e.Row)
	}
	return fmt.Sprintf("png: %s: %s: %v", where, e.Problem, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// What can be wrong with a file that image/png accepts, or may accept. Each is a rule of the
// standard, and a sign that the file was damaged or made by hand.
const (
	// A critical chunk changes what the pixels mean: ignoring one shows a wrong picture.
	unknownCritical = "unknown critical chunk, allowed are IHDR, PLTE, IDAT and IEND"
	// A type with other bytes than letters means that a length was wrong.
	badType = "the type of a chunk is not four letters"
	// The rows are one stream, which nothing may interrupt.
	apart = "IDAT behind another chunk, allowed is one unbroken run of them"
	// image/png ignores these bytes, or not, depending on where its buffer happened to end.
	behindStream = "bytes behind the end of the zlib stream in the same IDAT"
	// The standard's limit; image/png does not enforce it for IDAT if int has 64 bits.
	longChunk = "length of a chunk above 2147483647 bytes"
)

// What else can be wrong with a file; image/png refuses these as well.
const (
	truncated    = "the file ends early"
	notPNG       = "the signature of a PNG is missing"
	badSum       = "the checksum of a chunk is wrong"
	wrongOrder   = "chunk out of order"
	noMoreIDAT   = "the pixel data ends early"
	tooManyBytes = "more pixel data than rows"
	badFilter    = "unknown filter, allowed are 0 to 4"
	badLength    = "wrong length of a chunk"
	misplaced    = "chunk that does not go with the color type"
)
