// Package page writes a [bench.Report] for people: as a page of HTML that needs no network, and as Markdown. Both say the same;
// the page draws charts too. The JSON of the report is the source of both, so a report that was saved can be written again:
//
//	in, err := os.Open(saved)
//	...
//	report, err := bench.ReadReport(in)
//	...
//	return errors.Join(page.WriteHTML(out, report), out.Close())
//
// Names and texts of a report are data: whatever they contain, they are shown as text and never become markup or code.
package page
