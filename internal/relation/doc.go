// Package relation holds what must be true of the answers of every engine and every command, whatever the numbers are:
// a row of weight 2 is the row twice, the order of rows says nothing, a target in other units gives weights in other
// units. One suite of such relations stands over all engines and commands; the tests of an engine are left with its
// oracles.
//
// A [Job] is a command, its options and a [Table]; an [Answer] is every number that the command gives for it, by its
// place. A [Relation] makes another job of a job and says what becomes of each number. [Check] runs subjects through
// relations and tells where an answer is another:
//
//	page := relation.Check(t, run, subjects, relation.All(), exempt)
//
// A [Run] stands in the tests of what it runs: those of package fit run a job by packages fit and learn, those of the
// command line in process, which write Job.Rows by [Table.Write] and gather what is printed by [Answer.JSON] and
// [Answer.CSV].
//
// What does not hold stands in a list of [Exempt] with its reason. An entry that is a bug fails once the bug is mended.
// A refusal is an answer too: a job may be refused where the relation's role is named in the words, and never answered
// with the numbers of another model.
package relation
