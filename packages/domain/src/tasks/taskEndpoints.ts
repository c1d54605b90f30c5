import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
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
import { inPath, WorkspaceId } from "../shared/Ids.ts"
import { batchDocs } from "../shared/requests/Batch.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { OwnKey, upsertDocs } from "../shared/requests/OwnKey.ts"
import { IfMatch } from "../shared/requests/Version.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }

const read = Access.scope("tasks:read")
const write = Access.scope("tasks:write")

/**
 * Creates the endpoints that every kind of task has. `path` is the path of a task. `texts` complete
 * the descriptions of the operations.
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
      params: { ...workspace, key: OwnKey },
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

/** The documentation of the PATCH of every kind. `extra` is appended for one kind. */
export const updateDocs = (noun: string, extra: string) =>
  docs(`Change ${noun}`, `Changes the fields that are given. ${extra}`)

/** Creates the further endpoints of a kind of task that has a schedule. */
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
          "The schedule fires again from now on. Slots during the pause are not made up for. " +
            "Resuming again changes nothing."
        )
      )
  ] as const
