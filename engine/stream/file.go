package stream

import "io"

// A File has the bytes of a file. Data is in a block of the streamer. Data is valid until the handle is closed or the
// file is reloaded.
type File struct{ Data []byte }

// Files returns the kind of files that are not decoded. Its values are of type [File].
func Files() Kind[File] {
	return Kind[File]{Name: "file", Stays: true, Decode: func(r *Reader, heap *Heap) (File, error) {
		data, err := ReadAll(r, heap)
		return File{data}, err
	}}
}

// Parsed returns a kind whose values are on the Go heap, such as levels and tables. The name becomes Kind.Name. The
// function parse runs on the workers, also concurrently. Its argument `data` is valid only during the call. If parse
// returns an error, the asset fails. A value does not count against Config.Resident, so values should be small.
func Parsed[T any](name string, parse func(file string, data []byte) (T, error)) Kind[T] {
	return Kind[T]{Name: name, Stays: true, Decode: func(r *Reader, heap *Heap) (v T, err error) {
		data, err := ReadAll(r, heap)
		if err != nil {
			return v, err
		}
		if v, err = parse(r.Name(), data); err == nil {
			heap.free(data)
		}
		return v, err
	}}
}

// ReadAll reads the whole file into a block of heap. The asset owns the block. A decode function must return the error
// of ReadAll: it is an error of heap or of r. ReadAll is for decode functions that have not read from r. After a read
// it fails with io.ErrUnexpectedEOF or io.EOF.
func ReadAll(r *Reader, heap *Heap) ([]byte, error) {
	data, err := heap.Bytes(int(r.Size()))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	if _, err := r.ReadByte(); err != io.EOF { // of what is longer than it says
		return nil, err
	}
	return data, nil
}
