import { executionError } from "@scheduling/domain/executions/ExecutionError"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomInt, randomUUID } from "node:crypto"
import { type Dice, diceFrom } from "../../../../../proofs/fuzz/Dice.ts"
import { firstPositionAt } from "../../../src/engine/laneTurns.ts"
import { registerNode } from "../../../src/engine/Nodes.ts"
import { Partitions } from "../../../src/engine/Partitions.ts"
import { type Settlement, makeSettlement } from "../../../src/engine/Run.ts"
import { admit } from "../../../src/engine/transitions/admit.ts"
import { cancelRun } from "../../../src/engine/transitions/cancel.ts"
import { claim } from "../../../src/engine/transitions/claim.ts"
import { enqueue } from "../../../src/engine/transitions/enqueue.ts"
import { finish } from "../../../src/engine/transitions/finish.ts"
import { fire } from "../../../src/engine/transitions/fire.ts"
import { handBack } from "../../../src/engine/transitions/handBack.ts"
import { handOver } from "../../../src/engine/transitions/handOver.ts"
import { moveToQueue } from "../../../src/engine/transitions/move.ts"
import { recover } from "../../../src/engine/transitions/recover.ts"
import { releaseBlocked } from "../../../src/engine/transitions/release.ts"
import { rerun } from "../../../src/engine/transitions/rerun.ts"
import { start } from "../../../src/engine/transitions/start.ts"
import { clearStoppedRuns, listStops, stopTask } from "../../../src/engine/transitions/stop.ts"
import { withdrawDelayed } from "../../../src/engine/transitions/withdraw.ts"
import { retryAfterDeadlock } from "../../../src/store/index.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { insertQueue } from "../queues/queues.ts"
import { RunQueueLayer } from "../runner/support/engine.ts"
import { insertTask, insertWorkspace, callStep } from "../runner/support/tasks.ts"
import {
  type ModelRunEnd,
  type ModelExecution,
  type ModelRun,
  type ModelTask,
  RunModel
} from "./RunModel.ts"

/** The seed for the random steps. Set it with `LIFE_SEED=7 npx vitest run lifeOfRuns`. */
const seed = process.env["LIFE_SEED"] ?? String(randomInt(2 ** 31))

interface World {
  readonly sql: SqlClient.SqlClient
  readonly workspace: AuthorizedWorkspaceId
  readonly model: RunModel
  readonly dice: Dice
  /**
   * False if other workers take steps at the same time, which makes the stored state unpredictable.
   */
  readonly isAlone: boolean
  /** The ids that the engine has returned. */
  readonly added: Set<string>
  readonly withdrawn: Set<string>
  readonly written: Set<string>
}

interface StoredExecution extends ModelExecution {
  readonly chain_run: string | null
  readonly step_index: number | null
}

/**
 * Reads the history first. A run that finishes between the two reads is then in neither result. No
 * run may be in both.
 */
const readStore = Effect.fnUntraced(function* ({ sql, workspace }: World) {
  const history = yield* sql<StoredExecution>`
    SELECT
      id, status, attempts_count AS attempts,
      ARRAY(
        SELECT number
        FROM earlier_attempts
        WHERE execution_id = executions.id
        ORDER BY number
      ) AS earlier,
      chain_run_id AS chain_run, step_index
    FROM executions
    WHERE workspace_id = ${workspace}
    ORDER BY id`
  const runs = yield* sql<ModelRun>`
    SELECT
      id, task_id AS task, state, attempt, lost, lease_owner AS holder, queue_id AS queue,
      slot_queue_id AS slot, cancel_requested AS stopping, slot_at IS NOT NULL AS fired,
      CASE WHEN chain_run_id IS NOT NULL THEN json_build_object(
        'chainRun', chain_run_id,
        'index', step_index,
        'afterFailure', after_failure IS TRUE,
        'isKnown', version_id IS NOT NULL
      ) END AS step
    FROM runs
    WHERE workspace_id = ${workspace}
    ORDER BY id`
  return { runs, history }
})

type Stored = Effect.Success<ReturnType<typeof readStore>>

