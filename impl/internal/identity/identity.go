package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/axonproto/axon/impl/internal/atomicfile"
)

// Names of the two files in the state root.
const (
	KeyFile    = "identity.key"
	PublicFile = "identity.pub"
)

// ErrBadKeyFile reports an identity.key that holds something else than a key.
var ErrBadKeyFile = errors.New("identity key unusable")

// ErrExposedKey reports an identity.key that others may read or replace.
var ErrExposedKey = errors.New("identity key is not this user's alone")

// Identity is a key pair and the Agent ID that derives from it.
type Identity struct {
	ID      AgentID
	Public  ed25519.PublicKey
	private ed25519.PrivateKey
}

// New makes an identity from a 32-byte seed.
func New(seed []byte) (*Identity, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("identity seed has %d bytes; give exactly %d", len(seed), ed25519.SeedSize)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey)
	return &Identity{ID: DeriveAgentID(public), Public: public, private: private}, nil
}

// Generate makes an identity with a fresh random key.
func Generate() (*Identity, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	return New(seed)
}

// DeriveSecret returns n bytes that only the holder of this key can compute,
// the same ones at every start; purpose keeps the uses apart.
func (id *Identity) DeriveSecret(purpose string, n int) ([]byte, error) {
	return hkdf.Key(sha256.New, id.private.Seed(), nil, purpose, n)
}

// Load reads the identity of a state root, and makes one when there is none.
// An identity.key that holds anything but a 32-byte seed in base64 is refused
// with an error that wraps ErrBadKeyFile, and is never written to. The public
// file is only a copy for people: it is brought up to date when it differs. A key that
// somebody else may read or replace is refused as well, with ErrExposedKey.
func Load(root string) (*Identity, error) {
	path := filepath.Join(root, KeyFile)
	if err := checkAccess(path); err != nil {
		return nil, err
	}
	id, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		id, err = create(path)
	}
	if err != nil {
		return nil, err
	}
	return id, writePublic(filepath.Join(root, PublicFile), id)
}

// checkAccess looks at who may read the key file, and who owns it, where the system has
// such things.
func checkAccess(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // reading it says what is wrong
	}
	const beware = "somebody who has read it can pose as this agent: `axon doctor --rekey` makes a new identity"
	if mode := info.Mode().Perm(); os.PathSeparator == '/' && info.Mode().IsRegular() && mode&0o077 != 0 {
		return fmt.Errorf("%w: other users may read %s (mode %04o); take that away with `axon doctor --fix` or `chmod 600`; %s", ErrExposedKey, path, mode, beware)
	}
	if owner, ok := stranger(info); ok {
		return fmt.Errorf("%w: %s belongs to user %d, who can replace it; take it over with `chown`, or choose another state root with --state-root; %s", ErrExposedKey, path, owner, beware)
	}
	return nil
}

// Read reads the identity of a state root and changes nothing. Where there is
// none the error wraps fs.ErrNotExist.
func Read(root string) (*Identity, error) { return read(filepath.Join(root, KeyFile)) }

func read(path string) (*Identity, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	refuse := func(what string) (*Identity, error) {
		return nil, fmt.Errorf("%w: %s %s; restore it from a backup, or move it away to start with a new identity (peers must then enrol the new key)",
			ErrBadKeyFile, path, what)
	}
	if info.Mode().IsDir() {
		return refuse("is a directory")
	}
	const limit = 4096 // far above the 44 characters of a seed
	if info.Size() > limit {
		return refuse("is far too long for a key")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	seed, err := base64.StdEncoding.Strict().DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return refuse("does not hold a 32-byte seed in base64")
	}
	return New(seed)
}

// create stores a fresh key. When another process was quicker, its key wins.
func create(path string) (*Identity, error) {
	id, err := Generate()
	if err != nil {
		return nil, err
	}
	text := base64.StdEncoding.EncodeToString(id.private.Seed()) + "\n"
	err = atomicfile.Create(path, []byte(text), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return read(path)
	}
	if err != nil {
		return nil, fmt.Errorf("store new identity: %w; make the state root writable or choose another with --state-root", err)
	}
	return id, nil
}

func writePublic(path string, id *Identity) error {
	want := []byte(EncodePublicKey(id.Public) + "\n")
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(bytes.TrimSpace(have), bytes.TrimSpace(want)) {
		return nil
	}
	if err := atomicfile.Write(path, want, 0o644); err != nil {
		return fmt.Errorf("store public key: %w; make the state root writable or choose another with --state-root", err)
	}
	return nil
}
