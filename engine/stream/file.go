package stream

import "io"

// A File is a file as it is. Data lies in a block of the streamer: it is valid until the ticket
// is closed, or the file is reloaded.
type File struct{ Data []byte }

// Files is the kind of the files whose bytes are wanted as they are.
func Files() Kind[File] {
	return Kind[File]{Name: "file", Stays: true, Decode: func(r *Reader, heap *Heap) (File, error) {
		data, err := ReadAll(r, heap)
		return File{data}, err
	}}
}

// Parsed is the kind of the files that a function makes a value of the Go heap of, on a
// worker: levels, recipes, tables. data is gone when it returns. Such a value counts for nothing
// in the books: keep it small.
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

// ReadAll reads the whole file into a block of heap.
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