/** Reads what the engine chose where the model permits several choices. */
const choicesOf = (model: RunModel, { history, runs }: Stored) => {
  const added = [
    ...runs.map(({ id, step }) => ({ id, chain_run: step?.chainRun, step_index: step?.index })),
    ...history
  ].filter(({ id }) => !model.runs.has(id) && !model.history.has(id))
  const stateOf = new Map(runs.map(({ id, state }) => [id, state]))
  return {
    added: () => added[0]?.id ?? assert.fail("no run was added"),
    nextStep: (chainRun: string) =>
      added.find((run) => run.chain_run === chainRun && run.step_index === 1)?.id ??
      assert.fail(`the chain run ${chainRun} has no second step`),
    /** Returns the chosen runs, and asserts how many there are. */
    chosen: (candidates: ReadonlyArray<ModelRun>, count: number) => {
      const chosen = candidates.filter(({ id, state }) => stateOf.get(id) !== state)
      assert.strictEqual(chosen.length, Math.min(count, candidates.length), "runs chosen")
      return chosen
    }
  }
}

type Choices = ReturnType<typeof choicesOf>

const byId = <A extends { readonly id: string }>(items: Iterable<A>) =>
  [...items].toSorted((a, b) => (a.id < b.id ? -1 : 1))

const toExecution = ({ attempts, earlier, id, status }: StoredExecution): ModelExecution => ({
  id,
  status,
  attempts,
  earlier
})

/** Replaces the model's state with the stored state, because other workers have changed it. */
const adopt = (model: RunModel, { history, runs }: Stored) => {
  const finished = new Map(history.map((row) => [row.id, toExecution(row)]))
  assert.strictEqual(finished.size, history.length, "a run has finished twice")
  assert.isEmpty(
    runs.filter(({ id }) => finished.has(id)),
    "finished runs in the queue"
  )
  model.runs.clear()
  for (const run of runs) model.set(run)
  for (const [id, execution] of finished) model.history.set(id, execution)
}

/** Compares the stored state with the model's state after a step. */
const compare = Effect.fnUntraced(function* (world: World, expect: (choices: Choices) => void) {
  const { model } = world
  const stored = yield* readStore(world)
  for (const [queue, most] of model.queues) {
    assert.isAtMost(stored.runs.filter(({ slot }) => slot === queue).length, most, "slots")
  }
  if (!world.isAlone) return adopt(model, stored)
  expect(choicesOf(model, stored))
  assert.deepStrictEqual(stored.runs, byId(model.runs.values()))
  assert.deepStrictEqual(stored.history.map(toExecution), byId(model.history.values()))
})

const taskOf = ({ model }: World, { task }: { readonly task: string }) =>
  model.tasks.get(task) ?? assert.fail("no such task")

const refOf = ({ workspace }: World, task_id: string) => ({ workspace_id: workspace, task_id })

const settlementBy = (
  world: World,
  ticket: ModelRun,
  end: Parameters<typeof makeSettlement>[2]
): Settlement => {
  const { kind, version } = taskOf(world, ticket)
  // The run may have steps now, although it had none when the ticket was issued.
  const { step } = world.model.heldBy(ticket) ?? ticket
  const position =
    step?.isKnown !== true || version === null
      ? null
      : {
          chain_run_id: step.chainRun,
          version_id: version,
          step_index: step.index,
          after_failure: step.afterFailure
        }
  const run = {
    ...refOf(world, ticket.task),
    id: ticket.id,
    attempt: ticket.attempt,
    kind,
    position
  }
  return makeSettlement(run, ticket.holder, { awaited: ticket.state === "awaiting", ...end })
}

const reason = executionError("internal", "as the test says")

const someTask = ({ dice, model }: World) => {
  const tasks = [...model.tasks.values()].filter(
    ({ isDeleted, kind }) => kind !== "delayed" && !isDeleted
  )
  return tasks[dice.below(tasks.length)] ?? assert.fail("no task")
}

const someRun = ({ dice, model }: World) => {
  const runs = [...model.runs.values()]
  return runs[dice.below(runs.length)]
}

/** Picks a node. Occasionally it is a dead node that does not know that it is dead. */
const someNode = ({ dice, model }: World) => {
  const living = [...model.alive]
  const nodes = dice.chance(0.1) ? model.tickets.flatMap(({ holder }) => holder ?? []) : living
  return nodes[dice.below(nodes.length)] ?? living[0] ?? assert.fail("no node")
}

/**
 * Picks a ticket whose holder still holds the run, or a ticket that must have no effect. The latter
 * usually belongs to an attempt that is still running although its node has lost the run.
 */
