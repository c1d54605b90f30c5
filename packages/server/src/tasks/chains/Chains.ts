import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type Chain,
  type ChainDefinition,
  chainDefaults,
  type ChainInput,
  type ChainUpdate
} from "@scheduling/domain/chains/Chain"
import type { ChainRun, ChainRunDetail } from "@scheduling/domain/chains/ChainRun"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { Execution } from "@scheduling/domain/executions/Execution"
import {
  type Conflict,
  NotFound,
  type QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { ChainId, type ChainRunId, type ExecutionId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { runOn } from "@scheduling/domain/workers/RunOn"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { Executions } from "../executions/Executions.ts"
import {
  againIfOvertaken,
  Ids,
  isDefinedAs,
  orNotFound,
  upsertByKey,
  type Upserted
} from "../../core/index.ts"
import { Limits } from "../../plans/index.ts"
import type { Outbox } from "../../events/index.ts"
import { pageRequest, StoreClock, toPage, transactionOf } from "../../store/index.ts"
import { RunQueue } from "../../engine/index.ts"
import type { TaskQuery } from "../listing.ts"
import { callbackTargets, withEndingOptions } from "../endingOptions.ts"
import { withFiringOptions } from "../firingOptions.ts"
import { showing } from "../CalendarsOfTasksRepo.ts"
import { schedulesOf } from "../Schedules.ts"
import { runningNow } from "../runningNow.ts"
import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import { type ChainRow, ChainsRepo, toChain } from "./ChainsRepo.ts"
import { targetsOf, withDefaults } from "./givenSteps.ts"
import { justQueued, toChainRun, toChainRunDetail, toLastChainRun } from "./chainRun.ts"

type ChainQuery = TaskQuery<TaskStatus>

export class Chains extends Context.Service<
  Chains,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: ChainQuery
    ) => Effect.Effect<Page<Chain>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId
    ) => Effect.Effect<Chain, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: ChainInput
    ) => Effect.Effect<Chain, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    /**
     * Gives the chain with the key this definition, or makes it. Changes nothing if it is already
     * defined so.
     */
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      key: string,
      definition: ChainDefinition
    ) => Effect.Effect<Upserted<Chain>, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId,
      changes: ChainUpdate
    ) => Effect.Effect<Chain, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId
    ) => Effect.Effect<void, NotFound>
    readonly run: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId
    ) => Effect.Effect<ChainRun, NotFound | QuotaExceeded>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId
    ) => Effect.Effect<Chain, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId
    ) => Effect.Effect<Chain, NotFound | QuotaExceeded>
    readonly runs: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId,
      query: PageQuery
    ) => Effect.Effect<Page<ChainRun>, NotFound>
    readonly getRun: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId,
      runId: ChainRunId
    ) => Effect.Effect<ChainRunDetail, NotFound>
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      id: ChainId,
      executionId: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
  }
