import { randomUUID } from "node:crypto"
import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { registerNode } from "../../../src/engine/Nodes.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { type SettleableRun, makeSettlement, type TaskOfRun } from "../../../src/engine/Run.ts"
import type { RunState, Transition } from "../../../src/engine/RunState.ts"
import { firstPositionAt } from "../../../src/engine/laneTurns.ts"
import { admit } from "../../../src/engine/transitions/admit.ts"
import { awaitCompletion } from "../../../src/engine/transitions/awaitCompletion.ts"
import { cancelRun } from "../../../src/engine/transitions/cancel.ts"
import { claim } from "../../../src/engine/transitions/claim.ts"
import { enqueue } from "../../../src/engine/transitions/enqueue.ts"
import { finish } from "../../../src/engine/transitions/finish.ts"
import { fire } from "../../../src/engine/transitions/fire.ts"
import { handBack } from "../../../src/engine/transitions/handBack.ts"
import { handOver } from "../../../src/engine/transitions/handOver.ts"
import { parkStopped } from "../../../src/engine/transitions/parkStopped.ts"
import { leaveQueue } from "../../../src/engine/transitions/leaveQueue.ts"
import { moveToWorker, moveToQueue } from "../../../src/engine/transitions/move.ts"
import { recover } from "../../../src/engine/transitions/recover.ts"
import { releaseBlocked } from "../../../src/engine/transitions/release.ts"
import { backfill } from "../../../src/engine/transitions/backfill.ts"
import { rerun } from "../../../src/engine/transitions/rerun.ts"
import { resume } from "../../../src/engine/transitions/resume.ts"
import { start } from "../../../src/engine/transitions/start.ts"
import { clearStoppedRuns, stopTask, stopWorkspace } from "../../../src/engine/transitions/stop.ts"
import { withdrawDelayed, withdrawSlots } from "../../../src/engine/transitions/withdraw.ts"
import { insertQueue, setQueue } from "../queues/queues.ts"
import { insertTask, insertWorkspace, callStep } from "../runner/support/tasks.ts"
import { inState } from "./inState.ts"

/** A task, a node that can hold its runs, and optionally a queue. */
export interface Fixture {
  readonly task: TaskOfRun
  readonly node: number
  readonly queue: string | null
}

export interface RunRow {
  readonly id: string
  readonly state: RunState
  readonly attempt: number
  readonly lease_owner: number | null
  readonly row: string
}

