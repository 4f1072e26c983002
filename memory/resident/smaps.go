package resident

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// A mapping is one of the process's, as smaps tells it. Sizes are bytes.
type mapping struct {
	from, to   uint64
	offset     uint64 // in its file
	inode      uint64
	name       string // a path, something in brackets, or nothing: anonymous
	read       bool
	write      bool
	exec       bool
	shared     bool
	noReserve  bool // VmFlags nr
	noHugePage bool // VmFlags nh
	use        Usage
}

func (m *mapping) size() uint64    { return m.to - m.from }
func (m *mapping) anonymous() bool { return m.name == "" && m.inode == 0 }

// errTorn says that mappings overlap: one of them grew or was joined with another between two reads
// of the file.
var errTorn = errors.New("resident: the mappings changed while they were read")

// parse appends the mappings in smaps to dst. They are in order and do not overlap, and none has
// more resident than it has addresses. The error names the line.
func parse(text []byte, dst []mapping) ([]mapping, error) {
	n := len(dst)
	told := true // the open mapping has said what is resident
	for number := 1; len(text) > 0; number++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		head, err := len(line) > 0 && hexDigit(line[0]), error(nil)
		switch {
		case head && !told:
			err = errors.New("the mapping before has no Rss")
		case head:
			var m mapping
			if m, err = parseHead(line, dst[n:]); err == nil {
				dst, told = append(dst, m), false
			}
		case len(dst) == n:
			err = errors.New("no mapping has begun")
		default:
			var rss bool
			rss, err = dst[len(dst)-1].field(line)
			told = told || rss
		}
		switch {
		case errors.Is(err, errTorn):
			return dst[:n], err
		case err != nil:
			return dst[:n], fmt.Errorf("resident: smaps, line %d, %q: %w", number, line, err)
		}
	}
	if !told {
		return dst[:n], errors.New("resident: smaps ends within a mapping")
	}
	return dst, nil
}

func hexDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

var errHead = errors.New("not a mapping: wanted are addresses, permissions, offset, device, inode and a name")

// parseHead reads the line that opens a mapping:
//
//	7f1c0a000000-7f1c0a021000 rw-p 00000000 00:00 0                          [heap]
//
// Those before it tell a name that stays the same.
func parseHead(line []byte, before []mapping) (m mapping, err error) {
	var f [5][]byte
	for i := range f {
		f[i], line, _ = bytes.Cut(line, []byte{' '})
	}
	low, high, ok := bytes.Cut(f[0], []byte{'-'})
	from, e1 := strconv.ParseUint(string(low), 16, 64)
	to, e2 := strconv.ParseUint(string(high), 16, 64)
	offset, e3 := strconv.ParseUint(string(f[2]), 16, 64)
	inode, e4 := strconv.ParseUint(string(f[4]), 10, 64)
	if !ok || len(f[1]) != 4 || from >= to || e1 != nil || e2 != nil || e3 != nil || e4 != nil {
		return m, errHead
	}
	m = mapping{from: from, to: to, offset: offset, inode: inode,
		read: f[1][0] == 'r', write: f[1][1] == 'w', exec: f[1][2] == 'x', shared: f[1][3] == 's'}
	name := bytes.TrimLeft(line, " ")
	if len(before) > 0 {
		last := &before[len(before)-1]
		if from < last.to {
			return m, errTorn
		}
		if string(name) == last.name {
			m.name = last.name
			return m, nil
		}
	}
	m.name = string(name)
	return m, nil
}

var errField = errors.New("not a field: wanted are a name, a colon, and a number of kB")

// field takes a line about the mapping, and reports whether it was the one about what is resident.
// What it does not know it passes over: kernels have more of them with every year.
func (m *mapping) field(line []byte) (rss bool, err error) {
	key, value, ok := bytes.Cut(line, []byte{':'})
	if !ok || len(key) == 0 {
		return false, errField
	}
	var into *uint64
	switch string(key) {
	case "Rss":
		into, rss = &m.use.RSS, true
	case "Pss":
		into = &m.use.Pss
	case "Private_Clean", "Private_Dirty":
		into = &m.use.Private
	case "Shared_Clean", "Shared_Dirty":
		into = &m.use.Shared
	case "VmFlags":
		for flag := range bytes.FieldsSeq(value) {
			m.noReserve = m.noReserve || string(flag) == "nr"
			m.noHugePage = m.noHugePage || string(flag) == "nh"
		}
		return false, nil
	default:
		return false, nil
	}
	digits, ok := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
	kib, err := strconv.ParseUint(string(digits), 10, 64)
	if !ok || err != nil || kib > math.MaxUint64>>11 {
		return false, errField
	}
	bytes := kib << 10
	if bytes > m.size() || *into > m.size()-bytes {
		return false, fmt.Errorf("more than the %d bytes of the mapping", m.size())
	}
	*into += bytes
	if string(key) == "Private_Dirty" {
		m.use.Dirty = bytes
	}
	return rss, nil
}
