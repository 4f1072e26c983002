package ground

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Side is the length of a realm in units.
const Side = Sectors * SectorSize

const (
	surveyMagic = "SGND"
	surveyBytes = 4 + 4 + 1 + 6 // of its header
	corners     = Sectors + 1
	// MaxSurvey is the largest size of a survey's file, in bytes.
	MaxSurvey = surveyBytes + 2*corners*corners + Sectors*Sectors + (8+7+5)*(1<<16-1)
	// wallsHead is the size of the header of a realm's NAME.walls, of which a row of cells has rowOfRealm bytes.
	wallsHead  = 8
	rowOfRealm = Side / CellSize / 8
)

// A Survey describes the looks of all sectors of a realm, without their walls. Positions are in units from the realm's
// top left corner, from 0 to Side-1. Positions of props are multiples of 2, all others multiples of 4. Each stamp and
// light is stored once, although it may be in the recipes of several sectors.
type Survey struct {
	Base         Base
	Warmth, Tone [corners * corners]uint8 // of the corners of sectors, row by row
	Loop         [Sectors * Sectors]uint8
	Stamps       []Stamp // the first ones are drawn first
	Lights       []Light
	Props        []Prop
}

// Recipe sets *r to the recipe of the sector in column x and row y, each from 0 to Sectors-1. The reader `walls` must
// read the realm's file NAME.walls. If a sector has more than [MaxStamps], MaxLights or MaxProps entries, Recipe leaves
// out the last ones without an error. If the file ends too early, the error is io.ErrUnexpectedEOF. Other errors are
// errors of walls. After an error *r is incomplete.
func (s *Survey) Recipe(r *Recipe, x, y int, walls io.ReaderAt) error {
	*r = Recipe{Base: s.Base, Loop: s.Loop[y*Sectors+x], X: x, Y: y}
	for i := range 4 {
		at := (y+i/2)*corners + x + i%2
		r.Warmth[i], r.Tone[i] = s.Warmth[at], s.Tone[at]
	}
	left, top := int16(x*SectorSize), int16(y*SectorSize)
	for _, p := range s.Stamps {
		p.X, p.Y = p.X-left, p.Y-top
		if r.NStamps < MaxStamps && touches(p.X, p.Y, int16(p.Scale)*3/4+1) {
			r.Stamps[r.NStamps] = p
			r.NStamps++
		}
	}
	for _, l := range s.Lights {
		l.X, l.Y = l.X-left, l.Y-top
		if r.NLights < MaxLights && touches(l.X, l.Y, l.Radius) {
			r.Lights[r.NLights] = l
			r.NLights++
		}
	}
	for _, p := range s.Props {
		p.X, p.Y = p.X-left, p.Y-top
		if r.NProps < MaxProps && p.X >= 0 && p.Y >= 0 && p.X < SectorSize && p.Y < SectorSize {
			r.Props[r.NProps] = p
			r.NProps++
		}
	}
	return r.readWalls(walls)
}

// touches reports whether a circle about a place reaches the sector.
func touches(x, y, reach int16) bool {
	return x > -reach && y > -reach && x < SectorSize+reach && y < SectorSize+reach && x >= -256 && y >= -256 && x <= 764 && y <= 764
}

