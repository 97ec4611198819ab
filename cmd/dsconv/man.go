package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func manCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the man page",
		Description: "The page has the help texts of all commands, for man:\n" +
			"   dsconv man > ~/.local/share/man/man1/dsconv.1\n   dsconv man | man -l -\n\n" + exitCodes,
		Action: func(cc *cli.Context) error {
			if _, err := arguments(cc); err != nil {
				return err
			}
			app := newApp(c)
			setUsage("dsconv", app.Commands)
			page, err := app.ToManWithSection(1)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.out, page)
			return err
		},
	}
}

// manWidth is how wide man shows the texts that it does not wrap itself.
const manWidth = 68

// setUsage sets the UsageText of commands and their subcommands: urfave/cli has it in a man page, as it is, and not the
// Description. program are the words before the command's. A flag's value is in its usage.
func setUsage(program string, commands []*cli.Command) {
	for _, cmd := range commands {
		text := layOut("DESCRIPTION:\n   "+strings.ReplaceAll(cmd.Description, "\n", "\n   "), manWidth)
		text = strings.ReplaceAll(strings.TrimPrefix(text, "DESCRIPTION:\n"), "\n   ", "\n")
		name := program + " " + cmd.Name
		cmd.UsageText = strings.TrimRight(fmt.Sprintf("%s [options] %s\n\n%s", name, cmd.ArgsUsage, strings.TrimLeft(text, " ")), "\n")
		setUsage(name, cmd.Subcommands)
	}
}