const someTicket = ({ dice, model }: World, isMeant: (ticket: ModelRun) => boolean) => {
  const tickets = model.tickets.filter(isMeant)
  const holds = (ticket: ModelRun) => model.heldBy(ticket) !== undefined
  const hasLost = (ticket: ModelRun) => {
    const run = model.runs.get(ticket.id)
    const goesOn = run?.state === "running" || run?.state === "awaiting"
    return goesOn && run.attempt === ticket.attempt && !holds(ticket)
  }
  const from = tickets.filter(dice.pick([holds, holds, holds, hasLost, hasLost, () => true]))
  return from[dice.below(from.length)]
}

const someQueue = ({ dice, model }: World) =>
  [...model.queues.keys()][dice.below(model.queues.size)] ?? assert.fail("no queue")

/** Locks the task as the service does, so that it cannot be stopped in the meantime. */
const enqueueOne = Effect.fnUntraced(function* (world: World) {
  const { dice, model, sql, workspace } = world
  const task = someTask(world)
  const isRerun = dice.chance(0.2)
  const run = {
    ...refOf(world, task.id),
    kind: task.kind,
    trigger: "manual",
    run_at: null
  } as const
  yield* sql.withTransaction(
    Effect.gen(function* () {
      const locked = yield* sql`SELECT FROM tasks WHERE id = ${task.id} FOR UPDATE`
      if (locked.length === 0) return
      const ended = [{ id: randomUUID(), task_id: task.id, scheduled_for: new Date() }]
      const [inserted] = isRerun ? yield* rerun(sql, workspace, ended) : [yield* enqueue(sql, run)]
      if (inserted != null) world.added.add(inserted.id)
    })
  )
  yield* compare(world, ({ added }) => model.add(added(), task))
})

const addTask = Effect.fnUntraced(function* (
  { model, sql, workspace }: World,
  fields: Omit<ModelTask, "id" | "version" | "isDeleted">
) {
  const { kind, overlap, queue } = fields
  const steps = [callStep("one"), callStep("two", { run_if: "always" })]
  const id = yield* insertTask(workspace, {
    kind,
    overlap,
    steps: kind === "chain" ? steps : null,
    status: kind === "delayed" ? "pending" : "active"
  })
  const [row] = yield* sql<{ readonly version: string | null }>`
    UPDATE tasks
    SET queue_id = ${queue}::uuid
    WHERE id = ${id}
    RETURNING version_id AS version`
  const task: ModelTask = { ...fields, id, version: row?.version ?? null, isDeleted: false }
  model.tasks.set(id, task)
  return task
})

const scheduleOne = Effect.fnUntraced(function* (world: World) {
  const { dice, model, sql } = world
  const queue = dice.chance(0.5) ? someQueue(world) : null
  const task = yield* addTask(world, { kind: "delayed", overlap: "allow", queue })
  const ref = refOf(world, task.id)
  const run = yield* enqueue(sql, { ...ref, kind: "delayed", trigger: "schedule", run_at: null })
  if (run !== null) world.added.add(run.id)
  yield* compare(world, ({ added }) => model.add(added(), task))
})

const fireOne = Effect.fnUntraced(function* (world: World) {
  const { model, sql } = world
  const task = someTask(world)
  const node = someNode(world)
  yield* sql`
    UPDATE tasks
    SET next_fire_at = greatest(now(), fired_until + interval '1 millisecond')
    WHERE id = ${task.id}
      AND status = 'active'`
  yield* fire(sql, { node, limit: 9, lookAheadMs: 1_000, turns: null, leases: () => true })
  yield* compare(world, ({ added }) => model.fire(added(), task, node))
})

const claimSome = Effect.fnUntraced(function* (
  world: World,
  node = someNode(world),
  limit = 1 + world.dice.below(4)
) {
  const { model, sql } = world
  yield* claim(sql, { node, limit, lookAheadMs: 1_000, from: firstPositionAt(0), turns: null })
  const room = model.alive.has(node) ? limit : 0
  yield* compare(world, ({ chosen }) => model.take(chosen(model.in("ready"), room), node))
})

const admitSome = Effect.fnUntraced(function* (
  world: World,
  queue = someQueue(world),
  node = someNode(world)
) {
  const { dice, model, sql } = world
  const limit = dice.below(3)
  const { leased } = yield* admit(sql, [queue], { node, limit, except: [] })
  const ids = new Set(leased.map(({ id }) => id))
  yield* compare(world, ({ chosen }) => {
    const admitted = chosen(model.in("parked", queue), model.freeSlots(queue))
    const room = model.alive.has(node) ? limit : 0
    assert.strictEqual(ids.size, Math.min(room, admitted.length), "leased when admitted")
    model.admit(admitted, (id) => ids.has(id), node)
  })
})

