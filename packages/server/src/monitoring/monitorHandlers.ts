import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorFilters } from "@scheduling/domain/monitors/Monitor"
import type { MonitorId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Effect, type Schema } from "effect"
import { createdIfNew, Idempotency, inWorkspace } from "../http/index.ts"
import type { KindTypes } from "./MonitorKind.ts"
import type { MonitorsOf } from "./monitorsOf.ts"

interface InWorkspace {
  readonly params: { readonly workspace_id: WorkspaceId }
}

interface OfMonitor {
  readonly params: { readonly workspace_id: WorkspaceId; readonly monitor_id: MonitorId }
}

/**
 * The handlers of the endpoints that all kinds have (`common`), and how a kind makes its own
 * (`ofMonitor`). `toAnswer` makes the record that a request
 * shows of a monitor, for kinds that show it differently to different requests.
 */
export const monitorHandlers = <Types extends KindTypes, Answer, Encoded, R>(
  monitors: MonitorsOf<Types>,
  kind: {
    readonly answer: Schema.Codec<Answer, Encoded>
    /** The operation under which idempotency keys of creates are kept. */
    readonly createOperation: string
    readonly toAnswer: Effect.Effect<(monitor: Types["Monitor"]) => Answer, never, R>
  }
) =>
  Effect.map(Idempotency, (idempotency) => {
    const answered = <E, R1>(monitor: Effect.Effect<Types["Monitor"], E, R1>) =>
      Effect.flatMap(monitor, (one) => Effect.map(kind.toAnswer, (toAnswer) => toAnswer(one)))

    const ofMonitor =
      <E>(
        act: (
          workspaceId: AuthorizedWorkspaceId,
          id: MonitorId
        ) => Effect.Effect<Types["Monitor"], E>
      ) =>
      (workspaceId: AuthorizedWorkspaceId, { params }: OfMonitor) =>
        answered(act(workspaceId, params.monitor_id))

    const common = {
      list: inWorkspace(
        (workspaceId, { query }: InWorkspace & { readonly query: PageQuery & MonitorFilters }) =>
          Effect.flatMap(monitors.list(workspaceId, query), ({ data, next_cursor }) =>
            Effect.map(kind.toAnswer, (toAnswer) => ({ data: data.map(toAnswer), next_cursor }))
          )
      ),

      create: inWorkspace(
        (
          workspaceId,
          request: InWorkspace & {
            readonly headers: { readonly "idempotency-key"?: string | undefined }
            readonly payload: Types["Input"]
          }
        ) =>
          answered(monitors.create(workspaceId, request.payload)).pipe(
            idempotency.once({
              key: request.headers["idempotency-key"],
              workspaceId,
              operation: kind.createOperation,
              payload: request.payload,
              answer: kind.answer
            })
          )
      ),

      upsert: inWorkspace(
        (
          workspaceId,
          request: {
            readonly params: { readonly workspace_id: WorkspaceId; readonly key: string }
            readonly payload: Types["Input"]
          }
        ) =>
          answered(createdIfNew(monitors.upsert(workspaceId, request.params.key, request.payload)))
      ),

      get: inWorkspace(ofMonitor(monitors.get)),

      update: inWorkspace(
        (workspaceId, { params, payload }: OfMonitor & { readonly payload: Types["Changes"] }) =>
          answered(monitors.update(workspaceId, params.monitor_id, payload))
      ),

      remove: inWorkspace((workspaceId, { params }: OfMonitor) =>
        monitors.remove(workspaceId, params.monitor_id)
      ),

      pause: inWorkspace(ofMonitor(monitors.pause)),

      resume: inWorkspace(ofMonitor(monitors.resume)),

      events: inWorkspace(
        (workspaceId, { params, query }: OfMonitor & { readonly query: PageQuery }) =>
          monitors.events(workspaceId, params.monitor_id, query)
      )
    }
    return { common, ofMonitor }
  })
