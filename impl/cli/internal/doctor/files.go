package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/stateroot"
)

func (x *exam) stateRoot() []Finding {
	const check = "state root"
	info, err := os.Stat(x.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return one(check, Note, "", "%s is not there yet; `axon daemon` makes it", x.root)
	case err != nil:
		return one(check, Problem, "make it accessible, or choose another folder with --state-root", "%v", err)
	case !info.IsDir():
		return one(check, Problem, "choose another folder with --state-root", "%s is not a folder", x.root)
	}
	probe, err := os.CreateTemp(x.root, ".doctor-*.tmp")
	if err != nil {
		return one(check, Problem, "make it writable, or choose another folder with --state-root", "%v", err)
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	if stateroot.OpenToOthers(x.root) {
		return x.repair(check, fmt.Sprintf("other users may look into %s (mode %04o)", x.root, info.Mode().Perm()), "its mode is 0700 now",
			func() error { return os.Chmod(x.root, 0o700) })
	}
	return one(check, OK, "", "%s", x.root)
}

// openFile tells of a file that others may read, which hold what is the owner's.
func (x *exam) openFile(check, path string) []Finding {
	info, err := os.Stat(path)
	if err != nil || os.PathSeparator != '/' || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return x.repair(check, fmt.Sprintf("other users may read %s (mode %04o)", filepath.Base(path), info.Mode().Perm()), "its mode is 0600 now",
		func() error { return os.Chmod(path, 0o600) })
}

func (x *exam) identityKey() []Finding {
	const check = "identity"
	id, err := identity.Read(x.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return one(check, Note, "", "there is none yet; the first start makes one")
	case err != nil:
		return one(check, Problem, "restore identity.key from a backup, or make a new identity with `axon doctor --rekey`", "%v", err)
	}
	if found := x.openFile(check, filepath.Join(x.root, identity.KeyFile)); found != nil {
		return found
	}
	return one(check, OK, "", "%s", id.ID)
}

func (x *exam) publicKey() []Finding {
	const check = "public key file"
	id, err := identity.Read(x.root)
	if err != nil {
		return one(check, Skipped, "", "there is no usable identity to compare it with")
	}
	path := filepath.Join(x.root, identity.PublicFile)
	text, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(text)) == identity.EncodePublicKey(id.Public) {
		return one(check, OK, "", "%s is that of the identity", identity.PublicFile)
	}
	detail := identity.PublicFile + " is not the public key of the identity"
	if errors.Is(err, fs.ErrNotExist) {
		detail = identity.PublicFile + " is missing"
	} else if err != nil {
		detail = err.Error()
	}
	return x.repair(check, detail, "it was written anew", func() error {
		if !errors.Is(err, fs.ErrNotExist) {
			if _, err := x.setAside(path); err != nil {
				return err
			}
		}
		_, err := identity.Load(x.root)
		return err
	})
}

func (x *exam) configuration() []Finding {
	const check = "configuration"
	path := filepath.Join(x.root, config.File)
	if x.confErr != nil {
		return one(check, Problem, "correct it in an editor, or one value with `axon config KEY VALUE`", "%s", strings.TrimSpace(x.confErr.Error()))
	}
	if _, err := os.Stat(path); err != nil {
		return one(check, OK, "", "there is no %s; the defaults count", config.File)
	}
	return one(check, OK, "", "%s, %d peers", path, len(x.conf.Peers))
}

func (x *exam) knownPeers() []Finding {
	const check = "known peers"
	path := filepath.Join(x.root, peers.File)
	if err := peers.Check(x.root); err != nil {
		if x.self != nil {
			return one(check, Problem, "stop the daemon and run `axon doctor --fix`", "%s cannot be used: %v", peers.File, err)
		}
		return x.repair(check, fmt.Sprintf("%s cannot be used: %v", peers.File, err),
			"it was set aside; enrol the missing peers again", func() error {
				_, err := x.setAside(path)
				return err
			})
	}
	if found := x.openFile(check, path); found != nil {
		return found
	}
	if _, err := os.Stat(path); err != nil {
		return one(check, OK, "", "none are stored yet")
	}
	return one(check, OK, "", "%s can be read", peers.File)
}

// Rekey gives a state root a new identity and returns both Agent IDs and the name
// of the file that keeps the old key. No daemon may use the state root. old is
// empty when there was no usable identity, backup when there was none at all.
func Rekey(o Options) (old, current identity.AgentID, backup string, err error) {
	x := &exam{root: o.StateRoot, now: o.Now}
	if x.now == nil {
		x.now = timeNow
	}
	if err := stateroot.Prepare(x.root); err != nil {
		return "", "", "", err
	}
	lock, err := stateroot.Acquire(x.root)
	if err != nil {
		return "", "", "", err
	}
	defer lock.Release()
	if id, err := identity.Read(x.root); err == nil {
		old = id.ID
	}
	path := filepath.Join(x.root, identity.KeyFile)
	if _, err := os.Lstat(path); err == nil {
		if backup, err = x.setAside(path); err != nil {
			return "", "", "", fmt.Errorf("keep the old key: %w; nothing was changed", err)
		}
	}
	id, err := identity.Load(x.root)
	if err != nil {
		if backup != "" {
			err = fmt.Errorf("%w; the old key is in %s", err, backup)
		}
		return "", "", "", err
	}
	return old, id.ID, backup, nil
}
