package sound

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A mixer accepts clips with rates from MinRate to MaxRate. [Decode] accepts only the rates 22050 and 32000, files of at
// most 2 MiB, and at most MaxBytes of samples.
const (
	MinRate  = 8000 // samples a second
	MaxRate  = 48000
	MaxBytes = 8 << 20 // decoded, 2 bytes a sample: three minutes of mono at 22050 Hz
	maxFile  = 2 << 20 // bytes of a file
)

// ErrFormat reports that a file or clip cannot be played. Errors that wrap it have the reason.
var ErrFormat = errors.New("sound: not a file that can be played")

const (
	pageHead  = 27                // bytes of the header of a page of Ogg, without its table of lengths
	headBytes = pageHead + 1 + 30 // the first page: a header and Vorbis's identification
)

// setups are the SHA-256 sums of the setup headers that are allowed, by rate. They are those of oggenc for one channel:
// -q 2 at 22050 Hz and -q 3 at 32000 Hz. The library allocates what a setup header asks for, without a bound, and some
// make it search its tables forever.
var setups = map[int]string{
	22050: "7a31ecc4b77f9eb4de6042684463e736522e00ad387e0f1d036be3d8aad7a932",
	32000: "39398c2d6cb07971b2c46753af043649f4894d5019aff6a1e8f5056fa1201af3",
}

// parseHead reads the first page of a file.
func parseHead(h *[headBytes]byte) (rate int, err error) {
	id := h[pageHead+1:]
	hz := binary.LittleEndian.Uint32(id[12:])
	rate = int(hz)
	switch channels, short, long := id[11], id[28]&15, id[28]>>4; {
	case string(h[:4]) != "OggS":
		return 0, fmt.Errorf("%w: it begins with %q; an Ogg file begins with \"OggS\"", ErrFormat, h[:4])
	case h[pageHead-1] != 1 || h[pageHead] != 30 || string(id[:7]) != "\x01vorbis":
		return 0, fmt.Errorf("%w: the first page must have Vorbis's identification header of 30 bytes alone", ErrFormat)
	case channels != 1:
		return 0, fmt.Errorf("%w: %d channels; allowed is 1", ErrFormat, channels)
	case setups[rate] == "":
		return 0, fmt.Errorf("%w: %d Hz; allowed are 22050 and 32000", ErrFormat, hz)
	case short < 6 || long < short || long > 13:
		return 0, fmt.Errorf("%w: blocks of 2^%d and 2^%d samples; allowed are 2^6 to 2^13, the short one first", ErrFormat, short, long)
	}
	return rate, nil
}

// parseFile checks a whole file whose first page parseHead has read, and returns its number of samples.
func parseFile(file []byte, rate int) (samples int, err error) {
	if err := checkSetup(file[headBytes:], rate); err != nil {
		return 0, err
	}
	last := bytes.LastIndex(file, []byte("OggS"))
	if last+pageHead > len(file) || file[last+5]&4 == 0 {
		return 0, fmt.Errorf("%w: the file ends too early: its last page is missing", ErrFormat)
	}
	if at := ends(file); at < last {
		return 0, fmt.Errorf("%w: pages follow the page at byte %d, which is marked as the last", ErrFormat, at)
	}
	n := int64(binary.LittleEndian.Uint64(file[last+6:])) // the position of the last page
	if n < 1 || n > MaxBytes/2 {
		return 0, fmt.Errorf("%w: %d samples; allowed are 1 to %d", ErrFormat, n, MaxBytes/2)
	}
	return int(n), nil
}

// ends returns where the first page begins that is marked as the last. If the pages before it are malformed, at which the
// library ends, it returns the length of the file. The library would decode all packets of later pages in one call, and
// give no sample of them.
func ends(file []byte) int {
	for at := 0; len(file)-at >= pageHead && string(file[at:at+4]) == "OggS"; {
		if file[at+5]&4 != 0 {
			return at
		}
		size := pageHead + int(file[at+pageHead-1])
		if size > len(file)-at {
			break
		}
		for _, n := range file[at+pageHead : at+size] {
			size += int(n)
		}
		at += size
	}
	return len(file)
}

// part returns which of the samples are the clip: those of the tags LOOPSTART and LOOPLENGTH, or all. Around a loop there
// is some more of it, because an encoder bends the ends of a file.
func part(comments []string, samples int) (from, to int, err error) {
	length, tags := samples, 0
	for _, c := range comments {
		key, value, _ := strings.Cut(c, "=")
		var into *int
		switch key {
		case "LOOPSTART":
			into = &from
		case "LOOPLENGTH":
			into = &length
		default:
			continue
		}
		if *into, err = strconv.Atoi(value); err != nil {
			return 0, 0, fmt.Errorf("%w: the tag %s is %.40q; allowed is a number of samples", ErrFormat, key, value)
		}
		tags++
	}
	if tags != 0 && tags != 2 || from < 0 || length < 1 || from > samples-length {
		return 0, 0, fmt.Errorf("%w: a loop of %d samples from %d in a file of %d; LOOPSTART and LOOPLENGTH must both be there, and lie inside", ErrFormat, length, from, samples)
	}
	return from, from + length, nil
}

// checkSetup checks the second page, which has the comments and the setup header.
func checkSetup(page []byte, rate int) error {
	const comments = 4 // the most of them: the library allocates what their number says
	early := fmt.Errorf("%w: the file ends too early, inside its headers", ErrFormat)
	if len(page) < pageHead || len(page) < pageHead+int(page[pageHead-1]) {
		return early
	}
	var sizes []int // of packets
	size := 0
	table := page[pageHead:][:page[pageHead-1]]
	for _, n := range table {
		if size += int(n); n < 255 {
			sizes, size = append(sizes, size), 0
		}
	}
	if len(sizes) != 2 || size != 0 {
		return fmt.Errorf("%w: the second page has %d packets; it must have two, the comments and the setup header", ErrFormat, len(sizes))
	}
	if page = page[pageHead+len(table):]; len(page) < sizes[0]+sizes[1] {
		return early
	}
	comment, setup := page[:sizes[0]], page[sizes[0]:sizes[0]+sizes[1]]
	n := 7 // the packet's type, and "vorbis"
	if len(comment) >= n+4 {
		n += 4 + int(min(binary.LittleEndian.Uint32(comment[n:]), maxFile))
	}
	if len(comment) < n+4 || binary.LittleEndian.Uint32(comment[n:]) > comments {
		return fmt.Errorf("%w: the comments are malformed or more than %d", ErrFormat, comments)
	}
	if sum := sha256.Sum256(setup); setups[rate] != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("%w: the setup header of %d bytes is unknown; allowed are those of oggenc, -q 2 at 22050 Hz and -q 3 at 32000 Hz", ErrFormat, len(setup))
	}
	return nil
}

// early returns an error of the reader, which is ErrFormat if the file has ended.
func early(err error, part string, size int) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the file ends too early, inside its %s of %d bytes", ErrFormat, part, size)
	}
	return err
}
