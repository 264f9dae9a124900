package credential

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrIdentityFile is wrapped by every refusal of an identity file that exists.
var ErrIdentityFile = errors.New("the identity file cannot be used")

// maxIdentityFile is far above the 44 characters of a seed, and still little to read.
const maxIdentityFile = 4096

// Load reads an identity file: the standard base64 of the 32-byte seed, white
// space around it allowed. A file that others may read is refused, and so is
// one that belongs to somebody else. A missing file gives an error that is
// fs.ErrNotExist; every other refusal is ErrIdentityFile.
func Load(path string) (Identity, error) {
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Identity{}, fmt.Errorf("read identity: %w; create it first or name another file", err)
		}
		return Identity{}, fmt.Errorf("%w: %w; make it readable for you alone or name another file", ErrIdentityFile, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w; name another file", ErrIdentityFile, err)
	}
	if !info.Mode().IsRegular() {
		return Identity{}, fmt.Errorf("%w: %s is no regular file; name another one", ErrIdentityFile, path)
	}
	if err := ownFile(path, info); err != nil {
		return Identity{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxIdentityFile+1))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w; name another file", ErrIdentityFile, err)
	}
	if len(text) > maxIdentityFile {
		return Identity{}, fmt.Errorf("%w: %s is too long for a seed; %s", ErrIdentityFile, path, wayOut)
	}
	seed, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %s does not hold base64; %s", ErrIdentityFile, path, wayOut)
	}
	id, err := FromSeed(seed)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %s: %w; %s", ErrIdentityFile, path, err, wayOut)
	}
	return id, nil
}

const wayOut = "restore it from a backup, or move it away and let a new one be made"

// LoadOrCreate reads an identity file, or makes one with a new key when there is
// none (mode 0600, missing folders 0700). The file appears whole or not at all,
// and one that is there already is never overwritten, also when two processes
// create it at once: both then use the one that came first.
func LoadOrCreate(path string) (id Identity, created bool, err error) {
	id, err = Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, false, err
	}
	if id, err = New(); err != nil {
		return Identity{}, false, err
	}
	err = createFile(path, []byte(base64.StdEncoding.EncodeToString(id.private.Seed())+"\n"))
	if errors.Is(err, fs.ErrExist) { // somebody was faster
		id, err = Load(path)
		return id, false, err
	}
	if err != nil {
		return Identity{}, false, fmt.Errorf("create identity: %w; choose a folder that you can write to", err)
	}
	return id, true, nil
}

// createFile writes a new file beside path and links it into place, which fails
// with fs.ErrExist rather than replace anything.
func createFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, ".identity-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Link(temporary.Name(), path)
}
