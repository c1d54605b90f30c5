// @tags slow
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { CronTaskInput } from "@scheduling/domain/cron/CronTask"
import { DelayedTaskInput } from "@scheduling/domain/delayed/DelayedTask"
import type { CronTaskId } from "@scheduling/domain/shared/Ids"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../src/accounts/audit/AuditLog.ts"
import { ChangeLog } from "../../src/accounts/audit/ChangeLog.ts"
import { AppConfig } from "../../src/core/config/Config.ts"
import { makeSecrets, Secrets } from "../../src/core/Secrets.ts"
import { CronTasks } from "../../src/tasks/cron/CronTasks.ts"
import { DelayedTasks } from "../../src/tasks/delayed/DelayedTasks.ts"
import { Executions } from "../../src/tasks/executions/Executions.ts"
import { ExecutionsRepo } from "../../src/tasks/executions/ExecutionsRepo.ts"
import { ExecutionStatsRepo } from "../../src/tasks/executions/ExecutionStatsRepo.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { Ids } from "../../src/core/Ids.ts"
import { fire } from "../../src/engine/transitions/fire.ts"
import { finish } from "../../src/engine/transitions/finish.ts"
import { start } from "../../src/engine/transitions/start.ts"
import { offsetClock } from "../support/offsetClock.ts"
import { testConfig } from "../support/TestApp.ts"
import { testSecret } from "../support/testSecret.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { limitsLayer, RunQueueLayer } from "./runner/support/engine.ts"
import { insertWorkspace } from "./runner/support/tasks.ts"
import { settlement } from "./runner/support/settlement.ts"

const Tasks = Layer.merge(CronTasks.layer, DelayedTasks.layer).pipe(
  Layer.provideMerge(Executions.layer),
  Layer.provide([
    ChangeLog.layer.pipe(
      Layer.provide(AuditLog.layer),
      Layer.provide([Ids.layer, Layer.succeed(Secrets, makeSecrets([testSecret]))])
    ),
    AuditLog.layer.pipe(
      Layer.provide([Ids.layer, Layer.succeed(Secrets, makeSecrets([testSecret]))])
    ),
    Layer.succeed(AppConfig, testConfig),
    ExecutionsRepo.layer,
    ExecutionStatsRepo.layer,
    Ids.layer,
    Outbox.layer.pipe(Layer.provide(RunQueueLayer)),
    RunQueueLayer,
    limitsLayer
  ])
)

/** Creates a node's services. The node's clock is ahead of the database's by this time. */
const nodeOf = (aheadMs: number) => {
  const { clock } = offsetClock(aheadMs)
  return Effect.map(
    Layer.build(Layer.fresh(Tasks)).pipe(Effect.provideService(Clock.Clock, clock)),
    (services) =>
      <A, E>(
        work: (node: {
          readonly cron: CronTasks["Service"]
          readonly delayed: DelayedTasks["Service"]
        }) => Effect.Effect<A, E>
      ) =>
        work({
          cron: Context.get(services, CronTasks),
          delayed: Context.get(services, DelayedTasks)
        }).pipe(Effect.provideService(Clock.Clock, clock))
  )
}

const inputWith = (options: object) =>
  Schema.decodeUnknownSync(CronTaskInput)({
    name: "each minute",
    url: "https://example.com/",
    schedule: "* * * * *",
    overlap: "allow",
    ...options
  })

const minuteMs = 60_000
const slotsAhead = 3

interface Slot {
  readonly slot_ms: number
  readonly state: string
  readonly started: boolean
  readonly duration_ms: number | null
}

/** Lists all runs and executions for a task's slots. Jitter stays within the minute. */
const slotsOf = (taskId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<Slot>`
      SELECT
        date_part('epoch', date_trunc('minute', scheduled_for)) * 1000 AS slot_ms, state,
        started_at IS NOT NULL AS started, NULL::float8 AS duration_ms
      FROM runs
      WHERE task_id = ${taskId}
      UNION ALL
      SELECT
        date_part('epoch', date_trunc('minute', scheduled_for)) * 1000, status,
        started_at IS NOT NULL, duration_ms::float8
      FROM executions
      WHERE task_id = ${taskId}
      ORDER BY slot_ms`
  )

