package ground_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/ground"
)

// corner is a survey whose stamp and light overlap the sectors around the point (512, 512).
func corner() *ground.Survey {
	s := &ground.Survey{Base: ground.Base(ground.Bases - 1),
		Stamps: []ground.Stamp{{X: 508, Y: 520, ID: 63, Layer: ground.Above, Turn: 255, Scale: 200, Color: 4, Amount: 15}, {X: 12284, Y: 4, Scale: 16}},
		Lights: []ground.Light{{X: 516, Y: 500, Radius: 256, Color: 4, Power: 255}, {X: 0, Y: 12284, Radius: 2}},
		Props:  []ground.Prop{{X: 510, Y: 510, Kind: 2}, {X: 512, Y: 512, Kind: 1}},
	}
	for i := range s.Warmth {
		s.Warmth[i], s.Tone[i] = uint8(i), uint8(3*i)
	}
	for i := range s.Loop {
		s.Loop[i] = uint8(i % 4)
	}
	return s
}

func TestSurvey_AppendAndParseKeepEverything(t *testing.T) {
	want := corner()
	got, err := ground.ParseSurvey("x.survey", want.Append(nil))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestSurvey_RecipesShareWhatOverlapsTheirBorders(t *testing.T) {
	walls := make([]byte, 8+ground.Side/8*ground.Side/64)
	walls[8] = 1 // the first cell
	s := corner()
	var r ground.Recipe
	for i, prop := range []int{2, 0, 0, 1} {
		x, y := i%2, i/2
		if err := s.Recipe(&r, x, y, bytes.NewReader(walls)); err != nil {
			t.Fatal(err)
		}
		stamp, light := s.Stamps[0], s.Lights[0]
		stamp.X, stamp.Y = stamp.X-int16(512*x), stamp.Y-int16(512*y)
		light.X, light.Y = light.X-int16(512*x), light.Y-int16(512*y)
		if r.X != x || r.Y != y || r.NStamps != 1 || r.Stamps[0] != stamp || r.NLights != 1 || r.Lights[0] != light {
			t.Errorf("sector %d, %d: %d stamps, %+v, %d lights, %+v", x, y, r.NStamps, r.Stamps[0], r.NLights, r.Lights[0])
		}
		if n := min(prop, 1); r.NProps != n || int(r.Props[0].Kind) != prop {
			t.Errorf("sector %d, %d: %d props of kind %d", x, y, r.NProps, r.Props[0].Kind)
		}
		if at := y*25 + x; r.Warmth != [4]uint8{uint8(at), uint8(at + 1), uint8(at + 25), uint8(at + 26)} || int(r.Loop) != (y*24+x)%4 {
			t.Errorf("sector %d, %d: warmth %v, loop %d", x, y, r.Warmth, r.Loop)
		}
		const b = ground.Border
		if first, outside := r.Solid(b, b), r.Solid(0, 0); first != (i == 0) || outside != (i != 3) {
			t.Errorf("sector %d, %d: its first cell is a wall: %v; the cell beyond its corner: %v", x, y, first, outside)
		}
	}
}

// A file that ends too early was taken for a realm of walls.
func TestSurvey_RecipeReportsWallsThatEndEarly(t *testing.T) {
	walls := make([]byte, 8+ground.Side/8*ground.Side/64)
	var r ground.Recipe
	for _, c := range []struct {
		walls io.ReaderAt
		want  error
	}{
		{bytes.NewReader(walls), nil}, {eager{walls}, nil},
		{bytes.NewReader(walls[:len(walls)-1]), io.ErrUnexpectedEOF}, {bytes.NewReader(walls[:100]), io.ErrUnexpectedEOF}, {bytes.NewReader(nil), io.ErrUnexpectedEOF},
	} {
		if err := corner().Recipe(&r, 23, 23, c.walls); err != c.want {
			t.Errorf("%T: %v; want %v", c.walls, err, c.want)
		}
	}
}

// An eager file returns io.EOF with the last bytes, as an [io.ReaderAt] may.
type eager struct{ data []byte }

func (r eager) ReadAt(p []byte, at int64) (n int, err error) {
	n, err = bytes.NewReader(r.data).ReadAt(p, at)
	if at+int64(n) == int64(len(r.data)) {
		err = io.EOF
	}
	return n, err
}

func TestParseSurvey_NamesWhatIsWrong(t *testing.T) {
	good := corner().Append(nil)
	columns := len(good) - 2*8 - 2*7 - 2*5
	for _, c := range []struct {
		at    int
		value byte
		sum   bool
		says  string
	}{
		{0, 'X', true, "byte 0: no survey; allowed is a file that begins with SGND"},
		{60, 1, false, "byte 4: the checksum of what follows is"},
		{8, 200, true, "byte 8: the base is 200; allowed is 0 to"},
		{10, 3, true, "byte 9: "},
		{columns + 2, 0x70, true, "a position of"},
		{columns + 8, 0xc0, true, "layer 3; allowed is 0 to 2"},
		{columns + 12, 15, true, "scale 15; allowed is 16 to 255"},
		{columns + 14, 0x50, true, "a tint is 80; allowed is 0 to 79"},
		{columns + 16 + 8, 128, true, "half a radius less 1 is 128"},
		{columns + 16 + 10, 5, true, "a light's colour is 5"},
	} {
		data := bytes.Clone(good)
		data[c.at] = c.value
		if c.sum {
			binary.BigEndian.PutUint32(data[4:], crc32.ChecksumIEEE(data[8:]))
		}
		_, err := ground.ParseSurvey("x.survey", data)
		if file := (*ground.FileError)(nil); !errors.As(err, &file) || !strings.HasPrefix(err.Error(), "x.survey: byte ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("byte %d is %d: %v; want %q", c.at, c.value, err, c.says)
		}
	}
	if _, err := ground.ParseSurvey("x.survey", good[:10]); err == nil {
		t.Error("half a header is accepted")
	}
}

func FuzzParseSurvey(f *testing.F) {
	walls := make([]byte, 8+ground.Side/8*ground.Side/64)
	f.Add(corner().Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8 {
			binary.BigEndian.PutUint32(data[4:], crc32.ChecksumIEEE(data[8:]))
		}
		s, err := ground.ParseSurvey("x.survey", data)
		if err != nil {
			return
		}
		var r, again ground.Recipe
		if err := s.Recipe(&r, 3, 7, bytes.NewReader(walls)); err != nil {
			t.Fatal(err)
		}
		if err := again.Parse("x.rec", r.Append(nil)); err != nil || again != r {
			t.Errorf("a recipe of a survey is not read: %v", err)
		}
	})
}
