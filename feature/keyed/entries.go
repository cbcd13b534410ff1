package keyed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/linop"
)

// errTooLarge is the complaint about a product or sum beyond all numbers.
var errTooLarge = errors.New("the values of one feature multiply or add up to infinity: correct the row")

// entries appends the entries of row i, and returns the sum of squares of those whose keys a frozen
// index does not have.
func (b *Binder) entries(dst *linop.CSR, i int) (unseen float64, err error) {
	if b.alone && !b.frozen {
		b.wholeRow(dst, i)
		return 0, nil
	}
	b.stamp++
	if b.stamp == 0 { // after 2³² rows the old stamps could be taken for new ones
		clear(b.stamps[:])
		b.stamp = 1
	}
	b.placed = 0
	first := len(dst.Index)
	slots := b.singles(i)
	for k := range b.terms {
		t := &b.terms[k]
		switch {
		case t.level:
			slot := slots[0]
			if slots = slots[1:]; b.cells[t.Inputs[0]].has == nothing {
				continue
			}
			if slot < 0 && !b.frozen {
				slot = b.slot(b.keyOf(t), func() []byte { return b.name(t) })
			}
			b.entry(dst, first, slot, 1, &unseen)
		case t.bag:
			err = b.crossBags(dst, first, t, 0, 1, i, &unseen)
		case len(t.Inputs) > 1:
			err = b.cross(dst, first, t, &unseen)
		default:
			v := power(b.cells[t.Inputs[0]].x, t.Power)
			if v == 0 {
				continue
			} else if math.IsInf(v, 0) {
				return 0, errTooLarge
			}
			if t.slot < 0 {
				t.slot = b.slot(b.keyOf(t), func() []byte { return b.name(t) })
			}
			b.entry(dst, first, t.slot, v, &unseen)
		}
		if err != nil {
			return 0, err
		}
	}
	if b.plan.Missing == frame.Indicator {
		b.indicators(dst, first, &unseen)
	}
	for k := range b.plan.Bags {
		b.bagEntries(dst, first, &b.plan.Bags[k], i, &unseen)
	}
	if !b.ones {
		for _, v := range dst.Value[first:] {
			if math.IsInf(v, 0) {
				return 0, errTooLarge
			}
		}
	}
	return unseen, nil
}

// singles looks up the slots of the terms of one level in row i together.
func (b *Binder) singles(i int) []int32 {
	if len(b.single) == 0 {
		return nil
	}
	b.slots = slices.Grow(b.slots[:0], len(b.single))[:len(b.single)]
	b.lookUp(b.slots, i, b.first+len(b.keys)/b.levels, b.singleKeys, false)
	return b.slots
}

// lookUp stores the slots of the keys of row i, which keysOf returns of the rows below end. What tells those of the
// rows behind it is fetched meanwhile: the table of two rows ahead, the keys of one.
func (b *Binder) lookUp(slots []int32, i, end int, keysOf func(i int) []uint64, add bool) {
	if b.soughtFor != i {
		b.sought = b.sought[:0]
	}
	b.index.lookUp(slots, keysOf(i), b.sought, add)
	if b.soughtFor = i + 1; b.soughtFor < end {
		b.sought = b.index.seek(b.sought[:0], keysOf(i+1))
	}
	if i+2 < end {
		b.index.prefetch(keysOf(i + 2))
	}
}

// singleKeys returns the keys of the terms of one level in a row.
func (b *Binder) singleKeys(i int) []uint64 {
	keys := b.keysOf(i)
	if b.asKeys {
		return keys
	}
	b.key = b.key[:0]
	for _, t := range b.single {
		b.key = append(b.key, keyhash.Shorten(keys[b.cells[t.Inputs[0]].at], t.Bits))
	}
	return b.key
}

// power returns x to a power; 0 means 1.
func power(x float64, p int) float64 {
	v := x
	for range p - 1 {
		v *= x
	}
	return v
}

// slot returns the slot of a key, -1 if a frozen index does not have it.
func (b *Binder) slot(key uint64, name func() []byte) int32 {
	if b.frozen {
		return int32(b.index.Find(key))
	}
	slot := b.index.Add(key)
	if b.names != nil && slot == b.names.Len() {
		b.names.append(name())
	}
	return int32(slot)
}

// entry appends an entry, adding up those of one slot.
func (b *Binder) entry(dst *linop.CSR, first int, slot int32, v float64, unseen *float64) {
	if slot < 0 {
		b.Unknown++
		*unseen += v * v
		return
	}
	stamp := &b.stamps[slot%stampCount]
	if *stamp == b.stamp { // perhaps the same slot: rare enough to look for it
		if k := b.placeOf(dst.Index[first:], slot); k >= 0 {
			b.spell(dst)
			dst.Value[first+k] += v
			return
		}
	}
	*stamp = b.stamp
	if v != 1 {
		b.spell(dst)
	}
	dst.Index = append(dst.Index, slot)
	if !b.ones {
		dst.Value = append(dst.Value, v)
	}
}

