import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { transitions } from "../../../src/engine/RunState.ts"

/** The table's rows: the transition, and the states before and after it. */
const steps = Object.entries(transitions).flatMap(([name, moves]) =>
  Object.entries(moves).flatMap(([from, to]) =>
    (to as ReadonlyArray<string>).map((one) => ({ name, from, to: one }))
  )
)

const table = [
  "| who | moves a run from | to |",
  "|---|---|---|",
  ...[...Map.groupBy(steps, ({ from, name }) => `| \`${name}\` | ${from} |`)].map(
    ([row, moves]) => `${row} ${moves.map(({ to }) => to).join(", ")} |`
  )
]

/** Transitions that users can request in any state. They would clutter the diagram. */
const isAsked = ({ from, name, to }: (typeof steps)[number]) =>
  from === to || ["cancel", "stop", "withdraw", "move"].includes(name)

const node = (state: string) => (state === "new" || state === "finished" ? "[*]" : state)

/** Only runs that have started finish on their own. */
const isOwnEnd = ({ from, to }: (typeof steps)[number]) =>
  to !== "finished" || from === "running" || from === "awaiting"

const picture = [
  "```mermaid",
  "stateDiagram-v2",
  ...[
    ...Map.groupBy(
      steps.filter((one) => !isAsked(one) && isOwnEnd(one)),
      ({ from, to }) => `  ${node(from)} --> ${node(to)}`
    )
  ].map(([arrow, moves]) => `${arrow}: ${moves.map(({ name }) => name).join(", ")}`),
  "```"
]

describe("docs/architecture.md", () => {
  const text = readFileSync(new URL("../../../../../docs/architecture.md", import.meta.url), "utf8")
  it.each([
    ["table", table],
    ["picture", picture]
  ])("has the %s of RunState.ts", (_, lines) => {
    assert.include(text, lines.join("\n"))
  })
})
