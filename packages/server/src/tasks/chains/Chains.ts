import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type Chain,
  type ChainDefinition,
  chainDefaults,
  type ChainInput,
  type ChainUpdate
} from "@scheduling/domain/chains/Chain"
import {
  chainStepDefaults,
  type ChainStepInput,
  isCallStep
} from "@scheduling/domain/chains/ChainStep"
import type { ChainRun, ChainRunDetail } from "@scheduling/domain/chains/ChainRun"
import type { TaskStatus } from "@scheduling/domain/cron/ScheduleOptions"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { ChainRunId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { type AppConfig, type Ids, orNotFound } from "../../core/index.ts"
import type { AuditLog, ChangeLog } from "../../accounts/index.ts"
import { workerOptionsOf, RunQueue, type StoredStep } from "../../engine/index.ts"
import type { Outbox } from "../../events/index.ts"
import { Limits } from "../../plans/index.ts"
import { pageRequest, toPage, sortByName, sortByTime } from "../../store/index.ts"
import { backfillTask } from "../backfillTask.ts"
import { dieIfOverQuota, makeScheduledLifecycle } from "../TaskLifecycle.ts"
import { channelKeysToIds, withChannelKeys } from "./approvalChannels.ts"
import { approvalCheck } from "./approvalCheck.ts"
import { callbackTargets, optionColumnsAfter } from "../TaskOptions.ts"
import { withTimingColumn } from "../timingColumn.ts"
import { type PausableTasks, makeTasks } from "../Tasks.ts"
import { queuedStepFields, toChainRun, toChainRunDetail } from "./chainRun.ts"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import {
  chainDefinition,
  chainOptionColumns,
  type ChainRow,
  ChainsRepo,
  toChain
} from "./ChainsRepo.ts"

/** The operations on chains and their runs. */
export class Chains extends Context.Service<
  Chains,
  PausableTasks<Chain, ChainInput, ChainDefinition, ChainUpdate, TaskStatus, ChainRun> & {
    readonly runs: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      query: PageQuery
    ) => Effect.Effect<Page<ChainRun>, NotFound>
    readonly getRun: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      runId: ChainRunId
    ) => Effect.Effect<ChainRunDetail, NotFound>
  }
>()("@scheduling/server/tasks/chains/Chains") {
  static readonly layer: Layer.Layer<
    Chains,
    never,
    | AppConfig
    | AuditLog
    | ChainRunsRepo
    | ChainsRepo
    | ChangeLog
    | Ids
    | Limits
    | Outbox
    | RunQueue
    | SqlClient.SqlClient
  > = Layer.effect(
    Chains,
    Effect.gen(function* () {
      const limits = yield* Limits
      const queue = yield* RunQueue
      const sql = yield* SqlClient.SqlClient
      const chains = yield* ChainsRepo
      const runsRepo = yield* ChainRunsRepo
      const scheduled = yield* makeScheduledLifecycle({
        kind: "chain",
        definition: chainDefinition,
        resource: "chain",
        limit: "chains",
        repo: chains,
        listed: (row: ChainRow) => ({ ...row, last_run: null })
      })
      const checkApprovals = yield* approvalCheck
      const lifecycle: typeof scheduled = {
        ...scheduled,
        remove: (task) =>
          Effect.tap(scheduled.remove(task), chains.removeSteps(task.workspace_id, task.id))
      }
      const tasks = yield* makeTasks({
        name: "Chains",
        sorts: { name: sortByName("t.name"), next_run_at: sortByTime("t.next_fire_at") },
        resource: "chain",
        defaults: chainDefaults,
        repo: chains,
        lifecycle,
        merged: (changes: ChainUpdate) => changes,
        check: checkApprovals,
        byIds: channelKeysToIds(sql),
        withKeys: withChannelKeys(sql),
        columnsOf: (
          { depends_on: _, steps, ...given }: Partial<ChainInput>,
          before?: ChainRow
        ) => ({
          ...optionColumnsAfter(chainOptionColumns, withTimingColumn(given, before), before),
          ...(steps !== undefined && { steps: steps.map(withDefaults) })
        }),
        targets: (given) => [...targetsOf(given.steps ?? []), ...callbackTargets(given)],
        show: toChain,
        changed: Effect.fnUntraced(function* (before, chain) {
          if (isDeepStrictEqual(chain.steps, before.steps)) return
          yield* chains.replaceSteps(chain)
          const task = { workspace_id: chain.workspace_id, task_id: chain.id }
          yield* queue.move(task, workerOptionsOf(chain.steps[0]))
        })
      })

      const namesOf = (workspaceId: AuthorizedWorkspaceId, id: string) =>
        requireChain(chains.findStepNames(workspaceId, id))

      return Chains.of({
        ...tasks,

        run: Effect.fnUntraced(function* (workspaceId, id, request) {
          const run = yield* tasks.run(workspaceId, id, request)
          const head = {
            ...run,
            ...queuedStepFields,
            chain_id: id,
            chain_run_id: run.id,
            step_index: 0
          }
          const names = yield* namesOf(workspaceId, id)
          return toChainRun({ id: run.id, chain_id: id, steps: [head] }, names)
        }),

        pause: dieIfOverQuota(tasks.setPaused(true)),

        resume: tasks.setPaused(false),

        backfill: yield* backfillTask("chain", (workspaceId, id) =>
          requireChain(chains.findForUpdate(workspaceId, id))
        ),

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
          const run = yield* requireRun(runsRepo.find(workspaceId, id, runId, since))
          return toChainRunDetail(run, names)
        })
      })
    })
  )
}

const targetsOf = (steps: ReadonlyArray<ChainStepInput>) =>
  steps.flatMap((step, index) =>
    isCallStep(step)
      ? [{ path: ["steps", index, "url"], url: step.url, run_on: step.run_on ?? null }]
      : []
  )

const withDefaults = (given: ChainStepInput): StoredStep => {
  if (given.kind === "wait") return { ...chainStepDefaults.wait, ...given }
  if (given.kind === "approve") {
    return Struct.omit({ ...chainStepDefaults.approve, ...given }, ["channel_keys"])
  }
  const { call_options, ...step } = optionColumnsAfter(["call_options"], {
    ...chainStepDefaults.call,
    ...given
  })
  return { ...step, ...call_options }
}

const requireChain = orNotFound("chain")
const requireRun = orNotFound("chain_run")
