import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AgentRun } from "../../src/engine/workers/HeldRuns.ts"
import { AgentRuns } from "../../src/engine/workers/AgentRuns.ts"
import { times } from "../support/http.ts"

const session = 7

const run = (id: string): AgentRun => ({
  id,
  workspace_id: "workspace",
  task_id: "task",
  kind: "cron",
  attempt: 2,
  lost: 0,
  position: null,
  row_at: "(0,1)",
  retry_count: 0,
  call_options: null,
  timeout_seconds: 30,
  started_ms: 0
})

const toLease = (id: string) => ({ id, attempt: 2, session })

it.layer(AgentRuns.layer)("AgentRuns", (it) => {
  it.effect("recalls a run once, and only by the lease under which it was given", () =>
    Effect.gen(function* () {
      const given = yield* AgentRuns
      given.remember(session, run("a"))
      assert.isUndefined(given.recall({ ...toLease("a"), session: session + 1 }))
      assert.isUndefined(given.recall({ ...toLease("a"), attempt: 1 }))
      assert.deepStrictEqual(given.recall(toLease("a")), run("a"))
      assert.isUndefined(given.recall(toLease("a")))
    })
  )

  it.effect("forgets the oldest runs, so that lost results do not fill the memory", () =>
    Effect.gen(function* () {
      const given = yield* AgentRuns
      const ids = times(10_000, (n) => `run ${n}`)
      for (const id of ids) given.remember(session, run(id))
      const recalled = ids.map((id) => given.recall(toLease(id)) !== undefined)
      const kept = recalled.filter(Boolean).length
      assert.isBelow(kept, ids.length)
      assert.deepStrictEqual(
        recalled,
        ids.map((_, n) => n >= ids.length - kept)
      )
    })
  )
})
