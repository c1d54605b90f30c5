import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { planLimitSentence } from "../billing/Limits.ts"
import { versionEndpoints } from "../definitions/versionEndpoints.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, idempotencyErrors, NotFound, QuotaExceeded, Stale } from "../shared/Errors.ts"
import { idInPath, MonitorId, WorkspaceId } from "../shared/Ids.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { idOrKey, CallerChosenKey, upsertDocs } from "../shared/requests/CallerChosenKey.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { type MonitorKind, MonitorQuery } from "./Monitor.ts"
import { monitorNouns } from "./monitorNouns.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }

export const monitorParams = (kind: MonitorKind) => ({
  workspace_id: idInPath(WorkspaceId),
  monitor_id: idOrKey(MonitorId, kind)
})

/**
 * Creates the endpoints for a kind of monitor: the common ones and the kind's `own` ones. `texts`
 * completes the operations' descriptions.
 */
export const monitorEndpoints = <
  Monitor extends Schema.Top,
  Input extends Schema.Top,
  Definition extends Schema.Top,
  Update extends Schema.Top,
  Page extends Schema.Top,
  EventPage extends Schema.Top,
  const Own extends ReadonlyArray<HttpApiEndpoint.Constraint>
>({
  kind,
  own,
  schemas,
  texts
}: {
  readonly kind: MonitorKind
  readonly schemas: {
    readonly monitor: Monitor
    readonly input: Input
    readonly definition: Definition
    readonly update: Update
    readonly page: Page
    readonly eventPage: EventPage
  }
  readonly texts: {
    readonly create: string
    readonly get: string
    readonly update: string
    readonly remove?: string
    readonly pause: string
    readonly resume: string
    readonly events: string
  }
  readonly own: Own
}) => {
  const noun = monitorNouns[kind]
  const plural = `${noun.replace(/^an? /, "")}s`
  const params = monitorParams(kind)
  return [
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: MonitorQuery,
      success: schemas.page
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs(`List ${plural}`, `The workspace's ${plural}, newest first.`)),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: schemas.input,
      success: schemas.monitor.pipe(HttpApiSchema.status(201)),
      error: [Conflict, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          `Create ${noun}`,
          `${texts.create} ${planLimitSentence("monitors", "monitors", 1_000)}`
        )
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: CallerChosenKey },
      headers: IfMatch,
      payload: schemas.definition,
      success: [schemas.monitor, schemas.monitor.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded, Stale]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(upsertDocs(noun, "A paused monitor stays paused.")),

    HttpApiEndpoint.get("get", "/:monitor_id", {
      params,
      success: schemas.monitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs(`Get ${noun}`, texts.get)),

    HttpApiEndpoint.patch("update", "/:monitor_id", {
      params,
      headers: IfMatch,
      payload: schemas.update,
      success: schemas.monitor,
      error: [NotFound, Conflict, Stale]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(docs(`Change ${noun}`, texts.update)),

    HttpApiEndpoint.delete("delete", "/:monitor_id", {
      params,
      headers: IfMatch,
      error: [NotFound, Stale]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          `Delete ${noun}`,
          `${texts.remove ?? ""} Also deletes its events and incidents.`.trim()
        )
      ),

    HttpApiEndpoint.post("pause", "/:monitor_id/pause", {
      params,
      success: schemas.monitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          `Pause ${noun}`,
          `${texts.pause} An open incident is closed. Pausing again changes nothing.`
        )
      ),

    HttpApiEndpoint.post("resume", "/:monitor_id/resume", {
      params,
      success: schemas.monitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(docs(`Resume ${noun}`, `${texts.resume} Resuming again changes nothing.`)),

    ...versionEndpoints({
      noun,
      path: "/:monitor_id",
      params,
      record: schemas.monitor,
      read: Access.scope("monitors:read"),
      write: Access.scope("monitors:write")
    }),

    ...own,

    HttpApiEndpoint.get("listEvents", "/:monitor_id/events", {
      params,
      query: PageQuery,
      success: schemas.eventPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs(`List ${noun}'s events`, texts.events))
  ] as const
}
