package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// git returns what git prints. It changes no line ends, also on Windows.
func git(root string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-c", "core.autocrlf=input", "-c", "core.eol=lf"}, args...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %s", strings.Join(args, " "), bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// extract writes the files of a commit to dir.
func extract(root, commit, dir string) error {
	packed, err := git(root, "archive", "--format=tar", commit)
	if err != nil {
		return err
	}
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = writeFile(name, r)
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(name string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