const startOne = Effect.fnUntraced(function* (
  world: World,
  ticket = someTicket(
    world,
    (one) => one.state === "leased" && world.model.heldBy(one)?.state !== "running"
  )
) {
  if (ticket === undefined || ticket.holder === null) return
  const { model, sql } = world
  const due = { share: 0, target: null, due_ms: Date.now() }
  const leased = { id: ticket.id, workspace_id: world.workspace, attempt: ticket.attempt, ...due }
  const { refused } = yield* start(sql, ticket.holder, [leased])
  yield* compare(world, () => {
    const status = model.start(ticket)
    assert.deepStrictEqual(
      refused.map((run) => run.status),
      status === undefined ? [] : [status]
    )
  })
  for (const { error, run, status } of refused) {
    const settlement = makeSettlement(run, ticket.holder, { status, error })
    yield* finishWith(world, ticket, settlement, { status, started: false })
  }
})

/**
 * Finishes runs. If this releases a slot, the next run in the queue starts in the same transaction.
 */
const finishWith = Effect.fnUntraced(function* (
  world: World,
  ticket: ModelRun,
  settlement: Settlement,
  end: ModelRunEnd | "retry"
) {
  const { dice, model, sql } = world
  const node = ticket.holder ?? someNode(world)
  const handsOver = dice.chance(0.5)
  const { ids } = yield* sql.withTransaction(
    Effect.tap(finish(sql, [settlement]), ({ slots }) =>
      handsOver && slots.length > 0 ? handOver(sql, node, slots) : Effect.void
    )
  )
  for (const id of end === "retry" ? [] : ids) {
    assert.isFalse(world.written.has(id), "the same run finished twice")
    world.written.add(id)
  }
  yield* compare(world, ({ chosen, nextStep }) => {
    const run = model.heldBy(ticket)
    assert.deepStrictEqual(ids, run === undefined ? [] : [run.id], "results written")
    if (run === undefined) return
    if (end === "retry") model.retry(run)
    else model.finish([run], () => end, nextStep)
    if (!handsOver || run.slot === null || !model.alive.has(node)) return
    const next = chosen(model.in("parked", run.slot), Math.min(1, model.freeSlots(run.slot)))
    model.take(
      next.map((taken) => ({ ...taken, slot: taken.queue })),
      node
    )
  })
})

/** A node can finish only runs that it has started. */
const canFinish = (world: World) => (ticket: ModelRun) =>
  ["running", "awaiting"].includes(ticket.state) && world.model.heldBy(ticket)?.state !== "leased"

const finishOne = Effect.fnUntraced(function* (
  world: World,
  ticket = someTicket(world, canFinish(world)),
  outcome: "succeeded" | "failed" | "retry" = world.dice.pick(["succeeded", "failed", "retry"])
) {
  if (ticket === undefined) return
  const settlement = settlementBy(world, ticket, {
    status: outcome === "retry" ? null : outcome,
    retry_delay_ms: 0,
    started: true,
    finished_ms: Date.now(),
    error: outcome === "succeeded" ? null : reason
  })
  const end = outcome === "retry" ? outcome : { status: outcome, started: true }
  yield* finishWith(world, ticket, settlement, end)
})

/**
 * Fails a run that no worker has claimed in time. If a worker has claimed the run and its target
 * must report, nothing may change, although no node holds such a run either.
 */
const giveUpOne = Effect.fnUntraced(function* (world: World) {
  const { dice, model } = world
  const wasReady = ({ state }: ModelRun) => state === "ready"
  const late = model
    .in("awaiting")
    .flatMap(({ attempt, id }) =>
      model.tickets.filter((one) => wasReady(one) && one.id === id && one.attempt === attempt)
    )
  const ticket = late[dice.below(late.length)] ?? someTicket(world, wasReady)
  if (ticket === undefined) return
  const end = { status: "failed", started: false } as const
  yield* finishWith(world, ticket, settlementBy(world, ticket, { ...end, error: reason }), end)
})

const awaitOne = Effect.fnUntraced(function* (world: World) {
  const { model, sql } = world
  const ticket = someTicket(world, (one) => one.state === "running")
  if (ticket === undefined) return
  const completes_by_ms = Date.now() + 60_000
  const end = { status: null, error: null, completes_by_ms }
  const { ids } = yield* finish(sql, [settlementBy(world, ticket, end)])
  yield* compare(world, () => {
    assert.strictEqual(model.awaitCompletion(ticket), ids.length === 1)
  })
})

