package meter

// An encoder writes a profile.proto: the messages of github.com/google/pprof/proto/profile.proto, in the wire format
// of protocol buffers. A field is a key, which is its number and its type, and a value. Strings are numbers into a
// table, whose first entry is empty.
type encoder struct {
	out     []byte
	strings map[string]uint64
	table   []string
}

// The numbers of the fields in a Profile.
const (
	profileSampleType    = 1
	profileSample        = 2
	profileMapping       = 3
	profileLocation      = 4
	profileFunction      = 5
	profileString        = 6
	profileTime          = 9
	profilePeriodType    = 11
	profilePeriod        = 12
	profileDefaultSample = 14
)

// The one mapping. Its flags say that no symbol has to be looked up.
const mapping = 1

// begin writes the types of the values, and the mapping.
func (e *encoder) begin() {
	e.strings = map[string]uint64{}
	e.text("")
	for _, t := range [valueCount][2]string{{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}} {
		e.message(profileSampleType, e.valueType(t[0], t[1]))
	}
	m := number(nil, 1, mapping)
	m = number(m, 5, e.text("strata"))  // filename
	for flag := 7; flag <= 10; flag++ { // has functions, file names, lines, inlined frames
		m = number(m, flag, 1)
	}
	e.message(profileMapping, m)
}

// end writes what comes once, and returns the whole.
func (e *encoder) end(nanoseconds int64) []byte {
	e.out = number(e.out, profileTime, uint64(nanoseconds))
	e.message(profilePeriodType, e.valueType("space", "bytes"))
	e.out = number(e.out, profilePeriod, 1)
	e.out = number(e.out, profileDefaultSample, e.text("inuse_space"))
	for _, s := range e.table {
		e.message(profileString, []byte(s))
	}
	return e.out
}

func (e *encoder) valueType(kind, unit string) []byte {
	return number(number(nil, 1, e.text(kind)), 2, e.text(unit))
}

// text returns the number of a string.
func (e *encoder) text(s string) uint64 {
	i, ok := e.strings[s]
	if !ok {
		i = uint64(len(e.table))
		e.strings[s], e.table = i, append(e.table, s)
	}
	return i
}

// sample writes a Sample: a call stack, innermost first, its values, and its labels that are not empty.
func (e *encoder) sample(stack, values []uint64, labels [][2]string) {
	b := message(nil, 1, packed(stack))
	b = message(b, 2, packed(values))
	for _, l := range labels {
		if l[1] != "" {
			b = message(b, 3, number(number(nil, 1, e.text(l[0])), 2, e.text(l[1])))
		}
	}
	e.message(profileSample, b)
}

func (e *encoder) location(id, function uint64, line int) {
	b := number(number(nil, 1, id), 2, mapping)
	e.message(profileLocation, message(b, 4, number(number(nil, 1, function), 2, uint64(line))))
}

func (e *encoder) function(id uint64, name, file string) {
	b := number(nil, 1, id)
	b = number(number(b, 2, e.text(name)), 3, e.text(name)) // the name, and the name as the linker has it
	e.message(profileFunction, number(b, 4, e.text(file)))
}

func (e *encoder) message(field int, content []byte) { e.out = message(e.out, field, content) }

// number appends a field that is an integer. A field that is 0 is left out.
func number(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return varint(varint(b, uint64(field)<<3), v)
}

// message appends a field that has a length: a message, a string or packed integers.
func message(b []byte, field int, content []byte) []byte {
	b = varint(varint(b, uint64(field)<<3|2), uint64(len(content)))
	return append(b, content...)
}

func packed(vals []uint64) (b []byte) {
	for _, v := range vals {
		b = varint(b, v)
	}
	return b
}

// varint appends 7 bits a byte, the lowest first; the highest bit of a byte says that more follow.
func varint(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}
