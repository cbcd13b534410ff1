// Package spec is the one grammar of Credence, as pure syntax: it reads the
// text of formulas, families, priors and engines into small trees that know
// where each piece stood, prints them back, and words the errors. What a name
// means — which features, which likelihood — is decided by its consumers.
//
// # Grammar
//
//	formula     = [ target "~" ] [ "+" | "-" ] term { ( "+" | "-" ) term }
//	target      = column | call | column "^" number | column comparison number
//	term        = product
//	sum         = [ "+" | "-" ] product { ( "+" | "-" ) product }
//	product     = interaction { "*" interaction }
//	interaction = compared { ":" compared }
//	compared    = primary [ "^" number ] [ comparison number ]
//	primary     = column | "." | number | call | "(" sum ")" | bar
//	            | text | list | file                  (only inside a call)
//	comparison  = ">" | "<" | ">=" | "<=" | "==" | "!="
//	bar         = "(" sum ( "|" | "||" ) key { "," key=value } ")"     (only outside calls)
//	key         = sum, whose products may have "/" for "*"
//	call        = name "(" [ argument { "," argument } ] ")"
//	argument    = sum | key "=" [ "~" ] sum
//	list        = "[" [ sum { "," sum } ] "]"
//	spec        = name | call
//
// A name is letters, digits, "_" and "." of any script, starting with a
// letter, "_" or "." (Sepal.Length is one name; a lone "." is every other
// column). Any other column name is written in backquotes, a backquote in it
// doubled. Text stands in "…" or '…', the quote doubled inside; a backslash is
// a plain character. A file is @path, or @"path" when the path holds spaces,
// commas, brackets or quotes. Numbers are decimal, with inf; a minus sign
// directly before a number inside a call belongs to the number. Words such as
// true or lbfgs are read as columns: only the reader of an argument knows.
//
// What is stated is held, what is left out is learned, and ~ before a value
// makes it a starting guess; [Arguments.Setting] reads the three cases.
//
// # The minus sign
//
// "- x" as a term takes out what "+ x" would have put in, wherever it stands
// in the formula: "- id + ." and ". - id" are the same. It applies to columns,
// interactions (a*b - a:b), sums of these in parentheses, and the intercept
// (- 1, the same as + 0). A "." or a function term cannot be taken out. Inside
// a call the minus sign is kept as an operator for the function to interpret.
//
// # Cost and limits
//
// Reading and printing are linear in the length of the text and look ahead one
// token. A text is at most [MaxLength] bytes, brackets nest at most [MaxDepth]
// deep, one sum or product inside brackets has at most [MaxOperators] operators
// and one call at most [MaxKeys] key=value arguments; the terms of a formula are
// bounded by its length alone. Beyond that the text is refused with an ordinary
// [Error], so that hostile input costs bounded memory and stack. Names are
// compared byte for byte, without Unicode normalisation.
package spec
