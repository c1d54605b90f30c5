import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { insertRuns, isUnfinished, type RunOrExecution } from "../executions/history.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import {
  setUpChains,
  cancelledRow,
  failedRow,
  loginRow,
  queuedRow,
  runOf,
  runningRow,
  closeRow,
  type CheckedRun,
  runAndStepStatuses,
  skippedRow,
  succeededRow,
  alarmRow,
  withoutResponses
} from "./chains.ts"

const minute = 60_000

/** A chain run's rows, its expected status, and its steps' expected statuses. */
const shapes: ReadonlyArray<
  readonly [ReadonlyArray<Partial<RunOrExecution>>, string, ReadonlyArray<string>]
> = [
  [[{ status: "queued" }], "queued", ["queued", "pending", "pending"]],
  [[{ ...loginRow, ...runningRow }], "running", ["running", "pending", "pending"]],
  [
    [{ ...loginRow, ...queuedRow, started_at: new Date(now), attempts_count: 1 }],
    "running",
    ["queued", "pending", "pending"]
  ],
  [
    [
      { ...loginRow, ...succeededRow },
      { ...closeRow, ...queuedRow }
    ],
    "running",
    ["succeeded", "queued", "pending"]
  ],
  [
    [
      { ...loginRow, ...succeededRow },
      { ...closeRow, ...succeededRow },
      { ...alarmRow, ...skippedRow }
    ],
    "succeeded",
    ["succeeded", "succeeded", "skipped"]
  ],
  [
    [
      { ...loginRow, ...failedRow },
      { ...closeRow, ...skippedRow },
      { ...alarmRow, ...succeededRow }
    ],
    "failed",
    ["failed", "skipped", "succeeded"]
  ],
  [
    [
      { ...loginRow, ...failedRow },
      { ...closeRow, ...skippedRow },
      { ...alarmRow, ...cancelledRow }
    ],
    "cancelled",
    ["failed", "skipped", "cancelled"]
  ],
  [[cancelledRow], "cancelled", ["cancelled", "skipped", "skipped"]],
  [
    [cancelledRow, { ...closeRow, ...skippedRow }, { ...alarmRow, ...skippedRow }],
    "cancelled",
    ["cancelled", "skipped", "skipped"]
  ],
  [
    [{ ...skippedRow, error: "overlap: the previous run was still in progress" }],
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
      yield* insertRuns([...runs.flat(), ...runOf(other, now, [{ ...loginRow, ...runningRow }])])
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