// spell writes out the values, which were ones so far.
func (b *Binder) spell(dst *linop.CSR) {
	if b.ones {
		b.ones = false
		for range dst.Index {
			dst.Value = append(dst.Value, 1)
		}
	}
}

// placeOf returns the place of a slot among those of a row so far, -1 if it is not there. Of long rows
// it remembers the places, so that rows of any length take linear time.
func (b *Binder) placeOf(row []int32, slot int32) int {
	if len(row) < stampCount/8 {
		return slices.Index(row, slot)
	}
	for ; b.placed < len(row); b.placed++ {
		if have := int(row[b.placed]); have >= len(b.places) {
			b.places = append(b.places, make([]int32, have+1-len(b.places))...)
		}
		b.places[row[b.placed]] = int32(b.placed)
	}
	if int(slot) < len(b.places) { // the place may be that of an earlier row
		if k := int(b.places[slot]); k < len(row) && row[k] == slot {
			return k
		}
	}
	return -1
}

// keyOf returns the key of a term in the present row.
func (b *Binder) keyOf(t *term) uint64 {
	key := uint64(0)
	for n, k := range t.Order {
		c := &b.cells[t.Inputs[k]]
		part := c.single
		if c.level {
			part = b.keysOf(b.row)[c.at]
		} else if t.Power > 1 {
			part = keyhash.Number(keyhash.Space(t.label))
		}
		if n == 0 {
			key = part
		} else {
			key = keyhash.Cross(key, part)
		}
	}
	return keyhash.Shorten(key, t.Bits)
}

// name returns the name of a term's feature in the present row, as the formula writes the product; namespaces have that
// of the entry that the present cross is of.
func (b *Binder) name(t *term) []byte {
	if len(t.Inputs) == 1 && !t.bag && !b.cells[t.Inputs[0]].level {
		return []byte(t.label)
	}
	b.text = b.text[:0]
	for n, k := range t.Inputs {
		if n > 0 {
			b.text = append(b.text, ':')
		}
		in, c := &b.plan.Inputs[k], &b.cells[k]
		if in.Role == AsNamespace {
			b.text = b.appendToken(b.text, int(b.bag[slices.Index(t.Order, n)]))
			continue
		}
		if b.text = append(b.text, in.name()...); c.level {
			b.text = append(append(b.text, '='), b.levelText(in, c)...)
		}
	}
	return b.text
}

// levelText is the level of the present row.
func (b *Binder) levelText(in *Input, c *cells) []byte {
	switch v := b.rows.Row(b.row)[c.column]; {
	case c.has == filled:
		return []byte(in.Fill)
	case v == v:
		return b.levelOf(c, v)
	}
	return []byte(missingLevel)
}

// cross appends the feature of a term of several inputs, none of them a namespace.
func (b *Binder) cross(dst *linop.CSR, first int, t *term, unseen *float64) error {
	v := 1.0
	for _, k := range t.Inputs {
		if c := &b.cells[k]; !c.level {
			v *= c.x
		} else if c.has == nothing {
			return nil
		}
	}
	switch {
	case v == 0:
		return nil
	case math.IsInf(v, 0) || v != v:
		return errTooLarge
	}
	b.entry(dst, first, b.slot(b.keyOf(t), func() []byte { return b.name(t) }), v, unseen)
	return nil
}

// maxCrossed is the most entries that one cross of namespaces may give a row.
const maxCrossed = 1 << 16

