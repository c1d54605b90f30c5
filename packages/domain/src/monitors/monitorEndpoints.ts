import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { planAllows } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, idempotencyErrors, NotFound, QuotaExceeded } from "../shared/Errors.ts"
import { inPath, MonitorId, WorkspaceId } from "../shared/Ids.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { OwnKey, upsertDocs } from "../shared/requests/OwnKey.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { MonitorFilters } from "./Monitor.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }

export const monitorParams = { workspace_id: inPath(WorkspaceId), monitor_id: inPath(MonitorId) }

/**
 * Creates the endpoints of a kind of monitor: those of all kinds and the kind's `own` ones. `texts`
 * complete the descriptions of the operations.
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
  noun,
  own,
  schemas,
  texts
}: {
  /** The kind with its article, such as `a heartbeat monitor`. */
  readonly noun: `${"a" | "an"} ${string} monitor`
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
  const plural = `${noun.replace(/^an? /, "")}s`
  return [
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...MonitorFilters },
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
        docs(`Create ${noun}`, `${texts.create} ${planAllows("monitors", "monitors", 1_000)}`)
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: schemas.definition,
      success: [schemas.monitor, schemas.monitor.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(upsertDocs(noun, "A paused monitor stays paused.")),

    HttpApiEndpoint.get("get", "/:monitor_id", {
      params: monitorParams,
      success: schemas.monitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs(`Get ${noun}`, texts.get)),

    HttpApiEndpoint.patch("update", "/:monitor_id", {
      params: monitorParams,
      payload: schemas.update,
      success: schemas.monitor,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(docs(`Change ${noun}`, texts.update)),

    HttpApiEndpoint.delete("remove", "/:monitor_id", { params: monitorParams, error: NotFound })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          `Delete ${noun}`,
          `${texts.remove ?? ""} Deletes also its events and incidents.`.trim()
        )
      ),

    HttpApiEndpoint.post("pause", "/:monitor_id/pause", {
      params: monitorParams,
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
      params: monitorParams,
      success: schemas.monitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(docs(`Resume ${noun}`, `${texts.resume} Resuming again changes nothing.`)),

    ...own,

    HttpApiEndpoint.get("events", "/:monitor_id/events", {
      params: monitorParams,
      query: PageQuery,
      success: schemas.eventPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs(`List ${noun}'s events`, texts.events))
  ] as const
}
