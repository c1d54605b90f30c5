/**
 * Removes the guards one at a time in a copy of the project, and fails if a guard's tests pass
 * without it. `npm run guards` tries all guards, `npm run guards -- scope` tries those whose name
 * contains that word, and `npm run guards -- --since origin/main` tries those whose code or test
 * has changed since that commit.
 */
import { execFileSync } from "node:child_process"
import { parseArgs } from "node:util"
import { makeProjectCopy } from "./ProjectCopy.ts"
import { guards } from "./guards.ts"

const {
  positionals: [word = ""],
  values: { since }
} = parseArgs({ allowPositionals: true, options: { since: { type: "string" } } })

const filesChangedSince = (commit: string) =>
  execFileSync("git", ["diff", "--name-only", `${commit}...`], { encoding: "utf8" }).split("\n")

const changed = since === undefined ? undefined : new Set(filesChangedSince(since))
const named = guards.filter(
  ({ file, name, shownBy }) =>
    name.includes(word) && (changed === undefined || changed.has(file) || changed.has(shownBy))
)
using projectCopy = makeProjectCopy()

for (const tests of new Set(named.map(({ shownBy }) => shownBy))) {
  const [failed] = await projectCopy.failuresOf(tests)
  if (failed !== undefined) throw new Error(`${tests} fails with every guard in place: "${failed}"`)
}

let unguarded = 0
for (const { breaking, file, name, shownBy } of named) {
  const intact = projectCopy.read(file)
  const broken = breaking(intact)
  if (broken === intact) throw new Error(`${name}: nothing to take away in ${file}`)
  projectCopy.write(file, broken)
  const [failed] = await projectCopy.failuresOf(shownBy)
  projectCopy.write(file, intact)
  if (failed === undefined) unguarded++
  console.log(failed === undefined ? `NOT NOTICED  ${name}` : `noticed      ${name}: "${failed}"`)
}
console.log(`${named.length - unguarded} of ${named.length} guards are missed when they are gone`)
if (unguarded > 0) process.exitCode = 1
