package assets

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strata-go/strata/demo/ground"
)

// Recipes returns a file system with the files of fsys and the recipes realms/NAME/XX_YY.rec. A recipe is made when it
// is opened, from sectors.survey in its folder and from realms/NAME.walls, whose file must implement io.ReaderAt. If
// fsys contains a recipe's file, that file is used. Folders do not list the recipes that are made.
//
// The file system keeps the two surveys that were used last. It reads a kept survey again if the file's time or size
// has changed. A survey with the zero time is not read again. Goroutines that need the same survey share one read. If a
// read takes 5 s, one of the goroutines begins another read. All of them get the result of the read that ends first.
// The file system is safe for concurrent use if fsys is.
func Recipes(fsys fs.FS) fs.FS {
	s := &surveys{fsys: fsys, reads: map[string]*reads{}}
	if _, ok := fsys.(fs.StatFS); ok {
		return statSurveys{s}
	}
	return s
}

type surveys struct {
	fsys  fs.FS
	mu    sync.Mutex
	kept  [2]kept           // the newest first
	reads map[string]*reads // by survey, those that have not ended
	spare []*recipe         // of closed files, for the next calls of Open
	files []opened          // for the next calls of Open
}

// reads are those of one survey. All goroutines that need it get the result of the read that ends first.
type reads struct {
	begun time.Time     // of the newest
	ended chan struct{} // closed when the result is set
	kept
	err error
}

// readMost is the time after which a read may hang. A goroutine that waits for it begins another one.
const readMost = 5 * time.Second

// kept is a survey that was read.
type kept struct {
	*ground.Survey
	name  string
	time  time.Time
	size  int64
	fixed *fixed // nil unless the files are those of a program and the folder has no recipe
}

// fixed are files that never change. Once they are known, opening a recipe allocates one object in AllSectors calls.
type fixed struct {
	walls io.ReaderAt
	infos [ground.AllSectors]recipeInfo // of the recipes that were opened
}

const surveyFile = "sectors.survey"

func (s *surveys) Open(name string) (fs.File, error) {
	dir, file := path.Split(name)
	x, y, ok := sectorOf(file)
	if k, known := s.fixed(dir); ok && known {
		return s.open(name, k, x, y)
	}
	f, err := s.fsys.Open(name)
	if err == nil || !ok || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	k, failed := s.survey(dir + surveyFile)
	if errors.Is(failed, fs.ErrNotExist) {
		return f, err
	}
	if failed != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: failed}
	}
	return s.open(name, k, x, y)
}

// fixed returns the survey of a folder whose files never change, if it was read.
func (s *surveys) fixed(dir string) (kept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range s.kept {
		if k.fixed != nil && strings.TrimSuffix(k.name, surveyFile) == dir {
			s.kept[0], s.kept[i] = k, s.kept[0]
			return k, true
		}
	}
	return kept{}, false
}

// open makes a recipe.
func (s *surveys) open(name string, k kept, x, y int) (fs.File, error) {
	f := s.take()
	r := f.recipe
	if err := s.recipe(&r.made, k, x, y, name); err != nil {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	r.data = r.made.Append(r.data[:0])
	r.Reset(r.data)
	r.info = s.info(k, y*ground.Sectors+x, recipeInfo{path.Base(name), k.time, len(r.data)})
	return f, nil
}

// take returns a file with the recipe of a file that was closed, or with a new one.
func (s *surveys) take() *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) == 0 {
		s.files = make([]opened, ground.AllSectors) // 4.6 KB
	}
	f := &s.files[0]
	s.files = s.files[1:]
	if n := len(s.spare); n > 0 {
		f.recipe, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		f.recipe = &recipe{of: s, data: make([]byte, 0, ground.MaxRecipe)}
	}
	return f
}

// info returns what Stat returns. It may be used after the file is closed.
func (s *surveys) info(k kept, sector int, info recipeInfo) *recipeInfo {
	if k.fixed == nil {
		copied := info // only this one is on the heap
		return &copied
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &k.fixed.infos[sector]
	if i.name == "" {
		*i = info
	}
	return i
}

// sectorOf returns which sector a file XX_YY.rec describes. It allocates nothing, as each sector that is loaded needs it.
func sectorOf(file string) (x, y int, ok bool) {
	if len(file) != len("00_00.rec") || file[2] != '_' || file[5:] != ".rec" {
		return 0, 0, false
	}
	for _, i := range []int{0, 1, 3, 4} {
		if file[i] < '0' || file[i] > '9' {
			return 0, 0, false
		}
	}
	x, y = int(file[0]-'0')*10+int(file[1]-'0'), int(file[3]-'0')*10+int(file[4]-'0')
	return x, y, max(x, y) < ground.Sectors
}

func (s *surveys) recipe(r *ground.Recipe, k kept, x, y int, name string) error {
	if k.fixed != nil {
		return k.Recipe(r, x, y, k.fixed.walls)
	}
	name = wallsOf(name)
	walls, err := s.fsys.Open(name)
	if err != nil {
		return err
	}
	defer walls.Close()
	at, ok := walls.(io.ReaderAt)
	if !ok {
		return fmt.Errorf("%s: a file of its system cannot be read at an offset", name)
	}
	return k.Recipe(r, x, y, at)
}

// wallsOf returns the walls of a recipe's or survey's realm.
func wallsOf(name string) string { return path.Dir(name) + ".walls" }

// known returns a survey that was read, if its file has not changed since.
func (s *surveys) known(name string) (k kept, ok bool, err error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.kept[:], func(k kept) bool { return k.name == name })
	if i >= 0 {
		k = s.kept[i]
		s.kept[0], s.kept[i] = k, s.kept[0]
	}
	s.mu.Unlock()
	if i < 0 || k.time.IsZero() {
		return k, i >= 0, nil
	}
	info, err := fs.Stat(s.fsys, name)
	return k, err == nil && info.ModTime().Equal(k.time) && info.Size() == k.size, err
}

