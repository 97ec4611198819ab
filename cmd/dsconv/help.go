package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

const (
	widestHelp = 100 // columns: longer lines are hard to read
	usualHelp  = 80  // where there is no terminal
)

// helpPrinter returns a printer of help texts that fit into the terminal.
func helpPrinter(c *console) func(w io.Writer, template string, data any) {
	return func(w io.Writer, template string, data any) {
		width := usualHelp
		if c.columns > 0 {
			width = min(c.columns, widestHelp)
		}
		var b strings.Builder
		cli.HelpPrinterCustom(&b, template, data, nil)
		_, _ = io.WriteString(w, layOut(b.String(), width)) // urfave/cli has no place for the error
	}
}

// column finds where the second column of a line begins, after two spaces or more.
var column = regexp.MustCompile(`^ *\S.*?  +`)

// layOut wraps the lines of a help text. In the section DESCRIPTION, the lines of a paragraph are joined
// first; what is indented more is a table or an example, and keeps its lines. Text in a second column, as
// after the name of a flag, stays in its column.
func layOut(text string, width int) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			wrapLine(&b, strings.Join(paragraph, " "), 3, 3, width)
		}
		paragraph = nil
	}
	described := false
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case described && indent == 3 && !column.MatchString(line):
			paragraph = append(paragraph, line[indent:])
			continue
		case line != "" && indent == 0:
			described = line == "DESCRIPTION:"
		}
		flush()
		name := column.FindString(line)
		if indent > width/2 { // a table that is too wide here
			indent = width / 4
		}
		hanging := indent + 3
		if len(name) > hanging && len(name) <= width/2 {
			hanging = len(name)
		}
		wrapLine(&b, strings.TrimLeft(line, " "), indent, hanging, width)
	}
	flush()
	return b.String()
}

// wrapLine writes text in lines of at most width columns: the first one indented by first, the others by
// hanging. A word that is longer stays whole.
func wrapLine(b *strings.Builder, text string, first, hanging, width int) {
	for indent := first; ; indent = hanging {
		cut := len(text)
		if room := max(width-indent, 20); cut > room {
			cut = strings.LastIndexByte(text[:room+1], ' ')
			if cut < 0 {
				cut = max(strings.IndexByte(text, ' '), 0)
			}
			if cut == 0 {
				cut = len(text)
			}
		}
		line := strings.TrimRight(text[:cut], " ")
		if line != "" {
			line = strings.Repeat(" ", indent) + line
		}
		fmt.Fprintln(b, line)
		if text = strings.TrimLeft(text[cut:], " "); text == "" {
			return
		}
	}
}

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