>()("@scheduling/server/tasks/chains/Chains") {
  static readonly layer: Layer.Layer<
    Chains,
    never,
    ChainRunsRepo | ChainsRepo | Executions | Ids | Limits | Outbox | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Chains,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const executions = yield* Executions
      const ids = yield* Ids
      const limits = yield* Limits
      const queue = yield* RunQueue
      const runNow = yield* runningNow
      const repo = yield* ChainsRepo
      const checkTargets = yield* targetCheck
      const runsRepo = yield* ChainRunsRepo

      const schedules = yield* schedulesOf(repo)
      const { shown, shownPage } = showing(sql)

      const find = (workspaceId: AuthorizedWorkspaceId, id: ChainId) =>
        found(repo.find(workspaceId, id))
      const lock = (workspaceId: AuthorizedWorkspaceId, id: ChainId) =>
        found(repo.findForUpdate(workspaceId, id))

      const namesOf = (workspaceId: AuthorizedWorkspaceId, id: ChainId) =>
        found(repo.findStepNames(workspaceId, id))

      const lastRunsOf = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        chains: ReadonlyArray<ChainRow>
      ) {
        if (chains.length === 0) return new Map<string, Chain["last_run"]>()
        const chainIds = chains.map((chain) => chain.id)
        const runs = yield* runsRepo.listLatest(workspaceId, chainIds)
        return new Map(runs.map((run) => [run.chain_id, toLastChainRun(run)]))
      })

      const withLastRun = Effect.fnUntraced(function* (chain: ChainRow) {
        const lastRuns = yield* lastRunsOf(chain.workspace_id, [chain])
        return yield* shown(toChain(chain, lastRuns.get(chain.id) ?? null))
      })

      const make = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: ChainInput
      ) {
        yield* checkTargets([...targetsOf(input.steps), ...callbackTargets(input)])
        yield* limits.allowOneMore(workspaceId, "chains")
        const createdAt = yield* now
        const chain = yield* schedules.insert({
          ...withEndingOptions(withFiringOptions({ ...chainDefaults, ...input })),
          steps: input.steps.map(withDefaults),
          id: ChainId.make(yield* ids.next),
          workspace_id: workspaceId,
          status: "active",
          paused_reason: null,
          next_fire_at: null,
          created_at: createdAt,
          updated_at: createdAt
        })
        return yield* shown(toChain(chain, null))
      })

      const change = Effect.fnUntraced(function* (
        chain: ChainRow,
        { steps: given, ...changes }: ChainUpdate
      ) {
        const steps = given?.map(withDefaults) ?? chain.steps
        if (given !== undefined) yield* checkTargets(targetsOf(given))
        yield* checkTargets(callbackTargets(changes))
        if (given === undefined && Object.keys(changes).length === 0) {
          return yield* withLastRun(chain)
        }
        if (changes.key !== undefined && changes.key !== chain.key) {
          yield* repo.giveKey(chain, changes.key)
        }
        const changed: ChainRow = {
          ...chain,
          ...withEndingOptions(withFiringOptions(changes, chain), chain),
          steps
        }
        if (!isDeepStrictEqual(steps, chain.steps)) {
          yield* repo.replaceSteps(changed)
          const task = { workspace_id: chain.workspace_id, task_id: chain.id }
          yield* queue.move(task, steps[0] ?? runOn.defaults)
        }
        return yield* withLastRun(yield* schedules.update(chain, changed))
      })

      return Chains.of({
        list: Effect.fn("Chains.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const rows = yield* repo.list(workspaceId, { ...query, page })
          const lastRuns = yield* lastRunsOf(workspaceId, rows)
          const toRecord = (row: ChainRow) => toChain(row, lastRuns.get(row.id) ?? null)
          return yield* shownPage(toPage(rows, page, toRecord))
        }),

        get: Effect.fn("Chains.get")(function* (workspaceId, id) {
          return yield* withLastRun(yield* find(workspaceId, id))
        }),

        create: Effect.fn("Chains.create")(make, transaction),

        upsert: Effect.fn("Chains.upsert")(
          (workspaceId, key, definition) => {
            const steps = definition.steps.map(withDefaults)
            const defined = { ...chainDefaults, ...definition, key }
            return upsertByKey(key, {
              find: repo.findByKey(workspaceId, key),
              make: make(workspaceId, { ...definition, key }),
              isDefined: (chain) =>
                Effect.succeed(
                  isDefinedAs(chain, { ...withEndingOptions(withFiringOptions(defined)), steps })
                ),
              show: withLastRun,
              lock: ({ id }) =>
                Effect.andThen(
                  schedules.beforeChange(workspaceId, defined),
                  repo.findForUpdate(workspaceId, id)
                ),
              change: (chain) => change(chain, defined)
            })
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("Chains.update")(function* (workspaceId, id, changes) {
          yield* schedules.beforeChange(workspaceId, changes)
          return yield* change(yield* lock(workspaceId, id), changes)
        }, transaction),

        remove: Effect.fn("Chains.remove")(function* (workspaceId, id) {
          if (!(yield* repo.remove(workspaceId, id))) {
            return yield* new NotFound({ resource: "chain" })
          }
          yield* schedules.stop({ workspace_id: workspaceId, id })
          yield* repo.removeSteps(workspaceId, id)
        }, transaction),

        run: Effect.fn("Chains.run")(function* (workspaceId, id) {
          const task = { workspace_id: workspaceId, task_id: id, kind: "chain" } as const
          const run = yield* runNow(task, lock(workspaceId, id))
          const head = { ...run, ...justQueued, chain_id: id, chain_run_id: run.id, step_index: 0 }
          const names = yield* namesOf(workspaceId, id)
          return toChainRun({ id: run.id, chain_id: id, steps: [head] }, names)
        }),

        pause: Effect.fn("Chains.pause")(function* (workspaceId, id) {
          return yield* withLastRun(yield* schedules.pause(yield* lock(workspaceId, id)))
        }, transaction),

        resume: Effect.fn("Chains.resume")(function* (workspaceId, id) {
          return yield* withLastRun(yield* schedules.resume(yield* lock(workspaceId, id)))
        }, transaction),

        runs: Effect.fn("Chains.runs")(function* (workspaceId, id, query) {
          const names = yield* namesOf(workspaceId, id)
          const page = pageRequest(query)
          const since = yield* limits.historyFrom(workspaceId)
          const runs = yield* runsRepo.list(workspaceId, id, page, since)
          return toPage(runs, page, (run) => toChainRun(run, names))
        }),

        getRun: Effect.fn("Chains.getRun")(function* (workspaceId, id, runId) {
          const names = yield* namesOf(workspaceId, id)
          const since = yield* limits.historyFrom(workspaceId)
          const run = yield* foundRun(runsRepo.find(workspaceId, id, runId, since))
          return toChainRunDetail(run, names)
        }),

        cancel: Effect.fn("Chains.cancel")(function* (workspaceId, id, executionId) {
          yield* namesOf(workspaceId, id)
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

const found = orNotFound("chain")
const foundRun = orNotFound("chain_run")