// survey returns a survey, and has it read if that is necessary. Each call begins one read at most.
func (s *surveys) survey(name string) (kept, error) {
	if k, ok, err := s.known(name); ok || err != nil {
		return k, err
	}
	s.mu.Lock()
	r := s.reads[name]
	if r == nil {
		r = &reads{ended: make(chan struct{})}
		s.reads[name] = r
	}
	for begun := false; ; {
		wait := readMost
		if !begun {
			if wait -= time.Since(r.begun); wait <= 0 {
				begun, r.begun, wait = true, time.Now(), readMost
				go s.end(name, r)
			}
		}
		s.mu.Unlock()
		select {
		case <-r.ended:
			return r.kept, r.err
		case <-time.After(wait):
		}
		s.mu.Lock()
	}
}

// end reads a survey. Unless another read has ended before, its result is that of r.
func (s *surveys) end(name string, r *reads) {
	k, err := kept{}, errors.New("the file system has ended the goroutine")
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the file system panicked: %v", p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.reads[name] == r {
			r.kept, r.err = k, err
			delete(s.reads, name)
			close(r.ended)
		}
	}()
	k, err = s.read(name)
}

func (s *surveys) read(name string) (kept, error) {
	if k, ok, err := s.known(name); ok || err != nil { // it was read meanwhile
		return k, err
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return kept{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return kept{}, err
	}
	k := kept{name: name, time: info.ModTime(), size: info.Size()}
	data, err := io.ReadAll(io.LimitReader(f, ground.MaxSurvey+1))
	if err != nil {
		return kept{}, err
	}
	if k.Survey, err = ground.ParseSurvey(name, data); err != nil {
		return kept{}, err
	}
	k.fixed = s.fix(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[0].name != name {
		s.kept[1] = s.kept[0]
	}
	s.kept[0] = k
	return k, nil
}

// fix returns the fixed files of a survey's folder, or nil. An open file of a program has nothing that Close frees.
func (s *surveys) fix(survey string) *fixed {
	program, ok := s.fsys.(embed.FS)
	if !ok {
		return nil
	}
	entries, err := program.ReadDir(path.Dir(survey))
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) == ".rec" }) {
		return nil
	}
	walls, err := program.Open(wallsOf(survey))
	if err != nil {
		return nil
	}
	at, ok := walls.(io.ReaderAt)
	if !ok {
		return nil
	}
	return &fixed{walls: at}
}

// statSurveys is for a file system with Stat.
type statSurveys struct{ *surveys }

func (s statSurveys) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(s.fsys, name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || path.Ext(name) != ".rec" {
		return info, err
	}
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// A recipe is a file that was made from a survey. After Close another file uses it.
type recipe struct {
	bytes.Reader
	of   *surveys
	info *recipeInfo
	made ground.Recipe
	data []byte // of made
}

// An opened file is the result of one call of Open. Unlike its recipe it is never used again, so a second Close, or a
// Read after Close, does not affect another file.
type opened struct{ recipe *recipe } // nil once it is closed

func (f *opened) Read(p []byte) (int, error) {
	if f.recipe == nil {
		return 0, fs.ErrClosed
	}
	return f.recipe.Read(p)
}

func (f *opened) ReadAt(p []byte, at int64) (int, error) {
	if f.recipe == nil {
		return 0, fs.ErrClosed
	}
	return f.recipe.ReadAt(p, at)
}

func (f *opened) Seek(to int64, whence int) (int64, error) {
	if f.recipe == nil {
		return 0, fs.ErrClosed
	}
	return f.recipe.Seek(to, whence)
}

func (f *opened) Stat() (fs.FileInfo, error) {
	if f.recipe == nil {
		return nil, fs.ErrClosed
	}
	return f.recipe.info, nil
}

func (f *opened) Close() error {
	r := f.recipe
	if r == nil {
		return fs.ErrClosed
	}
	f.recipe = nil
	r.Reset(nil)
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.spare = append(r.of.spare, r)
	return nil
}

type recipeInfo struct {
	name string
	time time.Time
	size int
}

func (i *recipeInfo) Name() string       { return i.name }
func (i *recipeInfo) Size() int64        { return int64(i.size) }
func (i *recipeInfo) Mode() fs.FileMode  { return 0o444 }
func (i *recipeInfo) ModTime() time.Time { return i.time }
func (i *recipeInfo) IsDir() bool        { return false }
func (i *recipeInfo) Sys() any           { return nil }
