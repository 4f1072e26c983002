package memory

import "strconv"

var byteUnits = [...]string{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}

// AppendBytes appends n, a number of bytes, with a binary unit to dst. From 1 KiB on the number has one decimal,
// never rounded up: "640 B", "12.5 KiB", "1023.9 MiB". AppendBytes allocates only if the capacity of dst is too
// small.
func AppendBytes(dst []byte, n uint64) []byte {
	if n < 1<<10 {
		return append(strconv.AppendUint(dst, n, 10), " B"...)
	}
	shift, unit := 10, 0
	for n>>shift >= 1<<10 {
		shift += 10
		unit++
	}
	// Tenths by integer arithmetic and rounded down: 1024.0 KiB cannot appear.
	tenth := n & (1<<shift - 1) * 10 >> shift
	dst = strconv.AppendUint(dst, n>>shift, 10)
	return append(append(dst, '.', byte('0'+tenth)), byteUnits[unit]...)
}

// FormatBytes returns n with a binary unit, as [AppendBytes] appends it.
func FormatBytes(n uint64) string { return string(AppendBytes(nil, n)) }
