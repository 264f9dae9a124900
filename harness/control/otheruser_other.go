//go:build !linux || !(amd64 || arm64)

package control

import (
	"context"
	"fmt"
)

// DialAsOther connects as another user, which is known how to do on Linux alone.
func DialAsOther(context.Context, string) (*Session, error) {
	return nil, fmt.Errorf("%w: acting as another user is only possible on Linux", ErrUnsupported)
}

// CanDialAsOther tells whether DialAsOther has a chance.
func CanDialAsOther() bool { return false }
