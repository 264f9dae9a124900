package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
)

// qlogCeiling is how long the last events of a closed connection may take to be
// written down.
const qlogCeiling = 2 * time.Second

// keepQLog writes the qlog of the connection on which a closed scenario failed, for
// those that count, and names the file in the result. That it cannot is told once.
func (r *run) keepQLog(k *check, s *steps.Scenario, res *result) {
	dir := r.options.QLogDir
	if v := res.worst(k); dir == "" || v != verdict.Fail && v != verdict.Warn {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), qlogCeiling)
	defer cancel()
	text := s.QLog(ctx, res.connection)
	if len(text) == 0 {
		return
	}
	path := filepath.Join(dir, strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(k.location)+".sqlog")
	if err := replaceFile(path, text); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.qlogTold {
			r.qlogTold = true
			r.notes = append(r.notes, fmt.Sprintf("qlogs could not be written: %v; make room, or choose another directory", err))
		}
		return
	}
	res.qlog = path
}

// replaceFile puts a whole file in the place of an older one.
func replaceFile(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".qlog-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		// As other files of the user, not for the user alone.
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
