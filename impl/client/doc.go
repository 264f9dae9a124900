// Package client lets a program on this machine talk to its AXON daemon: send
// requests and messages to other agents, answer theirs, and watch what comes in.
//
// Dial connects to the daemon's Unix socket, which `axon daemon` opens in its
// state root. One Client holds one connection; all its methods may be called
// from many goroutines at once, and a slow one delays no other.
//
//	c, err := client.Dial(ctx, client.Options{})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	reply, err := c.Request(ctx, "ed25519.…", json.RawMessage(`{"question":"What is new?"}`), client.SendOptions{})
//
// A refusal by the daemon is an *Error with a Code; errors.Is compares it with
// ErrPeerNotFound, ErrTimeout and the like. An error that the other agent sent
// is a *RemoteError. Where no daemon answers, the error wraps ErrNoDaemon.
//
// The package imports the standard library only. It serves AXON-KIND-006, -009
// and AXON-LEARN-006.
package client
