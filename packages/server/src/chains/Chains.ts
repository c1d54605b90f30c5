import {
  type Chain,
  chainDefaults,
  type ChainInput,
  type ChainStepInput,
  chainStepDefaults,
  type ChainUpdate,
  maxChains
} from "@scheduling/domain/chains/Chain"
import type { ChainRun, ChainRunDetail } from "@scheduling/domain/chains/ChainRun"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import { nextFire, Schedule } from "@scheduling/domain/cron/Schedule"
import { TimeZone } from "@scheduling/domain/cron/TimeZone"
import type { Execution } from "@scheduling/domain/executions/Execution"
import {
  type Conflict,
  NotFound,
  QuotaExceeded,
  type ValidationFailed,
  type Resource
} from "@scheduling/domain/shared/Errors"
import {
  ChainId,
  type ChainRunId,
  type ExecutionId,
  type WorkspaceId
} from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Executions } from "../executions/Executions.ts"
import { Ids } from "../platform/Ids.ts"
import { pageRequest, toPage } from "../platform/Pages.ts"
import { StoreClock } from "../platform/StoreClock.ts"
import { transactionOf } from "../platform/transaction.ts"
import { RunQueue } from "../runner/RunQueue.ts"
import { targetCheck } from "../tasks/targets.ts"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import { type ChainRow, ChainsRepo, toChain } from "./ChainsRepo.ts"
import { toChainRun, toChainRunDetail, toLastChainRun } from "./chainRun.ts"

interface ChainQuery extends PageQuery {
  readonly status?: TaskStatus
  readonly name?: string
}

export class Chains extends Context.Service<
  Chains,
  {
    readonly list: (workspaceId: WorkspaceId, query: ChainQuery) => Effect.Effect<Page<Chain>>
    readonly get: (workspaceId: WorkspaceId, id: ChainId) => Effect.Effect<Chain, NotFound>
    readonly create: (
      workspaceId: WorkspaceId,
      input: ChainInput
    ) => Effect.Effect<Chain, NotFound | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: WorkspaceId,
      id: ChainId,
      changes: ChainUpdate
    ) => Effect.Effect<Chain, NotFound | ValidationFailed>
    readonly remove: (workspaceId: WorkspaceId, id: ChainId) => Effect.Effect<void, NotFound>
    readonly run: (
      workspaceId: WorkspaceId,
      id: ChainId
    ) => Effect.Effect<ChainRun, NotFound | QuotaExceeded>
    readonly pause: (workspaceId: WorkspaceId, id: ChainId) => Effect.Effect<Chain, NotFound>
    readonly resume: (workspaceId: WorkspaceId, id: ChainId) => Effect.Effect<Chain, NotFound>
    readonly runs: (
      workspaceId: WorkspaceId,
      id: ChainId,
      query: PageQuery
    ) => Effect.Effect<Page<ChainRun>, NotFound>
    readonly getRun: (
      workspaceId: WorkspaceId,
      id: ChainId,
      runId: ChainRunId
    ) => Effect.Effect<ChainRunDetail, NotFound>
    readonly cancel: (
      workspaceId: WorkspaceId,
      id: ChainId,
      executionId: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
  }
