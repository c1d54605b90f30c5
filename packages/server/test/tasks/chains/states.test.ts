import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { insertRuns, isUnfinished, type RunOrExecution } from "../executions/history.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import {
  setUpChains,
  cancelled,
  failed,
  first,
  queued,
  runOf,
  running,
  second,
  type CheckedRun,
  runAndStepStatuses,
  skipped,
  succeeded,
  third,
  withoutResponses
} from "./chains.ts"

const minute = 60_000

/** A chain run's rows, its expected status, and its steps' expected statuses. */
const shapes: ReadonlyArray<
  readonly [ReadonlyArray<Partial<RunOrExecution>>, string, ReadonlyArray<string>]
> = [
  [[{ status: "queued" }], "queued", ["queued", "pending", "pending"]],
  [[{ ...first, ...running }], "running", ["running", "pending", "pending"]],
  [
    [{ ...first, ...queued, started_at: new Date(now), attempts_count: 1 }],
    "running",
    ["queued", "pending", "pending"]
  ],
  [
    [
      { ...first, ...succeeded },
      { ...second, ...queued }
    ],
    "running",
    ["succeeded", "queued", "pending"]
  ],
  [
    [
      { ...first, ...succeeded },
      { ...second, ...succeeded },
      { ...third, ...skipped }
    ],
    "succeeded",
    ["succeeded", "succeeded", "skipped"]
  ],
  [
    [
      { ...first, ...failed },
      { ...second, ...skipped },
      { ...third, ...succeeded }
    ],
    "failed",
    ["failed", "skipped", "succeeded"]
  ],
  [
    [
      { ...first, ...failed },
      { ...second, ...skipped },
      { ...third, ...cancelled }
    ],
    "cancelled",
    ["failed", "skipped", "cancelled"]
  ],
  [[cancelled], "cancelled", ["cancelled", "skipped", "skipped"]],
  [
    [cancelled, { ...second, ...skipped }, { ...third, ...skipped }],
    "cancelled",
    ["cancelled", "skipped", "skipped"]
  ],
  [
    [{ ...skipped, error: "overlap: the previous run was still in progress" }],
    "skipped",
    ["skipped", "skipped", "skipped"]
  ]
]

layer(testAppLayer())("states of chain runs", (it) => {
  it.effect("are distinguished however they continue or finish, in the list and one by one", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const { body: other } = yield* chains.create()
      const runs = shapes.map(([rows], index) => runOf(chain, now - index * minute, rows))
      yield* insertRuns([...runs.flat(), ...runOf(other, now, [{ ...first, ...running }])])
      const seen: Array<CheckedRun> = []
      let cursor = ""
      do {
        const { body } = yield* chains.runs(chain.id, `?limit=3${cursor}`)
        seen.push(...body.data)
        cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`
      } while (cursor !== "")
      assert.deepStrictEqual(
        seen.map(({ id }) => id),
        runs.map(([head]) => head?.id)
      )
      assert.deepStrictEqual(
        seen.map(runAndStepStatuses),
        shapes.map(([, status, ofSteps]) => [status, ofSteps])
      )
      for (const [index, run] of seen.entries()) {
        assert.deepStrictEqual(
          run.steps.map(({ name }) => name),
          ["login", "close", "alarm"]
        )
        assert.strictEqual(run.finished_at === null, runs[index]?.some(isUnfinished))
        assert.deepStrictEqual((yield* chains.getRun(chain.id, run.id)).body, withoutResponses(run))
      }
    })
  )
})
