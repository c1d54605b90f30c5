import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { setUpJobs } from "../completions/jobs.ts"

/** Returns functions that create chains and read their runs until a condition is met. */
export const setUpChainRuns = Effect.map(setUpJobs, (jobs) => {
  const create = Effect.fnUntraced(function* (steps: ReadonlyArray<object>, fields: object = {}) {
    const chain = yield* jobs.request("POST", "/chains", { name: "Chain", steps, ...fields })
    assert.strictEqual(chain.status, 201, chain.text)
    return String(chain.body.id)
  })
  return {
    ...jobs,
    create,
    run: Effect.fnUntraced(function* (chain: string, input?: object) {
      const body = input === undefined ? {} : { input }
      const { body: run } = yield* jobs.request("POST", `/chains/${chain}/run`, body)
      const at = `/chains/${chain}/runs/${run.id}`
      // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the run
      const until = (holds: (run: any) => boolean) => jobs.until(at, holds)
      return {
        until,
        /**
         * Waits until the step at this index has the status `waiting`, and returns the step's
         * execution.
         */
        waiting: (index: number) =>
          Effect.map(
            until(({ steps }) => steps[index].execution?.waits_until != null),
            ({ steps }) => steps[index].execution
          ),
        /**
         * Waits until the step at this index is waiting for approval, and returns the step's
         * execution.
         */
        awaiting: (index: number) =>
          Effect.map(
            until(({ steps }) => steps[index].execution?.approval != null),
            ({ steps }) => steps[index].execution
          ),
        ended: until(({ finished_at }) => finished_at !== null)
      }
    })
  }
})
