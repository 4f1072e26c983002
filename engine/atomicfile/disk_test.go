package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
)

// errStopped is what a process would get from calls after it was killed, if it could make any.
var errStopped = errors.New("the process was killed")

// A disk is a file system in memory that stops or fails at a chosen call, and knows what a power cut may leave.
// Each method is one step, and so is each half of a write.
type disk struct {
	names   map[string]*inode
	durable map[string]*inode // as of the last SyncFolder
	pending []change          // since then, in order

	step    int
	stopAt  int             // nothing happens from this step on; 0: never
	failAt  int             // this step fails; 0: none
	forever bool            // and so do all after it
	reason  error           // of the failure
	noLinks bool            // as on FAT
	calls   []string        // one a step
	fails   map[string]bool // the kinds of calls that failed
	created int
}

type inode struct {
	data    []byte
	synced  []byte // nil if never
	folder  bool
	foreign bool // another user's: no links to it, and no reading
}

// A change of the folder that is not yet synced: to gets node, and from, if not empty, goes.
type change struct {
	from, to string
	node     *inode
}

func newDisk(files map[string]string) *disk {
	d := &disk{names: map[string]*inode{}, reason: syscall.EIO, fails: map[string]bool{}}
	for name, data := range files {
		d.names[name] = &inode{data: []byte(data), synced: []byte(data)}
	}
	d.durable = maps.Clone(d.names)
	return d
}

// do counts a step and returns its error.
func (d *disk) do(call, name string) error {
	if d.stopAt > 0 && d.step >= d.stopAt {
		return errStopped
	}
	d.step++
	d.calls = append(d.calls, call+" "+name)
	if d.failAt > 0 && (d.step == d.failAt || d.forever && d.step > d.failAt) {
		d.fails[call] = true
		return &fs.PathError{Op: call, Path: name, Err: d.reason}
	}
	return nil
}

func (d *disk) apply(c change) {
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

func (c change) apply(names map[string]*inode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.node
	}
}

func (d *disk) Create(dir, pattern string) (File, error) {
	if err := d.do("create", pattern); err != nil {
		return nil, err
	}
	d.created++
	name := path.Join(dir, strings.Replace(pattern, "*", fmt.Sprint(d.created), 1))
	n := &inode{}
	d.apply(change{to: name, node: n})
	return &diskFile{d, n, name}, nil
}

func (d *disk) Open(name string) (io.ReadCloser, error) {
	if err := d.do("open", name); err != nil {
		return nil, err
	}
	n := d.names[name]
	if n == nil {
		return nil, fs.ErrNotExist
	}
	if n.foreign {
		return nil, syscall.EACCES
	}
	return io.NopCloser(bytes.NewReader(n.data)), nil
}

func (d *disk) Link(name, second string) error {
	if err := d.do("link", second); err != nil {
		return err
	}
	n := d.names[name]
	switch {
	case n == nil:
		return fs.ErrNotExist
	case n.folder, n.foreign, d.noLinks:
		return syscall.EPERM
	case d.names[second] != nil:
		return fs.ErrExist
	}
	d.apply(change{to: second, node: n})
	return nil
}

func (d *disk) Rename(from, to string) error {
	if err := d.do("rename", to); err != nil {
		return err
	}
	n := d.names[from]
	if n == nil {
		return fs.ErrNotExist
	}
	if d.names[to] != n { // POSIX: two names of one file stay as they are
		d.apply(change{from, to, n})
	}
	return nil
}

func (d *disk) Remove(name string) error {
	if err := d.do("remove", name); err != nil {
		return err
	}
	if d.names[name] == nil {
		return fs.ErrNotExist
	}
	d.apply(change{from: name})
	return nil
}

func (d *disk) IsFolder(name string) bool {
	return d.do("stat", name) == nil && d.names[name] != nil && d.names[name].folder
}

func (d *disk) SyncFolder(dir string) error {
	if err := d.do("sync the folder", dir); err != nil {
		return err
	}
	d.durable, d.pending = maps.Clone(d.names), nil
	return nil
}

func (d *disk) MakeFolder(dir string, _ fs.FileMode) error {
	if err := d.do("make the folder", dir); err != nil {
		return err
	}
	switch {
	case d.names[dir] != nil:
		return fs.ErrExist
	case path.Dir(dir) != dir && d.names[path.Dir(dir)] == nil:
		return fs.ErrNotExist
	case path.Dir(dir) != dir && !d.names[path.Dir(dir)].folder:
		return syscall.ENOTDIR
	}
	d.apply(change{to: dir, node: &inode{folder: true}})
	return nil
}

// afterPowerCut calls f with each set of files that a power cut now may leave: any of the changes that were not
// synced may be missing, and of a file that was not synced all its data.
func (d *disk) afterPowerCut(f func(files map[string]string)) {
	for set := range 1 << len(d.pending) {
		names := maps.Clone(d.durable)
		for i, c := range d.pending {
			if set>>i&1 != 0 {
				c.apply(names)
			}
		}
		f(contents(names, func(n *inode) []byte { return n.synced }))
	}
}

// files are those that the next process finds after this one was killed.
func (d *disk) files() map[string]string {
	return contents(d.names, func(n *inode) []byte { return n.data })
}

func contents(names map[string]*inode, of func(*inode) []byte) map[string]string {
	out := map[string]string{}
	for name, n := range names {
		if !n.folder {
			out[name] = string(of(n))
		}
	}
	return out
}

type diskFile struct {
	d    *disk
	n    *inode
	name string
}

func (f *diskFile) Name() string { return f.name }

// Write is two steps, so that a process can be killed between two parts of a file, and a disk be full.
func (f *diskFile) Write(p []byte) (int, error) {
	for i, half := range [][]byte{p[:len(p)/2], p[len(p)/2:]} {
		if err := f.d.do("write", f.name); err != nil {
			return i * len(p) / 2, err
		}
		f.n.data = append(f.n.data, half...)
	}
	return len(p), nil
}

func (f *diskFile) Chmod(fs.FileMode) error { return f.d.do("set the mode", f.name) }

func (f *diskFile) Sync() error {
	if err := f.d.do("sync", f.name); err != nil {
		return err
	}
	f.n.synced = slices.Clone(f.n.data)
	return nil
}

func (f *diskFile) Close() error { return f.d.do("close", f.name) }
