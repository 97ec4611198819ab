package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
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
			page, err := manPage(c)
			if err != nil {
				return err
			}
			_, err = c.out.Write(page)
			return err
		},
	}
}

// manWidth is how wide man shows the texts that it does not wrap itself.
const manWidth = 68

// manPage returns the man page in roff.
func manPage(c *console) ([]byte, error) {
	app := newApp(c)
	setUsage("dsconv", app.Commands)
	page, err := app.ToMarkdown()
	if err != nil {
		return nil, err
	}
	// A flag with a value, as urfave/cli writes it, has an empty value. Its text names the value.
	valueOfFlag := regexp.MustCompile("(?m)^(\\*\\*[^\n]*\\*\\*)=\"\": ([^\n`]*)`([^`\n]+)`")
	page = valueOfFlag.ReplaceAllString(page, "$1 $3: $2$3")
	return md2man.Render([]byte("% dsconv 1 \"\" \"dsconv " + version() + "\" \"\"\n" + page + manStatus)), nil
}

// setUsage sets the UsageText of commands and their subcommands: urfave/cli has it in a man page, as it is, and not the
// Description. program are the words before the command's.
func setUsage(program string, commands []*cli.Command) {
	for _, cmd := range commands {
		text := layOut("DESCRIPTION:\n   "+strings.ReplaceAll(cmd.Description, "\n", "\n   "), manWidth)
		text = strings.ReplaceAll(strings.TrimPrefix(text, "DESCRIPTION:\n"), "\n   ", "\n")
		name := program + " " + cmd.Name
		cmd.UsageText = strings.TrimRight(fmt.Sprintf("%s [options] %s\n\n%s", name, cmd.ArgsUsage, strings.TrimLeft(text, " ")), "\n")
		setUsage(name, cmd.Subcommands)
	}
}

// manStatus has the sections that urfave/cli does not know.
var manStatus = fmt.Sprintf(`
# EXIT STATUS

**%d**: done

**%d**: the command failed, was interrupted, or found damage or differences

**%d**: the command line is wrong

**%d**: done, but some inputs were skipped

# ENVIRONMENT

**CI**, **NO_COLOR**, **TERM=dumb**: the progress is lines of text, not a bar.
`, exitDone, exitFailed, exitUsage, exitSkipped)
