package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/internal/atomicfile"
	"github.com/axonproto/axon/impl/internal/config"
)

func newConfig(p *app) *cobra.Command {
	var asJSON, list, unset bool
	cmd := &cobra.Command{
		Use:   "config KEY [VALUE]",
		Short: "Show and change the configuration",
		Long: paragraphs(
			"Show a value of the configuration, or set it. The configuration is config.yaml in the state root; comments in it are kept. The daemon reads it when it starts: start it again for a change to count.",
			"Peers are a list, which is changed in an editor, or without the file by `axon connect` and `axon forget`.") +
			arguments("KEY", "one of "+strings.Join(config.Keys(), ", "), "VALUE", "the new value; without one the value that counts is printed"),
		Example: lines("axon config --list", "axon config port", "axon config port 7200", "axon config discovery.trust enroll", "axon config --unset port"),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case list && len(args) > 0:
				return usagef("--list takes no KEY; write `axon config --list`, or `axon config %s`", args[0])
			case list && unset:
				return usagef("--list and --unset exclude each other; give one of them")
			case !list && len(args) == 0:
				return usagef("KEY is missing; `axon config --list` shows all of them, see `axon config --help`")
			case unset && len(args) > 1, len(args) > 2:
				return usagef("%q is one argument too many; put a value that has spaces in it into quotes, see `axon config --help`", args[len(args)-1])
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return config.Keys(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := p.stateRoot()
			if err != nil {
				return err
			}
			switch {
			case list:
				return listConfig(cmd, root, asJSON)
			case unset:
				return editConfig(cmd, root, asJSON, args[0], func(text []byte) ([]byte, error) { return config.Unset(text, args[0]) })
			case len(args) == 2:
				return editConfig(cmd, root, asJSON, args[0], func(text []byte) ([]byte, error) { return config.Set(text, args[0], args[1]) })
			}
			return showConfig(cmd, root, asJSON, args[0])
		},
	}
	flags := cmd.Flags()
	jsonFlag(cmd, &asJSON)
	flags.BoolVar(&list, "list", false, "show all values")
	flags.BoolVar(&unset, "unset", false, "take KEY out of the file, so that its default counts")
	return cmd
}

func showConfig(cmd *cobra.Command, root string, asJSON bool, key string) error {
	if _, err := new(config.Config).Value(key); err != nil {
		return err // the key, whatever the file holds
	}
	conf, err := config.Load(root)
	if err != nil {
		return err
	}
	value, err := conf.Value(key)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]any{key: value})
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), screen.Escape(fmt.Sprint(value)))
	return err
}

func listConfig(cmd *cobra.Command, root string, asJSON bool) error {
	conf, err := config.Load(root)
	if err != nil {
		return err
	}
	if asJSON {
		values := map[string]any{}
		for _, key := range config.Keys() {
			if values[key], err = conf.Value(key); err != nil {
				return err
			}
		}
		return printJSON(cmd.OutOrStdout(), values)
	}
	t := screen.Table{Header: []string{"KEY", "VALUE"}}
	keys := config.Keys()
	slices.Sort(keys)
	for _, key := range keys {
		value, err := conf.Value(key)
		if err != nil {
			return err
		}
		t.Row(key, orDash(fmt.Sprint(value)))
	}
	return printTable(cmd.OutOrStdout(), t)
}

// editConfig changes the file as a whole, or not at all.
func editConfig(cmd *cobra.Command, root string, asJSON bool, key string, edit func([]byte) ([]byte, error)) error {
	path := filepath.Join(root, config.File)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read configuration: %w", err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	changed, err := edit(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if string(changed) != string(text) {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return fmt.Errorf("make state root: %w; choose a writable folder with --state-root", err)
		}
		if err := atomicfile.Write(path, changed, mode); err != nil {
			return fmt.Errorf("store configuration: %w; check the free space and the permissions of the state root", err)
		}
	}
	conf, err := config.Load(root)
	if err != nil {
		return err
	}
	value, err := conf.Value(key)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]any{key: value})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is now %s; it counts from the daemon's next start\n", key, screen.Escape(orDash(fmt.Sprint(value))))
	return err
}
