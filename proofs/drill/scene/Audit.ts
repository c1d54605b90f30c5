import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Ask } from "./Store.ts"
import { type Account, chainSteps, type Ledger } from "./Load.ts"

/** The state of all runs that were due by the end of a drill, read from the database. */
export interface Audit {
  readonly lost: ReadonlyArray<string>
  readonly due: number
  /** The number of delayed tasks that are not due yet. */
  readonly later: number
  readonly ended: number
  /** Runs that were due or were called, and have not succeeded. */
  readonly lostRuns: ReadonlyArray<string>
  /**
   * Two executions of one slot, delayed task or step; two successes of one execution; two records
   * of one write.
   */
  readonly twice: ReadonlyArray<string>
  /**
   * Executions whose result does not match their last attempt, or whose attempts are not recorded
   * exactly once.
   */
  readonly endedWithoutLease: ReadonlyArray<string>
  /** Repeated calls of the same execution. */
  readonly repeated: number
}

interface Execution {
  readonly id: string
  readonly task_id: string
  readonly kind: string
  readonly trigger: string
  readonly chain_run_id: string | null
  readonly step: string | null
  readonly status: string
  readonly scheduled_for: Date
}

const minuteMs = 60_000

const read = (account: Account, until: Date) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const workspace = account.workspaceId
    const tasks = yield* sql<{
      readonly id: string
      readonly kind: string
      readonly name: string
      readonly run_at: Date | null
      readonly created_at: Date
    }>`
      SELECT id, kind, name, run_at, created_at
      FROM tasks
      WHERE workspace_id = ${workspace}`
    const keys = yield* sql<{ readonly id: string }>`
      SELECT id
      FROM api_keys
      WHERE workspace_id = ${workspace}`
    const executions = yield* sql<Execution>`
      SELECT id, task_id, kind, trigger, chain_run_id, step, status, scheduled_for
      FROM executions
      WHERE workspace_id = ${workspace}`
    const unfinished = yield* sql<{ readonly id: string; readonly task_id: string }>`
      SELECT id, task_id
      FROM runs
      WHERE workspace_id = ${workspace}
        AND due_at > ${until}`
    const succeededTwice = yield* sql<{ readonly id: string }>`
      SELECT execution_id AS id
      FROM attempts
      WHERE workspace_id = ${workspace}
        AND status_code = 200
      GROUP BY execution_id
      HAVING count(*) > 1`
    const endedWithoutLease = yield* sql<{ readonly id: string }>`
      SELECT executions.id
      FROM executions
      JOIN attempts ON attempts.execution_id = executions.id
      WHERE executions.workspace_id = ${workspace}
        AND executions.status = 'succeeded'
      GROUP BY executions.id, attempts_count
      HAVING count(*) <> attempts_count
        OR max(number) FILTER (WHERE attempts.status_code = 200) IS DISTINCT FROM attempts_count`
    return { tasks, keys, executions, unfinished, succeededTwice, endedWithoutLease }
  })

export const audit = Effect.fnUntraced(function* (
  ask: Ask,
  account: Account,
  ledger: Ledger,
  calls: ReadonlyMap<string, number>,
  until: Date
) {
  const { executions, keys, succeededTwice, tasks, unfinished, endedWithoutLease } = yield* ask(
    read(account, until)
  )

  const known = new Set([...tasks, ...keys].map(({ id }) => id))
  const lost = [...ledger.delayed, ...ledger.keys].filter((id) => !known.has(id))

  const waiting = new Set(unfinished.map(({ task_id }) => task_id))
  const ends = (task: { readonly id: string; readonly run_at: Date | null }) =>
    task.run_at === null || task.run_at <= until || !waiting.has(task.id)

  /** The names of all due runs. Only one execution may have each name. */
  const due = new Set([
    ...tasks.filter(ends).flatMap((task) => dueOf(task, until)),
    ...[...ledger.runs].map((id) => `run ${id}`),
    ...[...ledger.chainRuns].flatMap((id) => chainSteps.map((step) => `run ${id} ${step}`))
  ])
  const nameOf = (execution: Execution) => nameIn(ledger, execution)
  const names = executions.map(nameOf)
  const chainRuns = new Set(executions.flatMap(({ chain_run_id }) => chain_run_id ?? []))
  const succeeded = executions.filter(({ status }) => status === "succeeded")
  const ended = new Set(succeeded.map(nameOf))
  const accounted = new Set([...succeeded, ...unfinished].map(({ id }) => id))

  const result: Audit = {
    lost,
    due: new Set([...due, ...ended]).size,
    later: tasks.filter((task) => !ends(task)).length,
    ended: ended.size,
    lostRuns: [
      ...[...due].filter((name) => !ended.has(name)),
      ...[...calls.keys()].filter((id) => !accounted.has(id)).map((id) => `called ${id}`)
    ],
    twice: [
      ...repeatsOf(names),
      ...surplus("runs by hand", names.filter(isManualRun).length, ledger.askedRuns),
      ...surplus("chain runs", chainRuns.size, ledger.askedChainRuns),
      ...repeatsOf(
        tasks.flatMap(({ kind, name }) => (kind === "delayed" ? [`named ${name}`] : []))
      ),
      ...succeededTwice.map(({ id }) => `succeeded ${id}`)
    ],
    endedWithoutLease: endedWithoutLease.map(({ id }) => id),
    repeated: [...calls.values()].reduce((sum, count) => sum + count - 1, 0)
  }
  return result
})

const dueOf = (
  task: { readonly id: string; readonly kind: string; readonly created_at: Date },
  until: Date
): ReadonlyArray<string> => {
  switch (task.kind) {
    case "delayed":
      return [`delayed ${task.id}`]
    case "cron": {
      const first = Math.floor(task.created_at.getTime() / minuteMs) + 1
      const last = Math.floor(until.getTime() / minuteMs)
      return Array.from({ length: last - first + 1 }, (_, n) =>
        slotName(task.id, (first + n) * minuteMs)
      )
    }
    default:
      return []
  }
}

const slotName = (taskId: string, slotMs: number) =>
  `slot ${taskId} ${new Date(slotMs).toISOString()}`

const nameIn = (ledger: Ledger, execution: Execution): string => {
  const { chain_run_id, id, kind, scheduled_for, step, task_id, trigger } = execution
  if (kind === "delayed") return `delayed ${task_id}`
  if (kind === "chain") return `run ${chain_run_id} ${step}`
  // A run that was lost with its node has the trigger `retry`, regardless of its original trigger.
  const byHand =
    trigger === "manual" || ledger.runs.has(id) || scheduled_for.getTime() % minuteMs > 0
  return byHand ? `run ${id}` : slotName(task_id, scheduled_for.getTime())
}

/** Returns whether the name is `run <id>`, without a step. */
const isManualRun = (name: string) => /^run \S+$/.test(name)

const surplus = (what: string, count: number, asked: number): ReadonlyArray<string> =>
  count > asked ? [`${count} ${what} where ${asked} were requested`] : []

const repeatsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return names.filter((name) => seen.size === seen.add(name).size)
}
