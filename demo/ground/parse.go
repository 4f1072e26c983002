package ground

import "fmt"

// A reader reads a file's bytes and keeps the first error.
type reader struct {
	file string
	data []byte
	at   int
	err  error
}

func (in *reader) fail(at int, format string, args ...any) {
	if in.err == nil {
		in.err = &FileError{in.file, at, fmt.Sprintf(format, args...)}
	}
}

// byte returns the next byte, or 0 after the end.
func (in *reader) byte(what string) uint8 {
	if in.at >= len(in.data) {
		in.fail(in.at, "the file ends; %s must be here", what)
		return 0
	}
	v := in.data[in.at]
	in.at++
	return v
}

// upTo returns the next byte, which must not be more than most.
func (in *reader) upTo(most int, what string) uint8 {
	v := in.byte(what)
	if int(v) > most {
		in.fail(in.at-1, "%s is %d; allowed is 0 to %d", what, v, most)
		return 0
	}
	return v
}

// place returns the next coordinate of a stamp or a light.
func (in *reader) place(what string) int16 { return int16(in.byte(what))*4 - 256 }

// Parse reads a recipe from data and does not keep data. Every error is a [*FileError] with the given file name. After
// an error the contents of r are undefined. Only an error is allocated. The cost is proportional to the file.
func (r *Recipe) Parse(file string, data []byte) error {
	in := reader{file: file, data: data}
	if len(data) > MaxRecipe {
		in.fail(MaxRecipe, "%d bytes; allowed are up to %d", len(data), MaxRecipe)
		return in.err
	}
	*r = Recipe{}
	r.parseHead(&in)
	for i := 0; i < r.NStamps && in.err == nil; i++ {
		s := &r.Stamps[i]
		v := in.byte("a stamp's picture and layer")
		s.ID, s.Layer = v&63, Layer(v>>6)
		if s.Layer >= layers {
			in.fail(in.at-1, "layer %d; allowed is 0 to %d", s.Layer, layers-1)
		}
		s.X, s.Y = in.place("a stamp's x"), in.place("a stamp's y")
		s.Turn, s.Scale = in.byte("a stamp's turn"), in.byte("a stamp's scale")
		if s.Scale < 16 {
			in.fail(in.at-1, "scale %d; allowed is 16 to 255", s.Scale)
		}
		v = in.byte("a stamp's tint")
		s.Color, s.Amount = v>>4, v&15
		if s.Color > 4 {
			in.fail(in.at-1, "colour %d; allowed is 0 to 4", s.Color)
		}
	}
	for i := 0; i < r.NLights && in.err == nil; i++ {
		l := &r.Lights[i]
		l.X, l.Y = in.place("a light's x"), in.place("a light's y")
		l.Radius = int16(in.byte("a light's radius"))*2 + 2
		if l.Radius > 256 {
			in.fail(in.at-1, "radius %d; allowed is 2 to 256", l.Radius)
		}
		l.Color, l.Power = in.upTo(4, "a light's colour"), in.byte("a light's power")
	}
	for i := 0; i < r.NProps && in.err == nil; i++ {
		p := &r.Props[i]
		p.Kind = in.byte("a prop's kind")
		p.X, p.Y = int16(in.byte("a prop's x"))*2, int16(in.byte("a prop's y"))*2
	}
	r.parseWalls(&in)
	if in.err == nil && in.at < len(data) {
		in.fail(in.at, "%d bytes behind the last row of walls; allowed are none", len(data)-in.at)
	}
	return in.err
}