layer(TestDatabaseLayer, { excludeTestServices: true })("through nodes with wrong clocks", (it) => {
  const clocks = [0, -100, -1_000, 5_000, -3_600_000, 3_600_000]

  const edits = Schema.decodeUnknownSync(
    Schema.Struct({
      timezone: CronTaskInput.fields.timezone,
      jitter_seconds: CronTaskInput.fields.jitter_seconds,
      ends_at: CronTaskInput.fields.ends_at
    })
  )

  const changes = {
    edit: (
      cron: CronTasks["Service"],
      workspace: AuthorizedWorkspaceId,
      id: CronTaskId,
      round: number
    ) => cron.update(workspace, id, edits({ timezone: round % 2 === 0 ? "Europe/Berlin" : "UTC" })),
    "edit of the options": (
      cron: CronTasks["Service"],
      workspace: AuthorizedWorkspaceId,
      id: CronTaskId,
      round: number
    ) =>
      cron.update(
        workspace,
        id,
        edits(
          round % 2 === 0
            ? { jitter_seconds: 50, ends_at: "2999-01-01T00:00:00Z" }
            : { jitter_seconds: 10, ends_at: null }
        )
      ),
    "pause and resume": (
      cron: CronTasks["Service"],
      workspace: AuthorizedWorkspaceId,
      id: CronTaskId
    ) => Effect.andThen(cron.pause(workspace, id), cron.resume(workspace, id))
  } as const

  const tasks = {
    "a plain task": {},
    "a task with jitter": { jitter_seconds: 59 },
    "a task that finishes": { on_pause: "finish", jitter_seconds: 1 }
  }

  const cases = Object.entries(changes).flatMap(([name, change]) =>
    Object.entries(tasks).flatMap(([task, options]) =>
      clocks.map((aheadMs) => ({ name, change, task, options, aheadMs }))
    )
  )

  it.effect.each(cases)(
    "$name of $task loses no slot and repeats none, $aheadMs ms ahead",
    ({ aheadMs, change, options }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const node = yield* nodeOf(aheadMs)
        const workspace = yield* insertWorkspace
        const [member] = yield* sql<{ readonly id: number }>`
          INSERT INTO nodes (holds_lock, lease_until)
          VALUES (false, now() + interval '1 hour')
          RETURNING id`
        const owner = member?.id ?? assert.fail("no node")
        const { id } = yield* node(({ cron }) => cron.create(workspace, inputWith(options)))
        const fireUntil = (lookAheadMs: number) =>
          fire(sql, {
            node: owner,
            limit: 500,
            lookAheadMs,
            turns: null,
            leases: () => true
          })
        const changeIt = (round: number) => node(({ cron }) => change(cron, workspace, id, round))

        yield* fireUntil(minuteMs)
        yield* changeIt(0)
        const { leased } = yield* fireUntil(minuteMs)
        const own = leased.filter((run) => run.workspace_id === workspace)
        // The first slot's run has passed its start check, so a change is either too late for the
        // run or aborts it.
        const { started } = yield* start(sql, owner, own)
        yield* changeIt(1)
        yield* finish(
          sql,
          started.map((run) =>
            settlement({
              id: run.id,
              workspace_id: run.workspace_id,
              attempt: run.attempt,
              lease_owner: owner,
              status: "cancelled",
              started: false
            })
          )
        )
        yield* fireUntil(minuteMs)
        yield* changeIt(2)
        const fireAll = fireUntil(slotsAhead * minuteMs)
        yield* Effect.repeat(fireAll, { until: ({ fired }) => fired === 0 })
        yield* changeIt(3)
        yield* Effect.repeat(fireAll, { until: ({ fired }) => fired === 0 })

        const slots = yield* slotsOf(id)
        const first = slots[0]?.slot_ms ?? assert.fail("nothing fired")
        assert.deepStrictEqual(
          slots.map(({ slot_ms }) => (slot_ms - first) / minuteMs),
          slots.map((_, index) => index)
        )
        assert.isAtLeast(slots.length, slotsAhead)
        for (const slot of slots.filter(({ state }) => state === "cancelled")) {
          assert.deepInclude(slot, { started: false, duration_ms: null })
        }
      })
  )

  it.effect.each(clocks.map((aheadMs) => ({ aheadMs })))(
    "a delay of 6 s takes 6 s, $aheadMs ms ahead",
    ({ aheadMs }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const node = yield* nodeOf(aheadMs)
        const workspace = yield* insertWorkspace
        const task = yield* node(({ delayed }) =>
          delayed.create(
            workspace,
            Schema.decodeUnknownSync(DelayedTaskInput)({
              url: "https://example.com/",
              delay_seconds: 6
            })
          )
        )
        const [run] = yield* sql<{ readonly delay_ms: number }>`
          SELECT date_part('epoch', due_at - now()) * 1000 AS delay_ms
          FROM runs
          WHERE task_id = ${task.id}`
        const delayMs = run?.delay_ms ?? assert.fail("no run")
        assert.isAtMost(delayMs, 6_000)
        // The delay is at least as long as the one that was requested.
        assert.isAbove(delayMs, 3_000)
      })
  )
})
