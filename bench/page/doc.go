// Package page writes a report of package bench as one page of HTML: the verdict and what to do, charts, tables and a timeline, in
// light and dark.
//
//	out, err := os.Create(html)
//	...
//	return errors.Join(page.WriteHTML(out, report), out.Close())
//
// The page has the report as JSON, and its script shows that. It loads nothing from elsewhere.
package page
