import { Principal } from "@scheduling/domain/auth/Principal"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { Trigger, TriggerInput } from "@scheduling/domain/tasks/Trigger"
import { Effect, Redacted } from "effect"
import { mayWrite } from "../../accounts/index.ts"
import { inWorkspace, requestBaseUrl, preventCompression } from "../../http/index.ts"
import { timestampOf } from "../../store/index.ts"
import { type TaskTrigger, Triggers } from "./Triggers.ts"
import type { CronOrChainRef } from "../TaskRow.ts"

interface OfTask<Params> {
  readonly params: Params & { readonly workspace_id: WorkspaceId }
}

/** Creates the handlers for the trigger URL of a task. `idOf` returns the id of the task. */
export const triggerHandlers = Effect.fnUntraced(function* <Params>(
  kind: CronOrChainRef["kind"],
  idOf: (params: Params) => string
) {
  const baseUrl = yield* requestBaseUrl
  const triggers = yield* Triggers

  /** Shows a trigger. The URL is included only if the caller may run the task. */
  const show = Effect.fnUntraced(function* (trigger: TaskTrigger | null) {
    yield* preventCompression
    const token = mayWrite(yield* Principal, "tasks:write") ? (trigger?.token ?? null) : null
    return {
      enabled: trigger !== null,
      url:
        token === null
          ? null
          : Redacted.make(`${yield* baseUrl}/trigger/${token}`, { label: "trigger_url" }),
      sender: trigger?.sender ?? null,
      created_at: trigger === null ? null : timestampOf(trigger.created_at)
    } satisfies Trigger
  })

  return {
    getTrigger: inWorkspace((workspaceId, { params }: OfTask<Params>) =>
      Effect.flatMap(triggers.find({ workspaceId, kind, id: idOf(params) }), show)
    ),

    setTrigger: inWorkspace(
      (workspaceId, { params, payload }: OfTask<Params> & { readonly payload: TriggerInput }) =>
        Effect.flatMap(triggers.set({ workspaceId, kind, id: idOf(params) }, payload), show)
    ),

    rotateTriggerUrl: inWorkspace((workspaceId, { params }: OfTask<Params>) =>
      Effect.flatMap(triggers.rotate({ workspaceId, kind, id: idOf(params) }), show)
    ),

    deleteTrigger: inWorkspace((workspaceId, { params }: OfTask<Params>) =>
      triggers.remove({ workspaceId, kind, id: idOf(params) })
    )
  }
})
