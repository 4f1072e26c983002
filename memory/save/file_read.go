package save

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/strata-go/strata/memory/layout"
)

// Read replaces the present state by the state in a file of [Set.Write]. Parts are found by name, and values are
// converted. m declares changes that Read cannot find itself, such as renamed fields; it may be nil. A part that is not
// in the file keeps its present state. The reader must end with the file.
//
// The error wraps one of these:
//   - [ErrUnsealed], [ErrPortable], or the error of in
//   - [ErrFile]: the file is damaged or truncated, is of another version, or is followed by other bytes
//   - [layout.ErrMigration]: m gives a part, a field or a type of the file a name that the program lacks, or gives two
//     parts or two fields one name
//   - [layout.ErrMigration]: m converts a type that the program lacks, or drops a relation
//   - [ErrLayout]: a part or a type of the file does not fit, or the Set lacks a part that m does not drop
//   - [ErrLayout]: a function of m or a [RowChecker] refuses a value
//   - another error of a part, such as [ErrBusy] or memory.ErrOutOfMemory
//
// Read first checks the whole file, and then loads the parts. The check does not interpret streams (see
// [Coder.Stream]), such as that of an ecs.World. If the check fails, Read leaves the Set as a failed [Set.Load] does.
// If the loading fails, Read restores all values from a copy. The copy has the form of a file, so data that files do
// not contain is lost, such as the ticks of a world. If the restoring fails too, for example because memory is short,
// the error joins both errors, and the state is undefined. If a function of m or a State panics while parts are loaded,
// Read restores nothing. Read allocates Go memory for the whole file and for the copy.
//
// A successful Read invalidates earlier addresses of blocks, handles and entities of the parts in the file. A Read that
// has restored the values invalidates only addresses of blocks. A Read whose check has failed invalidates nothing, and
// leaves [Set.Loads] unchanged.
func (s *Set) Read(in io.Reader, m *layout.Migration) error {
	r, err := s.open(in, m)
	if err != nil {
		return err
	}
	defer s.rest()
	var before bytes.Buffer
	if err = r.fit(); err == nil {
		err = s.Write(&before)
	}
	if err != nil {
		return err
	}
	s.loads++
	if err = r.run(loading); err == nil {
		return nil
	}
	quiet, back := s.open(&before, nil)
	if back == nil {
		back = quiet.run(loading)
	}
	if back != nil {
		return errors.Join(err, fmt.Errorf("save: the state before cannot be restored: %w", back))
	}
	return err
}

// Verify reads a file of [Set.Write] and returns the error that [Set.Read] would return. Verify does not find errors
// that occur only while Read makes its copy or loads a part, such as errors in the data of an ecs.World. It leaves all
// parts of the Set as a failed [Set.Load] leaves them. Verify calls the functions of m.
func (s *Set) Verify(in io.Reader, m *layout.Migration) error {
	r, err := s.open(in, m)
	if err != nil {
		return err
	}
	defer s.rest()
	return r.fit()
}

// A fileReader is a file whose sum is right.
type fileReader struct {
	set   *Set
	file  *file
	parts map[string][]byte // by the names of the Set
	again bool              // a part has called Coder.Commit
}

// open reads a whole file.
func (s *Set) open(in io.Reader, m *layout.Migration) (*fileReader, error) {
	if err := s.Portable(); err != nil {
		return nil, err
	}
	if m == nil {
		m = &layout.Migration{}
	}
	all, err := readWhole(in)
	if err != nil {
		return nil, err
	}
	head := all[fileHead:][:binary.LittleEndian.Uint32(all[28:])]
	r := &fileReader{set: s, file: &file{set: s, migration: m, plans: map[planKey]*plan{}, scratch: map[reflect.Type]reflect.Value{}}, parts: map[string][]byte{}}
	names, err := r.file.readHead(head)
	if err == nil && fingerprint(head) != binary.LittleEndian.Uint64(all[16:]) {
		err = errors.New("the fingerprint differs from that of the head")
	}
	if err == nil {
		err = r.split(names, all[fileHead+len(head):len(all)-fileSum])
	}
	switch {
	case errors.Is(err, layout.ErrMigration):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return r, r.known(names)
}

// readWhole reads a file and compares its length and its sum.
func readWhole(in io.Reader) ([]byte, error) {
	start := make([]byte, fileHead)
	if n, err := io.ReadFull(in, start); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("%w: it ends after %d bytes: %w", ErrFile, n, io.ErrUnexpectedEOF)
		}
		return nil, fmt.Errorf("save: read: %w", err)
	}
	if string(start[:8]) != fileMagic {
		return nil, fmt.Errorf("%w: it does not begin as one of Write", ErrFile)
	}
	size, head := binary.LittleEndian.Uint64(start[8:]), uint64(binary.LittleEndian.Uint32(start[28:]))
	if size%8 != 0 || head%8 != 0 || size < fileHead+fileSum || head > size-fileHead-fileSum || size > 1<<46 {
		return nil, fmt.Errorf("%w: a length of %d bytes with a head of %d is impossible", ErrFile, size, head)
	}
	buf := bytes.NewBuffer(start)
	n, err := buf.ReadFrom(io.LimitReader(in, int64(size)-fileHead+1)) // one more shows that the file continues
	if err != nil {
		return nil, fmt.Errorf("save: read: %w", err)
	}
	all := buf.Bytes()
	switch have := uint64(n) + fileHead; {
	case have < size:
		return nil, fmt.Errorf("%w: it ends after %d bytes of %d: %w", ErrFile, have, size, io.ErrUnexpectedEOF)
	case have > size:
		return nil, fmt.Errorf("%w: it continues after its %d bytes", ErrFile, size)
	}
	end := len(all) - fileSum
	if sum := uint64(crc32.Checksum(all[:end], castagnoli)); sum != binary.LittleEndian.Uint64(all[end:]) {
		return nil, fmt.Errorf("%w: the checksum of its %d bytes differs", ErrFile, size)
	}
	if v := binary.LittleEndian.Uint32(all[24:]); v != fileVersion {
		return nil, fmt.Errorf("%w: version %d; this program reads version %d", ErrFile, v, fileVersion)
	}
	return all, nil
}

