package render

import (
	"math"
	"strconv"

	"github.com/strata-go/strata/memory"
)

// AppendInt appends v in decimal to dst, padded on the left with spaces to width characters. A wider number is not
// cut. All Append functions allocate only if the capacity of dst is too small.
func AppendInt(dst []byte, v int64, width int) []byte {
	n := len(dst)
	return pad(strconv.AppendInt(dst, v, 10), n, width)
}

// AppendFixed appends v with prec digits after the point, padded on the left with spaces to width characters. NaN and
// infinity are written as a dash, padded in the same way.
func AppendFixed(dst []byte, v float64, prec, width int) []byte {
	n := len(dst)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return pad(append(dst, '-'), n, width)
	}
	return pad(strconv.AppendFloat(dst, v, 'f', prec, 64), n, width)
}

// AppendPercent appends a share in whole percent, in at least four characters: 0.07 is "  7%".
func AppendPercent(dst []byte, share float64) []byte {
	return append(AppendFixed(dst, share*100, 0, 3), '%')
}

// BytesWidth is the number of characters that AppendBytes always appends.
const BytesWidth = 10

// AppendBytes appends a number of bytes in the format of memory.AppendBytes, padded to BytesWidth characters:
// "   512 B  ", "  12.0 KiB", "1023.9 MiB".
func AppendBytes(dst []byte, v uint64) []byte {
	n := len(dst)
	if dst = memory.AppendBytes(dst, v); v < 1<<10 {
		dst = append(dst, "  "...) // as wide as the longer units
	}
	return pad(dst, n, BytesWidth)
}

// CountWidth is the number of characters that AppendCount always appends.
const CountWidth = 6

// AppendCount appends a count, rounded down and padded to CountWidth characters: "   999", " 12345", "  123k", "  4.5M".
func AppendCount(dst []byte, v uint64) []byte {
	switch {
	case v < 100_000:
		return AppendInt(dst, int64(v), CountWidth)
	case v < 1_000_000:
		return append(AppendInt(dst, int64(v/1000), CountWidth-1), 'k')
	}
	step, unit := uint64(1_000_000), 0
	for v/step >= 1000 && unit < len(countUnits)-1 {
		step *= 1000
		unit++
	}
	dst = AppendInt(dst, int64(v/step), CountWidth-3)
	return append(dst, '.', byte('0'+v%step/(step/10)), countUnits[unit])
}

const countUnits = "MGTPE"

// pad moves dst[from:] to the right until it is width characters long.
func pad(dst []byte, from, width int) []byte {
	n := len(dst) - from
	if n >= width {
		return dst
	}
	for range width - n {
		dst = append(dst, ' ')
	}
	copy(dst[from+width-n:], dst[from:from+n])
	for i := range width - n {
		dst[from+i] = ' '
	}
	return dst
}
