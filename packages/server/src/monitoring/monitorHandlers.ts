import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorQuery } from "@scheduling/domain/monitors/Monitor"
import { Conflict } from "@scheduling/domain/shared/Errors"
import { MonitorId, type WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Effect, type Schema } from "effect"
import { versionHandlers } from "../accounts/index.ts"
import {
  upsertResponse,
  DefinedKinds,
  withExpectedVersion,
  Idempotency,
  inWorkspace,
  ifMatchVersion,
  withETag
} from "../http/index.ts"
import type { KindTypes } from "./MonitorKind.ts"
import type { KindMonitors } from "./KindMonitors.ts"

interface WorkspaceRequest {
  readonly params: { readonly workspace_id: WorkspaceId }
}

interface MonitorRequest {
  readonly params: { readonly workspace_id: WorkspaceId; readonly monitor_id: MonitorId }
}

interface Expecting {
  readonly headers: { readonly "if-match"?: string | undefined }
}

/** The failure of a request to check a paused monitor now. */
export const rejectPausedMonitor = Effect.fail(
  new Conflict({
    resource: "monitor",
    field: "status",
    message: "The monitor is paused. Resume it before you check it."
  })
)

/**
 * Creates the handlers of the endpoints that all kinds have (`common`). A kind creates its own
 * endpoints' handlers with `handleMonitor`. `toAnswer` depends on the request, because only some
 * callers are allowed to see the ping URL.
 */
export const monitorHandlers = <
  Types extends KindTypes,
  Answer extends { readonly version: number },
  Encoded,
  R
>(
  monitors: KindMonitors<Types>,
  kind: {
    readonly answer: Schema.Codec<Answer, Encoded>
    /** The name under which the create endpoint's idempotency keys are stored. */
    readonly createOperation: string
    readonly toAnswer: Effect.Effect<(monitor: Types["Monitor"]) => Answer, never, R>
  }
) =>
  Effect.gen(function* () {
    const idempotency = yield* Idempotency
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: monitors.kind,
      upsert: monitors.upsert,
      get: (workspaceId, { id }) => monitors.get(workspaceId, MonitorId.make(id)),
      remove: (workspaceId, { id }) => monitors.remove(workspaceId, MonitorId.make(id))
    })

    const answerWith = <E, R1>(monitor: Effect.Effect<Types["Monitor"], E, R1>) =>
      Effect.flatMap(monitor, (one) => Effect.map(kind.toAnswer, (toAnswer) => toAnswer(one)))

    const handleMonitor =
      <E>(
        act: (
          workspaceId: AuthorizedWorkspaceId,
          id: MonitorId
        ) => Effect.Effect<Types["Monitor"], E>
      ) =>
      (workspaceId: AuthorizedWorkspaceId, { params }: MonitorRequest) =>
        answerWith(act(workspaceId, params.monitor_id))

    const versions = versionHandlers(
      ({ monitor_id }: { readonly monitor_id: MonitorId }) => monitor_id,
      monitors
    )

    const common = {
      list: inWorkspace(
        (workspaceId, { query }: WorkspaceRequest & { readonly query: MonitorQuery }) =>
          Effect.flatMap(monitors.list(workspaceId, query), ({ data, ...page }) =>
            Effect.map(kind.toAnswer, (toAnswer) => ({ data: data.map(toAnswer), ...page }))
          )
      ),

      create: inWorkspace(
        (
          workspaceId,
          request: WorkspaceRequest & {
            readonly headers: { readonly "idempotency-key"?: string | undefined }
            readonly payload: Types["Input"]
          }
        ) =>
          answerWith(monitors.create(workspaceId, request.payload)).pipe(
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
          {
            headers,
            params,
            payload
          }: Expecting & {
            readonly params: { readonly workspace_id: WorkspaceId; readonly key: string }
            readonly payload: Types["Input"]
          }
        ) =>
          answerWith(
            upsertResponse(
              monitors.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
            )
          )
      ),

      get: inWorkspace((workspaceId, request: MonitorRequest) =>
        withETag(handleMonitor(monitors.get)(workspaceId, request))
      ),

      update: inWorkspace(
        (
          workspaceId,
          {
            headers,
            params,
            payload
          }: MonitorRequest & Expecting & { readonly payload: Types["Changes"] }
        ) =>
          answerWith(
            monitors.update(workspaceId, params.monitor_id, withExpectedVersion(headers, payload))
          )
      ),

      delete: inWorkspace((workspaceId, { headers, params }: MonitorRequest & Expecting) =>
        monitors.remove(workspaceId, params.monitor_id, ifMatchVersion(headers))
      ),

      listVersions: versions.listVersions,

      getVersion: versions.getVersion,

      restoreVersion: (request: Parameters<typeof versions.restoreVersion>[0]) =>
        answerWith(versions.restoreVersion(request)),

      pause: inWorkspace(handleMonitor(monitors.pause)),

      resume: inWorkspace(handleMonitor(monitors.resume)),

      listEvents: inWorkspace(
        (workspaceId, { params, query }: MonitorRequest & { readonly query: PageQuery }) =>
          monitors.events(workspaceId, params.monitor_id, query)
      )
    }
    return { common, handleMonitor }
  })
