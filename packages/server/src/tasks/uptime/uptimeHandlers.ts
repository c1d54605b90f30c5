import type { UptimePeriod } from "@scheduling/domain/monitors/MonitorUptime"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { inWorkspace } from "../../http/index.ts"
import type { CronOrChainRef } from "../TaskRow.ts"
import { TaskUptimes } from "./TaskUptimes.ts"

interface OfPeriod<Params> {
  readonly params: Params & { readonly workspace_id: WorkspaceId }
  readonly query: { readonly period?: UptimePeriod }
}

/** Creates the handlers for the success rate of a task. `idOf` returns the id of the task. */
export const uptimeHandlers = <Params>(
  kind: CronOrChainRef["kind"],
  idOf: (params: Params) => string
) =>
  Effect.map(TaskUptimes, (uptimes) => ({
    uptime: inWorkspace((workspaceId, { params, query }: OfPeriod<Params>) =>
      uptimes.uptime({ workspaceId, kind, id: idOf(params) }, query.period)
    ),

    series: inWorkspace((workspaceId, { params, query }: OfPeriod<Params>) =>
      uptimes.series({ workspaceId, kind, id: idOf(params) }, query.period)
    )
  }))