// readHead returns the names of the parts.
func (f *file) readHead(head []byte) (names []string, err error) {
	d := layout.Decoder{Rest: head}
	seen := map[string]bool{}
	for n := d.Number(len(head) / 2); len(names) < n && d.Err == nil; {
		name := d.Text()
		if seen[name] {
			d.Err = cmp.Or(d.Err, fmt.Errorf("part %.40q occurs twice", name))
		}
		names, seen[name] = append(names, name), true
	}
	for n := d.Number(len(head) / 8); len(f.types) < n && d.Err == nil; {
		f.types = append(f.types, d.Type())
	}
	if d.Err == nil && (len(d.Rest) > 7 || len(bytes.Trim(d.Rest, "\x00")) > 0) {
		d.Err = fmt.Errorf("%d bytes follow the last type", len(d.Rest))
	}
	if d.Err != nil {
		return nil, fmt.Errorf("byte %d of the head: %w", len(head)-len(d.Rest), d.Err)
	}
	return names, nil
}

// split finds the bytes of each part.
func (r *fileReader) split(names []string, body []byte) error {
	for _, name := range names {
		n := uint64(0)
		if len(body) >= 8 {
			n = binary.LittleEndian.Uint64(body)
		}
		if len(body) < 8 || n%8 != 0 || n > uint64(len(body)-8) {
			return fmt.Errorf("part %.40q of %d bytes, the file has %d left", name, n, len(body))
		}
		if now, ok := r.file.migration.Renamed[name]; ok {
			name = now
		}
		if r.parts[name] != nil {
			return fmt.Errorf("save: %w: two parts became %.40q; Renamed must give each another name", layout.ErrMigration, name)
		}
		r.parts[name] = body[8 : 8+n : 8+n]
		body = body[8+n:]
	}
	if len(body) > 0 {
		return fmt.Errorf("%d bytes follow the last part", len(body))
	}
	return nil
}

// known compares the parts of the file with those of the Set.
func (r *fileReader) known(names []string) error {
	m := r.file.migration
	note := func(format string, args ...any) {
		if m.Changed != nil {
			m.Changed(fmt.Sprintf(format, args...))
		}
	}
	for _, was := range names {
		name := was
		now, renamed := m.Renamed[was]
		if renamed {
			note("part %s was renamed to %s", was, now)
			name = now
		}
		switch has := slices.ContainsFunc(r.set.parts, func(p part) bool { return p.name == name }); {
		case has:
		case slices.Contains(m.Dropped, was):
			note("part %s was dropped", was)
		case renamed:
			return fmt.Errorf("save: %w: Renamed[%.40q] is %.40q, which the Set does not have; its parts: %s", layout.ErrMigration, was, now, r.set.names())
		default:
			return fmt.Errorf("save: the file has part %.40q, which the Set does not have: %w", was, ErrLayout)
		}
	}
	for i := range r.set.parts {
		if name := r.set.parts[i].name; r.parts[name] == nil {
			note("part %s was added", name)
		}
	}
	return nil
}

// names returns the names of up to 20 parts, for an error.
func (s *Set) names() string {
	var names []string
	for i := range s.parts {
		names = append(names, s.parts[i].name)
	}
	return few(names)
}

// few joins up to 20 names.
func few(names []string) string { return strings.Join(names[:min(len(names), 20)], ", ") }

// fit makes the fitting passes. The caller defers rest.
func (r *fileReader) fit() error {
	err := fit(func() (again bool, err error) {
		err = r.run(fitting)
		return r.again, err
	})
	if err != nil {
		return err
	}
	return r.unused()
}

// unused looks for functions of Migration.Convert that no type has asked for. It is an error if the types of all parts
// are known, and otherwise a note.
func (r *fileReader) unused() error {
	m := r.file.migration
	var types []string
	all := true
	for i := range r.set.parts {
		rows, known := rowTypes(r.set.parts[i].state)
		for _, t := range rows {
			types = append(types, t.String())
		}
		all = all && known
	}
	for _, name := range slices.Sorted(maps.Keys(m.Convert)) {
		asked := slices.Contains(types, name)
		for key := range r.file.plans {
			asked = asked || key.now.String() == name
		}
		switch {
		case asked:
		case all:
			return fmt.Errorf("save: %w: Convert[%.40q]: no part has this type; allowed: %s", layout.ErrMigration, name, few(types))
		case m.Changed != nil:
			m.Changed("Convert of " + name + " is not used: no part of the Set has this type, and no function has visited such a value in the file; check the name")
		}
	}
	return nil
}

// run makes one pass over the parts that the file has.
func (r *fileReader) run(p pass) error {
	if err := r.set.begin(); err != nil {
		return err
	}
	defer r.set.end()
	r.again = false
	for i := range r.set.parts {
		x := &r.set.parts[i]
		body, ok := r.parts[x.name]
		if !ok {
			continue
		}
		c := Coder{pass: p, canonical: true, file: r.file, set: r.set, buf: body}
		c.Enter(x.name)
		x.state.SaveState(&c)
		r.again = r.again || c.again
		if c.err == nil && c.at != len(body) {
			c.Differs("%d bytes of %d were visited%s", c.at, len(body), c.advice())
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}