// readWalls copies the walls of the sector and of the cells around it. Outside of the realm all is solid.
func (r *Recipe) readWalls(from io.ReaderAt) error {
	const width, border = Span / 8, Border / 8
	first := r.X*SectorSize/CellSize/8 - border
	lo, hi := max(0, first), min(first+width, rowOfRealm)
	for y := range Span {
		row := r.Walls[y*width:][:width]
		for i := range row {
			row[i] = 0xff
		}
		wy := r.Y*SectorSize/CellSize - Border + y
		if wy < 0 || wy >= Side/CellSize {
			continue
		}
		part := row[lo-first : hi-first]
		switch n, err := from.ReadAt(part, int64(wallsHead+wy*rowOfRealm+lo)); {
		case n == len(part): // an io.EOF is of the end behind it
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
	return nil
}

// Append appends the survey's file to dst and returns the extended slice. The package comment describes the file. Each
// list must have at most 65,535 entries. The comments of [Survey] and of the
// types of its fields give a range for each field. If a field is outside of its range, ParseSurvey rejects the file or
// returns another survey.
func (s *Survey) Append(dst []byte) []byte {
	begin := len(dst)
	dst = append(dst, surveyMagic...)
	dst = append(dst, 0, 0, 0, 0, uint8(s.Base))
	for _, n := range []int{len(s.Stamps), len(s.Lights), len(s.Props)} {
		dst = binary.BigEndian.AppendUint16(dst, uint16(n))
	}
	dst = append(append(append(dst, s.Warmth[:]...), s.Tone[:]...), s.Loop[:]...)
	put := func(n, unit int, position func(int) (x, y int16), fields ...func(int) uint8) {
		for k := range 4 {
			var last int16
			for i := range n {
				x, y := position(i)
				if k > 1 {
					x = y
				}
				d := uint16((x - last) / int16(unit))
				dst = append(dst, uint8(d>>(8*(k&1))))
				last = x
			}
		}
		for _, f := range fields {
			for i := range n {
				dst = append(dst, f(i))
			}
		}
	}
	put(len(s.Stamps), 4, func(i int) (x, y int16) { return s.Stamps[i].X, s.Stamps[i].Y },
		func(i int) uint8 { return s.Stamps[i].ID | uint8(s.Stamps[i].Layer)<<6 },
		func(i int) uint8 { return s.Stamps[i].Turn },
		func(i int) uint8 { return s.Stamps[i].Scale },
		func(i int) uint8 { return s.Stamps[i].Color<<4 | s.Stamps[i].Amount })
	put(len(s.Lights), 4, func(i int) (x, y int16) { return s.Lights[i].X, s.Lights[i].Y },
		func(i int) uint8 { return uint8(s.Lights[i].Radius/2 - 1) },
		func(i int) uint8 { return s.Lights[i].Color },
		func(i int) uint8 { return s.Lights[i].Power })
	put(len(s.Props), 2, func(i int) (x, y int16) { return s.Props[i].X, s.Props[i].Y },
		func(i int) uint8 { return s.Props[i].Kind })
	binary.BigEndian.PutUint32(dst[begin+4:], crc32.ChecksumIEEE(dst[begin+8:]))
	return dst
}

// ParseSurvey reads a survey from data and does not keep data. Every error is a [*FileError] with the given file name.
func ParseSurvey(file string, data []byte) (*Survey, error) {
	in := reader{file: file, data: data}
	if len(data) < surveyBytes || string(data[:4]) != surveyMagic {
		in.fail(0, "no survey; allowed is a file that begins with %s and has %d bytes or more", surveyMagic, surveyBytes)
		return nil, in.err
	}
	if is, want := crc32.ChecksumIEEE(data[8:]), binary.BigEndian.Uint32(data[4:]); is != want {
		in.fail(4, "the checksum of what follows is %08x; it must be %08x", is, want)
		return nil, in.err
	}
	in.at = 8
	s := &Survey{Base: Base(in.upTo(Bases-1, "the base"))}
	count := func() int { return int(in.byte("a number of entries"))<<8 | int(in.byte("a number of entries")) }
	stamps, lights, props := count(), count(), count()
	if want := surveyBytes + 2*corners*corners + Sectors*Sectors + 8*stamps + 7*lights + 5*props; want != len(data) {
		in.fail(9, "%d bytes; the numbers of stamps, lights and props need %d", len(data), want)
		return nil, in.err
	}
	s.Stamps, s.Lights, s.Props = make([]Stamp, stamps), make([]Light, lights), make([]Prop, props)
	for _, list := range [][]uint8{s.Warmth[:], s.Tone[:], s.Loop[:]} {
		in.at += copy(list, data[in.at:])
	}
	// places reads one coordinate of n entries.
	places := func(n, unit int, at func(int) *int16) {
		sum := uint16(0)
		for i := range n {
			sum += (uint16(data[in.at+i]) | uint16(data[in.at+n+i])<<8) * uint16(unit)
			if sum >= Side {
				in.fail(in.at+i, "a position of %d units; allowed is 0 to %d", sum, Side-1)
			}
			*at(i) = int16(sum)
		}
		in.at += 2 * n
	}
	places(stamps, 4, func(i int) *int16 { return &s.Stamps[i].X })
	places(stamps, 4, func(i int) *int16 { return &s.Stamps[i].Y })
	for i := range s.Stamps {
		v := in.byte("a picture and layer")
		if s.Stamps[i].ID, s.Stamps[i].Layer = v&63, Layer(v>>6); s.Stamps[i].Layer >= layers {
			in.fail(in.at-1, "layer %d; allowed is 0 to %d", s.Stamps[i].Layer, layers-1)
		}
	}
	for i := range s.Stamps {
		s.Stamps[i].Turn = in.byte("a turn")
	}
	for i := range s.Stamps {
		if s.Stamps[i].Scale = in.byte("a scale"); s.Stamps[i].Scale < 16 {
			in.fail(in.at-1, "scale %d; allowed is 16 to 255", s.Stamps[i].Scale)
		}
	}
	for i := range s.Stamps {
		v := in.upTo(5<<4-1, "a tint")
		s.Stamps[i].Color, s.Stamps[i].Amount = v>>4, v&15
	}
	places(lights, 4, func(i int) *int16 { return &s.Lights[i].X })
	places(lights, 4, func(i int) *int16 { return &s.Lights[i].Y })
	for i := range s.Lights {
		s.Lights[i].Radius = int16(in.upTo(127, "half a radius less 1"))*2 + 2
	}
	for i := range s.Lights {
		s.Lights[i].Color = in.upTo(4, "a light's colour")
	}
	for i := range s.Lights {
		s.Lights[i].Power = in.byte("a power")
	}
	places(props, 2, func(i int) *int16 { return &s.Props[i].X })
	places(props, 2, func(i int) *int16 { return &s.Props[i].Y })
	for i := range s.Props {
		s.Props[i].Kind = in.byte("a kind")
	}
	if in.err != nil {
		return nil, in.err
	}
	return s, nil
}
