/**
 * Takes the guards away, one after the other, in a copy of the project: of each, a test must fail.
 * `npm run guards`, or `npm run guards -- scope` for those whose name has the word in it.
 */
import { makeCopy } from "./Copy.ts"
import { guards } from "./guards.ts"

const [word = ""] = process.argv.slice(2)
const named = guards.filter(({ name }) => name.includes(word))
using copy = makeCopy()

for (const tests of new Set(named.map(({ shownBy }) => shownBy))) {
  const [failed] = await copy.failuresOf(tests)
  if (failed !== undefined) throw new Error(`${tests} fails with every guard in place: "${failed}"`)
}

let unguarded = 0
for (const { breaking, file, name, shownBy } of named) {
  const intact = copy.read(file)
  const broken = breaking(intact)
  if (broken === intact) throw new Error(`${name}: nothing to take away in ${file}`)
  copy.write(file, broken)
  const [failed] = await copy.failuresOf(shownBy)
  copy.write(file, intact)
  if (failed === undefined) unguarded++
  console.log(failed === undefined ? `NOT NOTICED  ${name}` : `noticed      ${name}: "${failed}"`)
}
console.log(`${named.length - unguarded} of ${named.length} guards are missed when they are gone`)
if (unguarded > 0) process.exitCode = 1
