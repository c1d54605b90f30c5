import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type Chain,
  type ChainDefinition,
  chainDefaults,
  type ChainInput,
  chainStepDefaults,
  type ChainStepInput,
  type ChainUpdate
} from "@scheduling/domain/chains/Chain"
import type { ChainRun, ChainRunDetail } from "@scheduling/domain/chains/ChainRun"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { ChainRunId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { runOn } from "@scheduling/domain/workers/RunOn"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { type Ids, orNotFound } from "../../core/index.ts"
import type { ChangeLog } from "../../accounts/index.ts"
import { RunQueue, type StoredStep } from "../../engine/index.ts"
import type { Outbox } from "../../events/index.ts"
import { Limits } from "../../plans/index.ts"
import { pageRequest, toPage, nameOfRow, timeOfRow } from "../../store/index.ts"
import { neverOverQuota, scheduledFiring } from "../Firing.ts"
import { callbackTargets, keptOptions } from "../TaskOptions.ts"
import { withTimingColumn } from "../timingColumn.ts"
import { type PausableTasks, tasksOf } from "../Tasks.ts"
import { justQueued, toChainRun, toChainRunDetail } from "./chainRun.ts"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import { chainDefinition, chainOptions, type ChainRow, ChainsRepo, toChain } from "./ChainsRepo.ts"

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
    ChainRunsRepo | ChainsRepo | ChangeLog | Ids | Limits | Outbox | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Chains,
    Effect.gen(function* () {
      const limits = yield* Limits
      const queue = yield* RunQueue
      const chains = yield* ChainsRepo
      const runsRepo = yield* ChainRunsRepo
      const scheduled = yield* scheduledFiring({
        kind: "chain",
        definition: chainDefinition,
        resource: "chain",
        limit: "chains",
        repo: chains,
        listed: (row: ChainRow) => ({ ...row, last_run: null })
      })
      const firing: typeof scheduled = {
        ...scheduled,
        remove: (task) =>
          Effect.tap(scheduled.remove(task), chains.removeSteps(task.workspace_id, task.id))
      }
      const tasks = yield* tasksOf({
        name: "Chains",
        sorts: { name: nameOfRow("t.name"), next_run_at: timeOfRow("t.next_fire_at") },
        resource: "chain",
        defaults: chainDefaults,
        repo: chains,
        firing,
        merged: (changes: ChainUpdate) => changes,
        columnsOf: ({ steps, ...given }: Partial<ChainInput>, before?: ChainRow) => ({
          ...keptOptions(chainOptions, withTimingColumn(given, before), before),
          ...(steps !== undefined && { steps: steps.map(withDefaults) })
        }),
        targets: (given) => [...targetsOf(given.steps ?? []), ...callbackTargets(given)],
        show: toChain,
        changed: Effect.fnUntraced(function* (before, chain) {
          if (isDeepStrictEqual(chain.steps, before.steps)) return
          yield* chains.replaceSteps(chain)
          const task = { workspace_id: chain.workspace_id, task_id: chain.id }
          yield* queue.move(task, chain.steps[0] ?? runOn.defaults)
        })
      })

      const namesOf = (workspaceId: AuthorizedWorkspaceId, id: string) =>
        foundChain(chains.findStepNames(workspaceId, id))

      return Chains.of({
        ...tasks,

        run: Effect.fnUntraced(function* (workspaceId, id, request) {
          const run = yield* tasks.run(workspaceId, id, request)
          const head = { ...run, ...justQueued, chain_id: id, chain_run_id: run.id, step_index: 0 }
          const names = yield* namesOf(workspaceId, id)
          return toChainRun({ id: run.id, chain_id: id, steps: [head] }, names)
        }),

        pause: neverOverQuota(tasks.setPaused(true)),

        resume: tasks.setPaused(false),

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
        })
      })
    })
  )
}

const targetsOf = (steps: ReadonlyArray<ChainStepInput>) =>
  steps.map(({ run_on = null, url }, index) => ({ path: ["steps", index, "url"], url, run_on }))

const withDefaults = (given: ChainStepInput): StoredStep => {
  const { call_options, ...step } = keptOptions(["call_options"], {
    ...chainStepDefaults,
    ...given
  })
  return { ...step, ...call_options }
}

const foundChain = orNotFound("chain")
const foundRun = orNotFound("chain_run")