>()("@scheduling/server/chains/Chains") {
  static readonly layer: Layer.Layer<
    Chains,
    never,
    ChainRunsRepo | ChainsRepo | Executions | Ids | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Chains,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const executions = yield* Executions
      const ids = yield* Ids
      const queue = yield* RunQueue
      const repo = yield* ChainsRepo
      const checkTargets = yield* targetCheck
      const runsRepo = yield* ChainRunsRepo

      const find = (workspaceId: WorkspaceId, id: ChainId) =>
        found(repo.find(workspaceId, id), "chain")
      const lock = (workspaceId: WorkspaceId, id: ChainId) =>
        found(repo.findForUpdate(workspaceId, id), "chain")

      const lastRunsOf = Effect.fnUntraced(function* (
        workspaceId: WorkspaceId,
        chains: ReadonlyArray<ChainRow>
      ) {
        if (chains.length === 0) return new Map<string, Chain["last_run"]>()
        const chainIds = chains.map((chain) => chain.id)
        const runs = yield* runsRepo.listLatest(workspaceId, chainIds)
        return new Map(runs.map((run) => [run.chain_id, toLastChainRun(run)]))
      })

      const withLastRun = Effect.fnUntraced(function* (chain: ChainRow) {
        const lastRuns = yield* lastRunsOf(chain.workspace_id, [chain])
        return toChain(chain, lastRuns.get(chain.id) ?? null)
      })

      /** Inside the transaction that locked the row. */
      const save = Effect.fnUntraced(function* (chain: ChainRow) {
        yield* repo.update(chain)
        if (chain.next_fire_at !== null) yield* queue.wake(chain.next_fire_at)
        return chain
      })

      return Chains.of({
        list: Effect.fn("Chains.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const rows = yield* repo.list(workspaceId, query, page)
          const lastRuns = yield* lastRunsOf(workspaceId, rows)
          return toPage(rows, page, (row) => toChain(row, lastRuns.get(row.id) ?? null))
        }),

        get: Effect.fn("Chains.get")(function* (workspaceId, id) {
          return yield* withLastRun(yield* find(workspaceId, id))
        }),

        create: Effect.fn("Chains.create")(function* (workspaceId, input) {
          yield* checkTargets(targetsOf(input.steps))
          if ((yield* repo.count(workspaceId)) >= maxChains) {
            return yield* new QuotaExceeded({ quota: "chains", limit: maxChains })
          }
          const createdAt = yield* now
          const defined = { ...chainDefaults, ...input, steps: input.steps.map(withDefaults) }
          const row: ChainRow = {
            ...defined,
            id: ChainId.make(yield* ids.next),
            workspace_id: workspaceId,
            status: "active",
            next_fire_at: nextFireOf(defined, createdAt),
            created_at: createdAt,
            updated_at: createdAt
          }
          yield* repo.insert(row)
          if (row.next_fire_at !== null) yield* queue.wake(row.next_fire_at)
          return toChain(row, null)
        }, transaction),

        update: Effect.fn("Chains.update")(function* (workspaceId, id, { steps, ...changes }) {
          const chain = yield* lock(workspaceId, id)
          if (steps !== undefined) yield* checkTargets(targetsOf(steps))
          if (steps === undefined && Object.keys(changes).length === 0) {
            return yield* withLastRun(chain)
          }
          const changed: ChainRow = {
            ...chain,
            ...changes,
            steps: steps === undefined ? chain.steps : steps.map(withDefaults),
            updated_at: yield* now
          }
          if (steps !== undefined) yield* repo.replaceSteps(changed)
          const firesOtherwise = firing.some((field) => changed[field] !== chain[field])
          if (!firesOtherwise || chain.status === "paused") {
            yield* repo.update(changed)
            return yield* withLastRun(changed)
          }
          const after = yield* queue.withdrawSlots({ workspace_id: workspaceId, task_id: id })
          return yield* withLastRun(
            yield* save({ ...changed, next_fire_at: nextFireOf(changed, after) })
          )
        }, transaction),

        remove: Effect.fn("Chains.remove")(function* (workspaceId, id) {
          if (!(yield* repo.remove(workspaceId, id))) {
            return yield* new NotFound({ resource: "chain" })
          }
          yield* queue.stop({ workspace_id: workspaceId, task_id: id })
          yield* repo.removeSteps(workspaceId, id)
        }, transaction),

        run: Effect.fn("Chains.run")(function* (workspaceId, id) {
          const chain = yield* lock(workspaceId, id)
          const run = yield* queue.enqueue({
            workspace_id: workspaceId,
            task_id: id,
            kind: "chain"
          })
          const head = { ...run, ...justQueued, chain_id: id, chain_run_id: run.id, step_index: 0 }
          return toChainRun({ id: run.id, chain_id: id, steps: [head] }, namesOf(chain))
        }, transaction),

        pause: Effect.fn("Chains.pause")(function* (workspaceId, id) {
          const chain = yield* lock(workspaceId, id)
          if (chain.status === "paused") return yield* withLastRun(chain)
          const paused = {
            ...chain,
            status: "paused",
            next_fire_at: null,
            updated_at: yield* now
          } as const
          yield* save(paused)
          yield* queue.stop({ workspace_id: workspaceId, task_id: id })
          return yield* withLastRun(paused)
        }, transaction),

        resume: Effect.fn("Chains.resume")(function* (workspaceId, id) {
          const chain = yield* lock(workspaceId, id)
          if (chain.status === "active") return yield* withLastRun(chain)
          const after = yield* queue.withdrawSlots({ workspace_id: workspaceId, task_id: id })
          const next_fire_at = nextFireOf(chain, after)
          const updated_at = yield* now
          const resumed = { ...chain, status: "active", next_fire_at, updated_at } as const
          return yield* withLastRun(yield* save(resumed))
        }, transaction),

        runs: Effect.fn("Chains.runs")(function* (workspaceId, id, query) {
          const names = namesOf(yield* find(workspaceId, id))
          const page = pageRequest(query)
          const runs = yield* runsRepo.list(workspaceId, id, page)
          return toPage(runs, page, (run) => toChainRun(run, names))
        }),

        getRun: Effect.fn("Chains.getRun")(function* (workspaceId, id, runId) {
          const names = namesOf(yield* find(workspaceId, id))
          const run = yield* found(runsRepo.find(workspaceId, id, runId), "chain_run")
          return toChainRunDetail(run, names)
        }),

        cancel: Effect.fn("Chains.cancel")(function* (workspaceId, id, executionId) {
          yield* find(workspaceId, id)
          return yield* executions.cancel({
            workspace_id: workspaceId,
            task_id: id,
            execution_id: executionId
          })
        })
      })
    })
  )
}

/** The fields that decide when a chain fires. */
const firing = ["schedule", "timezone", "dst_overlap"] as const

const nextFireOf = (chain: Pick<ChainRow, (typeof firing)[number]>, after: Date): Date | null =>
  chain.schedule === null
    ? null
    : new Date(
        nextFire(Schedule.make(chain.schedule), TimeZone.make(chain.timezone), after, {
          dst_overlap: chain.dst_overlap
        })
      )

const targetsOf = (steps: ReadonlyArray<ChainStepInput>) =>
  steps.map(({ url }, index) => ({ path: ["steps", index, "url"], url }))

const withDefaults = (step: ChainStepInput) => ({ ...chainStepDefaults, ...step })

const namesOf = (chain: ChainRow) => chain.steps.map((step) => step.name)

const justQueued = {
  started_at: null,
  finished_at: null,
  duration_ms: null,
  status_code: null,
  error: null,
  names: null
}

const found = <A>(row: Effect.Effect<Option.Option<A>>, resource: Resource) =>
  Effect.flatMap(row, (option) =>
    Option.isSome(option) ? Effect.succeed(option.value) : Effect.fail(new NotFound({ resource }))
  )