const handBackOne = Effect.fnUntraced(function* (world: World) {
  const ticket = someTicket(world, ({ holder }) => holder !== null)
  const holder = ticket?.holder
  if (ticket === undefined || holder == null) return
  yield* handBack(world.sql, holder, [ticket.id])
  yield* compare(world, () => world.model.handBack(holder, ticket.id))
})

/** Declares a node dead and starts another one. The dead node's runs are recovered later. */
const killNode = Effect.fnUntraced(function* (world: World) {
  const { model, sql } = world
  const node = [...model.alive][world.dice.below(model.alive.size)] ?? assert.fail("no node")
  yield* sql`
    UPDATE nodes
    SET died_at = now()
    WHERE id = ${node}`
  model.alive.delete(node)
  model.alive.add(yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 }))
})

const recoverDead = Effect.fnUntraced(function* (world: World) {
  yield* recover(world.sql, "dead", "gone")
  yield* compare(world, ({ nextStep }) => world.model.recover(nextStep))
})

const cancelOne = Effect.fnUntraced(function* (world: World) {
  const { model, sql } = world
  const run = someRun(world)
  if (run === undefined) return
  const { workspace_id } = refOf(world, run.task)
  yield* sql.withTransaction(cancelRun(sql, workspace_id, run.id))
  yield* compare(world, ({ nextStep }) => model.cancel([run], nextStep))
})

/** Pauses and resumes a task, or deletes it and creates a similar one. */
const stopOne = Effect.fnUntraced(function* (world: World) {
  const { dice, model, sql } = world
  const task = someTask(world)
  const isDeleted = dice.chance(0.5)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* isDeleted
        ? sql`DELETE FROM tasks WHERE id = ${task.id}`
        : sql`UPDATE tasks SET status = 'paused', next_fire_at = NULL WHERE id = ${task.id}`
      yield* clearStoppedRuns(sql, yield* stopTask(sql, refOf(world, task.id)))
    })
  )
  yield* compare(world, ({ nextStep }) => model.cancel(model.of(task.id), nextStep))
  if (isDeleted) {
    yield* addTask(world, task)
    model.tasks.set(task.id, { ...task, isDeleted: true })
  } else {
    yield* sql`UPDATE tasks SET status = 'active' WHERE id = ${task.id}`
  }
})

const withdrawOne = Effect.fnUntraced(function* (world: World) {
  const { dice, model, sql } = world
  const delayed = [...model.runs.values()].filter((run) => taskOf(world, run).kind === "delayed")
  const run = delayed[dice.below(delayed.length)]
  if (run === undefined) return
  const withdrawn = yield* withdrawDelayed(sql, refOf(world, run.task))
  for (const id of withdrawn) world.withdrawn.add(id)
  yield* compare(world, () => model.withdraw(run.task))
})

const moveOne = Effect.fnUntraced(function* (world: World) {
  const { dice, model, sql } = world
  const task = someTask(world)
  const queue = dice.chance(0.3) ? null : someQueue(world)
  yield* sql.withTransaction(
    Effect.andThen(
      sql`UPDATE tasks SET queue_id = ${queue}::uuid WHERE id = ${task.id}`,
      moveToQueue(sql, refOf(world, task.id), queue)
    )
  )
  yield* compare(world, () => model.move(task, queue))
})

const releaseOne = Effect.fnUntraced(function* (world: World, task = someTask(world).id) {
  yield* releaseBlocked(world.sql, { tasks: world.sql`SELECT ${task}::uuid AS task_id` })
  yield* compare(world, () => world.model.release(task))
})

type Step = (
  world: World
) => Effect.Effect<
  void,
  SqlError.SqlError,
  Effect.Services<ReturnType<typeof recover>> | SqlClient.SqlClient
>

/** The possible steps, with their relative frequencies. */
const steps: Readonly<Record<string, readonly [Step, number]>> = {
  enqueue: [enqueueOne, 2],
  schedule: [scheduleOne, 1],
  fire: [fireOne, 3],
  claim: [claimSome, 3],
  admit: [admitSome, 3],
  start: [startOne, 4],
  finish: [finishOne, 4],
  "give up": [giveUpOne, 1],
  "await completion": [awaitOne, 3],
  "hand back": [handBackOne, 2],
  "kill a node": [killNode, 1],
  recover: [recoverDead, 1],
  cancel: [cancelOne, 1],
  stop: [stopOne, 0.7],
  withdraw: [withdrawOne, 1],
  move: [moveOne, 1],
  release: [releaseOne, 1]
}

