package cli

import (
	"crypto/ed25519"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/axonproto/axon/harness/credential"
)

// targetForms is shown with every mistake in --target.
const targetForms = "write --target HOST:PORT, --target [IPV6]:PORT, or --target axon://KEY@HOST:PORT"

// parseTarget reads --target and --target-key. The key is nil when neither names
// one: it is then learned from the target.
func parseTarget(target, keyText string) (address string, key ed25519.PublicKey, err error) {
	address = target
	if scheme, _, found := strings.Cut(target, "://"); found {
		if !strings.EqualFold(scheme, "axon") {
			return "", nil, usagef("--target %s: %s:// is no AXON address; %s", target, scheme, targetForms)
		}
		if key, address, err = credential.ParseToken(target); err != nil {
			return "", nil, usagef("--target %s: %w; %s, KEY being the 32-byte public key in base64", target, err, targetForms)
		}
	} else if strings.Contains(target, "@") {
		return "", nil, usagef("--target %s: a key in front of the address needs axon:// before it; %s", target, targetForms)
	}
	if err := checkAddress(address, targetForms); err != nil {
		return "", nil, usagef("--target %s: %w", target, err)
	}
	if keyText == "" {
		return address, key, nil
	}
	given, err := parseKey(keyText)
	if err != nil {
		return "", nil, err
	}
	if key != nil && !key.Equal(given) {
		return "", nil, usagef("--target and --target-key name two keys, those of %s and %s; leave one of them out",
			credential.AgentID(key), credential.AgentID(given))
	}
	return address, given, nil
}

// parseKey reads --target-key.
func parseKey(text string) (ed25519.PublicKey, error) {
	key, err := credential.ParsePublicKey(text)
	if err != nil {
		return nil, usagef("--target-key %s: %w; it takes the target's 32-byte Ed25519 public key in base64, as in its identity.pub", text, err)
	}
	return key, nil
}

// checkAddress tells whether an address is HOST:PORT as one can dial it. The
// forms end the error.
func checkAddress(address, forms string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		switch {
		case address == "":
			return fmt.Errorf("the address is empty; %s", forms)
		case strings.Count(address, ":") > 1 && !strings.Contains(address, "["):
			return fmt.Errorf("an IPv6 address stands in brackets before its port; %s", forms)
		case !strings.Contains(address, ":"), strings.HasPrefix(address, "[") && strings.HasSuffix(address, "]"):
			return fmt.Errorf("the port is missing (AXON's usual one is 7100); %s", forms)
		}
		return fmt.Errorf("it is not HOST:PORT; %s", forms)
	}
	if host == "" {
		return fmt.Errorf("the host is missing; %s", forms)
	}
	if strings.ContainsAny(host, " \t\r\n/?#") {
		return fmt.Errorf("%q is no host name or IP address; %s", host, forms)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return fmt.Errorf("%q is no port, which is a number from 1 to 65535; %s", port, forms)
	}
	return nil
}

// shellQuote writes an argument so that a POSIX shell reads it unchanged.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