func (r *Recipe) parseHead(in *reader) {
	for i := range len(recipeMagic) {
		if v := in.byte("the mark " + recipeMagic); in.err == nil && v != recipeMagic[i] {
			in.fail(i, "no recipe; allowed is a file that begins with %s", recipeMagic)
		}
	}
	if v := in.byte("the version"); in.err == nil && v != version {
		in.fail(in.at-1, "version %d; allowed is %d", v, version)
	}
	r.Base = Base(in.upTo(Bases-1, "the base"))
	r.X, r.Y = int(in.upTo(Sectors-1, "the sector's column")), int(in.upTo(Sectors-1, "the sector's row"))
	for i := range r.Warmth {
		r.Warmth[i] = in.byte("the warmth of a corner")
	}
	for i := range r.Tone {
		r.Tone[i] = in.byte("the tone of a corner")
	}
	r.Loop = in.byte("the loop of sound")
	r.NStamps = int(in.upTo(MaxStamps, "the number of stamps"))
	r.NLights = int(in.upTo(MaxLights, "the number of lights"))
	r.NProps = int(in.upTo(MaxProps, "the number of props"))
}

// parseWalls reads rows as differences from the row above. A byte n from 128 means n - 127 rows equal to the row
// above. A smaller one is the number of columns that follow, at each of which a difference begins or ends.
func (r *Recipe) parseWalls(in *reader) {
	const rowBytes = Span / 8
	for y := 0; y < Span && in.err == nil; {
		n := int(in.byte("a row of walls"))
		if n >= 128 {
			if n -= 127; n > Span-y {
				in.fail(in.at-1, "%d rows of walls; allowed are %d more", n, Span-y)
				return
			}
			for range n {
				if y > 0 {
					copy(r.Walls[y*rowBytes:][:rowBytes], r.Walls[(y-1)*rowBytes:])
				}
				y++
			}
			continue
		}
		if n == 0 || n > Span {
			in.fail(in.at-1, "%d changes in a row of walls; allowed is 1 to %d", n, Span)
			return
		}
		row := r.Walls[y*rowBytes:][:rowBytes]
		if y > 0 {
			copy(row, r.Walls[(y-1)*rowBytes:])
		}
		last := -1
		for range n {
			x := int(in.upTo(Span-1, "a change in a row of walls"))
			if x <= last {
				in.fail(in.at-1, "a change at %d behind one at %d; allowed is rising order", x, last)
				return
			}
			last = x
			for i := x; i < Span; i++ {
				row[i>>3] ^= 1 << (i & 7)
			}
		}
		y++
	}
}

// Append appends the recipe's file to dst and returns the extended slice. If a field is outside the range in its
// comment, Parse rejects the file or reads another recipe. If NStamps, NLights or NProps is negative or exceeds its
// array, Append panics.
func (r *Recipe) Append(dst []byte) []byte {
	dst = append(dst, recipeMagic...)
	dst = append(dst, version, uint8(r.Base), uint8(r.X), uint8(r.Y))
	dst = append(dst, r.Warmth[:]...)
	dst = append(dst, r.Tone[:]...)
	dst = append(dst, r.Loop, uint8(r.NStamps), uint8(r.NLights), uint8(r.NProps))
	for _, s := range r.Stamps[:r.NStamps] {
		dst = append(dst, s.ID|uint8(s.Layer)<<6, uint8((s.X+256)/4), uint8((s.Y+256)/4), s.Turn, s.Scale, s.Color<<4|s.Amount)
	}
	for _, l := range r.Lights[:r.NLights] {
		dst = append(dst, uint8((l.X+256)/4), uint8((l.Y+256)/4), uint8(l.Radius/2-1), l.Color, l.Power)
	}
	for _, p := range r.Props[:r.NProps] {
		dst = append(dst, p.Kind, uint8(p.X/2), uint8(p.Y/2))
	}
	same := uint8(0)
	for y := range Span {
		n := len(dst)
		dst = append(dst, 0)
		was := false
		for x := range Span {
			differs := r.Solid(x, y) != (y > 0 && r.Solid(x, y-1))
			if differs != was {
				dst[n]++
				dst = append(dst, uint8(x))
			}
			was = differs
		}
		if dst[n] == 0 {
			if dst = dst[:n]; same == 0 {
				dst = append(dst, 127)
			}
			same++
			dst[len(dst)-1]++
			continue
		}
		same = 0
	}
	return dst
}