export const createFixture = Effect.fnUntraced(function* (
  inQueue: boolean,
  fields: Parameters<typeof insertTask>[1] = {}
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM runs`
  const workspace_id = yield* insertWorkspace
  const task_id = yield* insertTask(workspace_id, { overlap: "queue", ...fields })
  const queue = inQueue ? yield* insertQueue(workspace_id, { max_concurrency: 9 }) : null
  if (queue !== null) yield* setQueue([task_id], queue)
  const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
  const fixture: Fixture = { task: { workspace_id, task_id }, node, queue }
  return fixture
})

/** Inserts a run in this state that was due a minute ago. `columns` override its values. */
export const insertRun = Effect.fnUntraced(function* (
  { node, queue, task }: Fixture,
  state: RunState,
  columns: Readonly<Record<string, unknown>> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const now = Date.now()
  const at = new Date(now - 60_000)
  const id = makeRunId(at.getTime(), now)
  const run = { ...task, id, kind: "cron", trigger: "manual", scheduled_for: at, due_at: at }
  yield* sql`INSERT INTO runs ${sql.insert({ ...run, ...inState(state, { at, node, queue }), ...columns })}`
  return id
})

/** Reads the rows of the task's runs. */
export const runsOf = ({ task }: Fixture) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<RunRow>`
      SELECT id, state, attempt, lease_owner, to_jsonb(runs)::text AS row
      FROM runs
      WHERE task_id = ${task.task_id}
      ORDER BY id`
  )

/** A case that causes a transition, either for an existing run or by adding a run. */
export interface TransitionCase {
  /**
   * The columns that the run needs for this case to lead to one of the transition's target states.
   */
  readonly columns?: Readonly<Record<string, unknown>>
  readonly task?: Parameters<typeof insertTask>[1]
  readonly apply: (
    sql: SqlClient.SqlClient,
    fixture: Fixture,
    run: RunRow
  ) => Effect.Effect<
    unknown,
    unknown,
    Effect.Services<ReturnType<typeof recover>> | SqlClient.SqlClient
  >
}

const settled = ({ task }: Fixture, { attempt, id }: RunRow): SettleableRun => ({
  ...task,
  id,
  attempt,
  kind: "cron",
  position: null
})

const leased = ({ task }: Fixture, { attempt, id }: RunRow) => ({
  id,
  workspace_id: task.workspace_id,
  attempt,
  share: 0,
  target: null,
  due_ms: Date.now()
})

const claimDue: TransitionCase["apply"] = (sql, { node }) =>
  claim(sql, { node, limit: 9, lookAheadMs: 1_000, from: firstPositionAt(0), turns: null })

/** Applies the transition while the workspace is stopped. */
const whileStopped =
  (apply: TransitionCase["apply"]): TransitionCase["apply"] =>
  (sql, fixture, run) =>
    Effect.gen(function* () {
      yield* stopWorkspaceOf(fixture)
      yield* apply(sql, fixture, run)
    })

export const stopWorkspaceOf = ({ task }: Fixture) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO stopped_workspaces (workspace_id, stopped_at)
      VALUES (${task.workspace_id}, now())`
  )

const startRun: TransitionCase["apply"] = (sql, fixture, run) =>
  start(sql, fixture.node, [leased(fixture, run)])

const fireDue =
  (leases: boolean): TransitionCase["apply"] =>
  (sql, { node }) =>
    fire(sql, { node, limit: 9, lookAheadMs: 1_000, turns: null, leases: () => leases })

const admitUpTo =
  (limit: number): TransitionCase["apply"] =>
  (sql, { node, queue }) =>
    queue === null ? Effect.void : admit(sql, [queue], { node, limit, except: [] })

/** Settles the run on behalf of its holder, because only the holder is allowed to settle it. */
const settleAs =
  (status: "succeeded" | null): TransitionCase["apply"] =>
  (sql, fixture, run) =>
    finish(sql, [
      makeSettlement(settled(fixture, run), run.lease_owner, {
        status,
        awaited: run.state === "awaiting",
        retry_delay_ms: 0,
        started: true,
        finished_ms: Date.now(),
        error: status === null ? executionError("internal", "as the test says") : null
      })
    ])

/** Finishes a chain's first step, so that the second one follows. */
const finishStep =
  (state: "running" | "awaiting"): TransitionCase["apply"] =>
  (sql, fixture) =>
    Effect.gen(function* () {
      const [task] = yield* sql<{ readonly version_id: string }>`
        SELECT version_id
        FROM tasks
        WHERE id = ${fixture.task.task_id}`
      const version_id = task?.version_id ?? ""
      const chain_run_id = yield* insertRun(fixture, state, {
        kind: "chain",
        version_id,
        step_index: 0
      })
      yield* sql`UPDATE runs SET chain_run_id = id WHERE id = ${chain_run_id}`
      const position = { chain_run_id, version_id, step_index: 0, after_failure: false }
      const run = {
        ...fixture.task,
        id: chain_run_id,
        attempt: 1,
        kind: "chain" as const,
        position
      }
      yield* finish(sql, [
        makeSettlement(run, state === "running" ? fixture.node : null, {
          status: "succeeded",
          awaited: state === "awaiting",
          started: true,
          finished_ms: Date.now(),
          error: null
        })
      ])
    })

const chain = { kind: "chain", steps: [callStep("one"), callStep("two")] } as const

const stopAll =
  (of: "task" | "workspace"): TransitionCase["apply"] =>
  (sql, { task }) =>
    Effect.gen(function* () {
      const stop = yield* of === "task"
        ? stopTask(sql, task)
        : stopWorkspace(sql, task.workspace_id)
      yield* clearStoppedRuns(sql, stop)
    }).pipe(sql.withTransaction)

/** The cases that cause each transition. Together they cover the table in `RunState.ts`. */
export const transitionCases: Readonly<Record<Transition, ReadonlyArray<TransitionCase>>> = {
  enqueue: [
    {
      apply: (sql, { task }) =>
        enqueue(sql, { ...task, kind: "cron", trigger: "manual", run_at: null })
    }
  ],
  rerun: [
    {
      apply: (sql, { task: { task_id, workspace_id } }) =>
        rerun(sql, workspace_id, [{ id: randomUUID(), task_id, scheduled_for: new Date() }])
    }
  ],
  backfill: [
    {
      apply: (sql, { task: { task_id, workspace_id } }) =>
        backfill(sql, workspace_id, task_id, [new Date()])
    },
    {
      apply: Effect.fnUntraced(function* (sql, { task: { task_id, workspace_id } }) {
        yield* sql`
          UPDATE tasks
          SET overlap = 'allow'
          WHERE id = ${task_id}`
        yield* backfill(sql, workspace_id, task_id, [new Date()])
      })
    }
  ],
  fire: [
    { task: { fires_in: 0 }, apply: fireDue(true) },
    { task: { fires_in: 0 }, apply: fireDue(false) }
  ],
  admit: [{ apply: admitUpTo(9) }, { apply: admitUpTo(0) }],
  handOver: [{}, { trigger: "schedule" }].map((columns) => ({
    columns,
    apply: (sql, { node, queue }) =>
      queue === null ? Effect.void : handOver(sql, node, [{ id: randomUUID(), queue_id: queue }])
  })),
  leaveQueue: [
    {
      apply: (sql, { queue }) =>
        queue === null
          ? Effect.void
          : Effect.andThen(sql`DELETE FROM queues WHERE id = ${queue}`, leaveQueue(sql, [queue]))
    }
  ],
  release: [
    {
      apply: (sql, { task }) =>
        releaseBlocked(sql, { tasks: sql`SELECT ${task.task_id}::uuid AS task_id` })
    }
  ],
  claim: [
    { apply: claimDue },
    { columns: { trigger: "schedule" }, apply: claimDue },
    { apply: whileStopped(claimDue) }
  ],
  parkStopped: [
    {
      columns: { run_on: JSON.stringify({ labels: ["moon"] }), worker_wait_seconds: 60 },
      apply: whileStopped((sql) => parkStopped(sql))
    }
  ],
  resume: [{ apply: (sql) => resume(sql) }],
  start: [
    { apply: startRun },
    { apply: whileStopped(startRun) },
    {
      columns: { trigger: "schedule" },
      apply: (sql, fixture, run) =>
        Effect.gen(function* () {
          const other = yield* insertRun(fixture, "running")
          yield* start(sql, fixture.node, [leased(fixture, run)])
          yield* sql`DELETE FROM runs WHERE id = ${other}`
        })
    }
  ],
  awaitCompletion: [
    {
      apply: (sql, fixture, run) =>
        awaitCompletion(sql, [
          makeSettlement(settled(fixture, run), run.lease_owner, {
            status: null,
            error: null,
            completes_by_ms: Date.now() + 60_000
          })
        ])
    }
  ],
  finish: [
    { apply: settleAs("succeeded") },
    { apply: settleAs(null) },
    { task: chain, apply: finishStep("running") },
    { task: chain, apply: finishStep("awaiting") }
  ],
  handBack: [{ apply: (sql, { node }, { id }) => handBack(sql, node, [id]) }],
  recover: [{ lost: 0 }, { lost: 4 }].map((columns) => ({
    columns,
    apply: (sql, { node }) => recover(sql, node, "gone")
  })),
  cancel: [
    {
      apply: (sql, { task }, { id }) => sql.withTransaction(cancelRun(sql, task.workspace_id, id))
    }
  ],
  stop: [{ apply: stopAll("task") }, { apply: stopAll("workspace") }],
  withdraw: [
    { columns: { kind: "delayed" }, apply: (sql, { task }) => withdrawDelayed(sql, task) },
    {
      columns: { slot_at: new Date(Date.now() + 3_600_000) },
      apply: (sql, { task }) => withdrawSlots(sql, task)
    }
  ],
  move: [
    { apply: (sql, { task }) => moveToQueue(sql, task, null) },
    {
      apply: (sql, { task }) =>
        Effect.flatMap(insertQueue(task.workspace_id, { max_concurrency: 1 }), (other) =>
          moveToQueue(sql, task, other)
        )
    },
    {
      apply: (sql, { task }) =>
        moveToWorker(sql, task, { run_on: { labels: ["moon"] }, worker_wait_seconds: 60 })
    }
  ]
}
