package relation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// Page is what a suite found, by relation and engine or command.
type Page struct {
	Exempt    []Exempt
	relations []*Relation
	columns   []string
	cells     map[[2]string]outcome
	partial   bool // something was left out
	// subjects is how many there were, and ran how many were run: others were not asked for.
	subjects, ran int
}

func (p *Page) add(r *Relation, s *Subject, o outcome) {
	if !slices.ContainsFunc(p.relations, func(known *Relation) bool { return known.Name == r.Name }) {
		p.relations = append(p.relations, r)
	}
	if !slices.Contains(p.columns, s.Under) {
		p.columns = append(p.columns, s.Under)
	}
	if p.cells == nil {
		p.cells = map[[2]string]outcome{}
	}
	cell := [2]string{r.Name, s.Under}
	sum := p.cells[cell]
	sum.applies, sum.refused, sum.held, sum.compared = sum.applies || o.applies, sum.refused || o.refused, sum.held || o.held, sum.compared+o.compared
	if sum.exempt == nil {
		sum.exempt = map[int]bool{}
	}
	for i := range o.exempt {
		sum.exempt[i] = true
	}
	p.cells[cell] = sum
}

// Text is the page as Markdown: a table of relations by engines or commands, and the exemptions that it refers to.
func (p *Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| relation | %s |\n|---|%s\n", strings.Join(p.columns, " | "), strings.Repeat("---|", len(p.columns)))
	numbers := map[string]int{} // of reasons
	var reasons []string
	for _, r := range p.relations {
		fmt.Fprintf(&b, "| %s |", r.Name)
		for _, column := range p.columns {
			o := p.cells[[2]string{r.Name, column}]
			text := "–"
			switch {
			case o.refused && o.compared == 0:
				text = "refused"
			case o.refused && o.held:
				text = "holds or refused"
			case o.held:
				text = "holds"
			case o.applies:
				text = "no"
			}
			var notes []int
			for i, e := range p.Exempt {
				if !o.exempt[i] {
					continue
				}
				reason := e.Reason
				if e.Bug {
					reason = "To be mended: " + reason
				}
				if numbers[reason] == 0 {
					reasons = append(reasons, reason)
					numbers[reason] = len(reasons)
				}
				if !slices.Contains(notes, numbers[reason]) {
					notes = append(notes, numbers[reason])
				}
			}
			slices.Sort(notes)
			for _, n := range notes {
				text += fmt.Sprintf(" [%d]", n)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for _, r := range p.relations {
		fmt.Fprintf(&b, "- **%s**: %s\n", r.Name, r.About)
	}
	b.WriteByte('\n')
	for i, reason := range reasons {
		fmt.Fprintf(&b, "[%d] %s\n\n", i+1, reason)
	}
	return b.String()
}

// Verify compares the page with a section of a Markdown file, which stands between the comments "<!-- NAME -->" and
// "<!-- /NAME -->", and writes it there where CREDENCE_WRITE is set. A page of a part of the suite is not compared.
func (p *Page) Verify(t *testing.T, file, section string) {
	t.Helper()
	if p.partial || p.ran < p.subjects || t.Failed() {
		return
	}
	begin, end := "<!-- "+section+" -->\n", "<!-- /"+section+" -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	committed, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("%s has no section %q", file, section)
	}
	if committed == p.Text() {
		return
	}
	if !study.Write() {
		t.Errorf("%s is not what the suite prints: set CREDENCE_WRITE=1 and run this test", file)
		return
	}
	if err := os.WriteFile(file, []byte(before+begin+p.Text()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
