// Package labels says what the cells of a table's label columns mean: class indices, names of
// classes or numbers to predict. The rule, for a column of which nothing else is said:
//
//   - Cells count without the white space around them. An empty one and -1 are "no label".
//   - Whole numbers of which all from 0 to n-1 occur are the class indices themselves.
//   - Other numbers (with gaps, negative, 0.5) are an error that asks what they are: classes that
//     nobody meant would come of a guess.
//   - Everything else is the name of a class. Names are sorted bytewise, as ImageFolder sorts
//     folders, and the numbers among them by their value: 2 comes before 10.
//
// What is written to a dataset that is there already is read as that dataset's own labels are,
// and none of its classes gets another index.
package labels
