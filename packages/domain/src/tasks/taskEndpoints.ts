import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Backfill, BackfillRequest } from "./Backfill.ts"
import { RunRequest } from "../executions/RunRequest.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import {
  Conflict,
  idempotencyErrors,
  NotFound,
  QuotaExceeded,
  RateLimited,
  Stale
} from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { batchDocs } from "../shared/requests/Batch.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { CallerChosenKey, upsertDocs } from "../shared/requests/CallerChosenKey.ts"
import { IfMatch } from "../shared/requests/Version.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }

const read = Access.scope("tasks:read")
const write = Access.scope("tasks:write")

/**
 * Creates the endpoints that every kind of task has. `path` is a task's path. `texts` completes the
 * operations' descriptions.
 */
export const taskEndpoints = <
  const Path extends `/${string}`,
  Params extends {
    readonly workspace_id: (typeof workspace)["workspace_id"]
  } & Schema.Struct.Fields,
  Query extends Schema.Struct.Fields,
  Task extends Schema.Top,
  Input extends Schema.Top,
  Definition extends Schema.Top,
  Page extends Schema.Top,
  Batch extends Schema.Top,
  BatchResult extends Schema.Top
>({
  noun,
  params,
  path,
  query,
  schemas,
  texts
}: {
  /** The kind with its article, such as `a cron task`. */
  readonly noun: `a ${string}`
  readonly path: Path
  readonly params: Params
  readonly query: Query
  readonly schemas: {
    readonly task: Task
    readonly input: Input
    readonly definition: Definition
    readonly page: Page
    readonly batch: Batch
    readonly batchResult: BatchResult
  }
  readonly texts: {
    readonly list: string
    readonly create: string
    readonly upsert: string
    readonly get: string
  }
}) => {
  const plural = `${noun.replace(/^a /, "")}s`
  return {
    list: HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query,
      success: schemas.page
    })
      .annotate(Access, read)
      .annotateMerge(docs(`List ${plural}`, texts.list)),

    create: HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: schemas.input,
      success: schemas.task.pipe(HttpApiSchema.status(201)),
      error: [Conflict, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, write)
      .annotateMerge(docs(`Create ${noun}`, texts.create)),

    createMany: HttpApiEndpoint.post("createMany", "/batch", {
      params: workspace,
      headers: IdempotencyKey,
      payload: schemas.batch,
      success: schemas.batchResult,
      error: [...idempotencyErrors, NotFound, RateLimited]
    })
      .annotate(Access, write)
      .annotateMerge(batchDocs(plural)),

    upsert: HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: CallerChosenKey },
      headers: IfMatch,
      payload: schemas.definition,
      success: [schemas.task, schemas.task.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded, Stale]
    })
      .annotate(Access, write)
      .annotateMerge(upsertDocs(noun, texts.upsert)),

    get: HttpApiEndpoint.get("get", path, { params, success: schemas.task, error: NotFound })
      .annotate(Access, read)
      .annotateMerge(docs(`Get ${noun}`, texts.get))
  }
}

/** Returns the documentation of a PATCH endpoint. `extra` is specific to a kind of task. */
export const updateDocs = (noun: string, extra: string) =>
  docs(`Change ${noun}`, `Changes the fields that are given. ${extra}`)

/** Creates the additional endpoints of the kinds of tasks that have a schedule. */
export const scheduledEndpoints = <
  const Path extends `/${string}`,
  Params extends Schema.Struct.Fields,
  Task extends Schema.Top,
  Update extends Schema.Top,
  Run extends Schema.Top
>({
  noun,
  params,
  path,
  schemas,
  texts
}: {
  readonly noun: `a ${string}`
  readonly path: Path
  readonly params: Params
  readonly schemas: { readonly task: Task; readonly update: Update; readonly run: Run }
  readonly texts: {
    readonly update: string
    readonly remove: string
    readonly run: string
    readonly pause: string
    /** The beginning of the description of a backfill: what it queues for each slot. */
    readonly backfill: "Queues a run" | "Queues an execution"
  }
}) =>
  [
    HttpApiEndpoint.patch("update", path, {
      params,
      headers: IfMatch,
      payload: schemas.update,
      success: schemas.task,
      error: [NotFound, Conflict, QuotaExceeded, Stale]
    })
      .annotate(Access, write)
      .annotateMerge(updateDocs(noun, texts.update)),

    HttpApiEndpoint.delete("delete", path, { params, headers: IfMatch, error: [NotFound, Stale] })
      .annotate(Access, write)
      .annotateMerge(docs(`Delete ${noun}`, texts.remove)),

    HttpApiEndpoint.post("run", `${path}/run`, {
      params,
      headers: IdempotencyKey,
      payload: RunRequest,
      success: schemas.run.pipe(HttpApiSchema.status(202)),
      error: [NotFound, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, write)
      .annotateMerge(docs(`Run ${noun} now`, texts.run)),

    HttpApiEndpoint.post("pause", `${path}/pause`, {
      params,
      success: schemas.task,
      error: NotFound
    })
      .annotate(Access, write)
      .annotateMerge(docs(`Pause ${noun}`, `${texts.pause} Pausing again changes nothing.`)),

    HttpApiEndpoint.post("resume", `${path}/resume`, {
      params,
      success: schemas.task,
      error: [NotFound, QuotaExceeded]
    })
      .annotate(Access, write)
      .annotateMerge(
        docs(
          `Resume ${noun}`,
          "The schedule fires again from now on. Slots that were missed during the pause do not fire. " +
            "Resuming again changes nothing."
        )
      ),

    HttpApiEndpoint.post("backfill", `${path}/backfill`, {
      params,
      headers: IdempotencyKey,
      payload: BackfillRequest,
      success: Backfill.pipe(HttpApiSchema.status(202)),
      error: [NotFound, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, write)
      .annotateMerge(
        docs(
          `Backfill ${noun}`,
          `${texts.backfill} for each past slot of the period, in order, with the slot as its ` +
            "`scheduled_for`. Unless `overlap` is `allow`, each waits for the previous one. The period can contain at most 10,000 slots. All are queued, or none. Also works while the " +
            "schedule is paused."
        )
      )
  ] as const