const stepsByWeight = Object.entries(steps).flatMap(([name, [take, weight]]) =>
  Array.from({ length: weight * 10 }, () => ({ name, take }))
)

const takeSteps = Effect.fnUntraced(function* (world: World, count: number) {
  const taken: Array<string> = []
  for (let nth = 1; nth <= count; nth++) {
    const step = stepsByWeight[world.dice.below(stepsByWeight.length)]
    if (step === undefined) continue
    taken.push(step.name)
    yield* retryAfterDeadlock(step.take(world)).pipe(
      Effect.tapCause(() =>
        Effect.logError(`LIFE_SEED=${seed}, step ${nth}: ${taken.slice(-5).join(", ")}`)
      )
    )
  }
})

const makeWorld = Effect.fnUntraced(function* (dice: Dice) {
  const sql = yield* SqlClient.SqlClient
  yield* (yield* Partitions).maintain(30)
  const workspace = yield* insertWorkspace
  const node = registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
  const narrow = yield* insertQueue(workspace, { max_concurrency: 1 })
  const wide = yield* insertQueue(workspace, { max_concurrency: 3 })
  const queues = new Map([
    [narrow, 1],
    [wide, 3]
  ])
  const model = new RunModel(queues, [yield* node, yield* node, yield* node])
  const ids = { added: new Set<string>(), withdrawn: new Set<string>(), written: new Set<string>() }
  const world: World = { sql, workspace, model, dice, isAlone: true, ...ids }
  yield* addTask(world, { kind: "cron", overlap: "allow", queue: wide })
  yield* addTask(world, { kind: "cron", overlap: "skip", queue: narrow })
  yield* addTask(world, { kind: "cron", overlap: "queue", queue: null })
  yield* addTask(world, { kind: "chain", overlap: "queue", queue: wide })
  yield* addTask(world, { kind: "chain", overlap: "skip", queue: null })
  return world
})

/** Takes steps that add no runs, until all runs have finished. */
const drain = Effect.fnUntraced(function* (world: World) {
  const { model } = world
  yield* recoverDead(world)
  for (let rounds = 0; model.runs.size > 0; rounds++) {
    assert.isBelow(rounds, 200, "the runs never finish")
    const [node] = model.alive
    for (const queue of model.queues.keys()) yield* admitSome(world, queue, node)
    yield* claimSome(world, node, 100)
    for (const run of model.in("leased")) yield* startOne(world, run)
    for (const run of [...model.in("running"), ...model.in("awaiting")]) {
      yield* finishOne(world, run, "succeeded")
    }
    if (model.in("blocked").length === model.runs.size) {
      for (const { task } of model.in("blocked")) yield* releaseOne(world, task)
    }
  }
  for (const id of world.added) {
    assert.isTrue(model.history.has(id) || world.withdrawn.has(id), `the run ${id} is lost`)
  }
})

/** Stops the runs that were locked when their task was stopped. */
const clearStops = Effect.fnUntraced(function* (world: World) {
  const { sql, workspace } = world
  const stops = (yield* listStops(sql)).filter((stop) => stop.workspace_id === workspace)
  for (const stop of stops) yield* sql.withTransaction(clearStoppedRuns(sql, stop))
  yield* compare({ ...world, isAlone: false }, () => {})
})

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), { excludeTestServices: true })(
  "the life of runs",
  (it) => {
    it.effect.each([1, 2, 3, 4])("is as the model says after each step, part %i", (part) =>
      Effect.gen(function* () {
        const world = yield* makeWorld(diceFrom(`${seed}/${part}`))
        yield* takeSteps(world, 150)
        yield* drain(world)
      })
    )

    // The embedded store has only one session, so nothing happens concurrently.
    it.effect.runIf(onPostgres)(
      "finishes once and never uses too many slots while nodes act concurrently",
      () =>
        Effect.gen(function* () {
          const world = yield* makeWorld(diceFrom(seed))
          const actors = [1, 2, 3, 4, 5].map((nth) => world.dice.fork(nth))
          yield* Effect.forEach(
            actors,
            (dice) => takeSteps({ ...world, isAlone: false, dice }, 100),
            { concurrency: "unbounded", discard: true }
          )
          yield* clearStops(world)
          yield* drain(world)
        })
    )
  }
)