// crossBags appends the products of the features of the namespaces of a term, of which those up to
// depth are chosen. The order of crossing is that of the plan.
func (b *Binder) crossBags(dst *linop.CSR, first int, t *term, depth int, v float64, i int, unseen *float64) error {
	if depth == 0 {
		b.bag, b.key, b.crossed = b.bag[:0], b.key[:0], 0
	}
	if depth == len(t.Order) {
		if b.crossed++; b.crossed > maxCrossed {
			return fmt.Errorf("a cross of more than %d features: cross smaller namespaces", maxCrossed)
		}
		if math.IsInf(v, 0) || v != v {
			return errTooLarge
		}
		if v != 0 {
			key := keyhash.Shorten(b.key[depth-1], t.Bits)
			b.entry(dst, first, b.slot(key, func() []byte { return b.name(t) }), v, unseen)
		}
		return nil
	}
	input := t.Inputs[t.Order[depth]]
	in, c := &b.plan.Inputs[input], &b.cells[input]
	push := func(part uint64, entry int32, x float64) error {
		if depth > 0 {
			part = keyhash.Cross(b.key[depth-1], part)
		}
		b.key, b.bag = append(b.key, part), append(b.bag, entry)
		err := b.crossBags(dst, first, t, depth+1, v*x, i, unseen)
		b.key, b.bag = b.key[:depth], b.bag[:depth]
		return err
	}
	switch {
	case c.level && c.has == nothing:
		return nil
	case c.level:
		return push(b.keysOf(i)[c.at], -1, 1)
	case in.Role != AsNamespace:
		return push(c.single, -1, c.x)
	}
	for k := b.rows.Start[i]; k < b.rows.Start[i+1]; k++ {
		if b.space(k) != in.Expr.Column || slices.Contains(b.bag, int32(k)) {
			continue
		}
		if err := push(b.rows.Keys[k], int32(k), b.value(k)); err != nil {
			return err
		}
	}
	return nil
}

// space returns the namespace of an entry, "" where there are none.
func (b *Binder) space(k int) string {
	if len(b.rows.Space) == 0 {
		return ""
	}
	return string(b.rows.Spaces.List[b.rows.Space[k]].Text)
}

// appendToken appends the name of an entry: ns^token, or x7.
func (b *Binder) appendToken(text []byte, k int) []byte {
	if len(b.rows.Space) == 0 {
		return strconv.AppendUint(append(text, 'x'), b.rows.Keys[k], 10)
	}
	if space := b.space(k); space != "" {
		text = append(append(text, space...), '^')
	}
	return append(text, b.rows.Token(k)...)
}

// indicators appends the features of missing numbers, one for each column.
func (b *Binder) indicators(dst *linop.CSR, first int, unseen *float64) {
	for k := range b.cells {
		c, column := &b.cells[k], b.plan.Inputs[k].Expr.Column
		if !c.marked || !c.gap {
			continue
		}
		slot := b.slot(c.missing, func() []byte { return append([]byte(column), "_missing"...) })
		b.entry(dst, first, slot, 1, unseen)
	}
}

// bagEntries appends the sparse entries of row i.
func (b *Binder) bagEntries(dst *linop.CSR, first int, bag *Bag, i int, unseen *float64) {
	for k := b.rows.Start[i]; k < b.rows.Start[i+1]; k++ {
		v := b.value(k)
		if v == 0 || len(bag.Except) > 0 && b.excepted(bag, k) {
			continue
		}
		slot := b.slot(keyhash.Shorten(b.rows.Keys[k], bag.Bits), func() []byte { return b.appendToken(b.text[:0], k) })
		b.entry(dst, first, slot, v, unseen)
	}
}

// wholeRow appends the sparse entries of row i where they are all there is: their keys are distinct.
func (b *Binder) wholeRow(dst *linop.CSR, i int) {
	from, to := b.rows.Start[i], b.rows.Start[i+1]
	if !b.rows.Ones && slices.Contains(b.rows.Value[from:to], 0) {
		unseen := 0.0
		for k := from; k < to; k++ {
			if v := b.value(k); v != 0 {
				b.entry(dst, len(dst.Index), b.slot(b.rows.Keys[k], func() []byte { return b.appendToken(b.text[:0], k) }), v, &unseen)
			}
		}
		return
	}
	if !b.rows.Ones {
		b.spell(dst)
		dst.Value = append(dst.Value, b.rows.Value[from:to]...)
	} else if !b.ones {
		for range to - from {
			dst.Value = append(dst.Value, 1)
		}
	}
	first := len(dst.Index)
	dst.Index = slices.Grow(dst.Index, to-from)[:first+to-from]
	slots := dst.Index[first:]
	b.lookUp(slots, i, b.rows.Count, b.rowKeys, true)
	for k := 0; b.names != nil && b.names.Len() < b.index.Len(); k++ {
		if int(slots[k]) == b.names.Len() {
			b.names.append(b.appendToken(b.text[:0], from+k))
		}
	}
}

// rowKeys returns the keys of the sparse entries of a row.
func (b *Binder) rowKeys(i int) []uint64 { return b.rows.Keys[b.rows.Start[i]:b.rows.Start[i+1]] }

// excepted says whether a bag leaves an entry out.
func (b *Binder) excepted(bag *Bag, k int) bool {
	if len(b.rows.Space) > 0 {
		return slices.Contains(bag.Except, b.space(k))
	}
	return slices.Contains(bag.Except, "x"+strconv.FormatUint(b.rows.Keys[k], 10))
}
