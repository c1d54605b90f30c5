import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import type { BatchOutcomes } from "@scheduling/domain/shared/requests/Batch"
import type {
  Conflict,
  NotFound,
  QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect, type Schema } from "effect"
import { versionHandlers } from "../accounts/index.ts"
import {
  upsertResponse,
  type DefinitionFailure,
  DefinedKinds,
  withExpectedVersion,
  Idempotency,
  inWorkspace,
  ifMatchVersion,
  withETag
} from "../http/index.ts"
import { Batches } from "./batches/Batches.ts"
import type { Tasks } from "./Tasks.ts"
import type { TaskQuery } from "./TasksRepo.ts"

interface InWorkspace {
  readonly workspace_id: WorkspaceId
}

/** The path parameters that identify one task. */
type OfTask = InWorkspace & ({ readonly task_id: string } | { readonly chain_id: string })

const idIn = (params: OfTask) => ("task_id" in params ? params.task_id : params.chain_id)

interface Keyed {
  readonly "idempotency-key"?: string
}

interface Expecting {
  readonly "if-match"?: string
}

interface Versioned {
  readonly version?: number
}

/** The handlers of the endpoints that every kind of task has. */
export const taskHandlers = Effect.fnUntraced(function* <
  Task extends { readonly version: number },
  Encoded,
  Input,
  Definition extends Versioned,
  Update extends Versioned,
  Status extends string,
  ChangeError,
  BusyError extends DefinitionFailure,
  Run,
  RunError,
  EncodedRun,
  EncodedBatch,
  F extends DefinitionFailure
>({
  answers,
  name,
  prepare,
  tasks
}: {
  /** The endpoint group's name. Each group has its own idempotency keys. */
  readonly name: "chains" | "cron" | "delayed"
  readonly tasks: Omit<
    Tasks<Task, Input, Definition, Update, Status, ChangeError, BusyError>,
    "run"
  > & {
    readonly run: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      request: RunRequest
    ) => Effect.Effect<Run, RunError>
  }
  readonly answers: {
    readonly task: Schema.Codec<Task, Encoded>
    readonly batch: Schema.Codec<BatchOutcomes<Task>, EncodedBatch>
    readonly run: Schema.Codec<Run, EncodedRun>
  }
  /** Runs before a change, outside of its transaction. */
  readonly prepare: (
    workspaceId: AuthorizedWorkspaceId,
    given: Input | Definition | Update,
    saves: "a new task" | "a change"
  ) => Effect.Effect<void, F>
}) {
  const idempotency = yield* Idempotency
  const batches = yield* Batches
  const kinds = yield* DefinedKinds
  yield* kinds.add({
    kind: name === "chains" ? "chain" : name,
    prepare: (workspaceId, definition) => prepare(workspaceId, definition, "a change"),
    upsert: tasks.upsert,
    get: (workspaceId, { id }) => tasks.get(workspaceId, id),
    remove: (workspaceId, { id }) => tasks.remove(workspaceId, id)
  })
  return {
    list: inWorkspace(
      (
        workspaceId,
        { query }: { readonly params: InWorkspace; readonly query: TaskQuery<Status> }
      ) => tasks.list(workspaceId, query)
    ),

    create: inWorkspace(
      (
        workspaceId,
        {
          headers,
          payload
        }: { readonly params: InWorkspace; readonly headers: Keyed; readonly payload: Input }
      ) =>
        Effect.andThen(
          prepare(workspaceId, payload, "a new task"),
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `${name}.create`,
            payload,
            answer: answers.task
          })(tasks.create(workspaceId, payload))
        )
    ),

    createMany: inWorkspace(
      (
        workspaceId,
        {
          headers,
          payload
        }: {
          readonly params: InWorkspace
          readonly headers: Keyed
          readonly payload: { readonly items: ReadonlyArray<Input> }
        }
      ) =>
        batches.create(
          {
            key: headers["idempotency-key"],
            workspaceId,
            operation: `${name}.createMany`,
            items: payload.items,
            answer: answers.batch
          },
          (
            input
          ): Effect.Effect<Task, NotFound | Conflict | QuotaExceeded | ValidationFailed | F> =>
            tasks.create(workspaceId, input),
          (input) => prepare(workspaceId, input, "a new task")
        )
    ),

    get: inWorkspace((workspaceId, { params }: { readonly params: OfTask }) =>
      withETag(tasks.get(workspaceId, idIn(params)))
    ),

    upsert: inWorkspace(
      (
        workspaceId,
        {
          headers,
          params,
          payload
        }: {
          readonly params: InWorkspace & { readonly key: string }
          readonly headers: Expecting
          readonly payload: Definition
        }
      ) =>
        Effect.andThen(
          prepare(workspaceId, payload, "a change"),
          upsertResponse(
            tasks.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
          )
        )
    ),

    update: inWorkspace(
      (
        workspaceId,
        {
          headers,
          params,
          payload
        }: { readonly params: OfTask; readonly headers: Expecting; readonly payload: Update }
      ) =>
        Effect.andThen(
          prepare(workspaceId, payload, "a change"),
          tasks.update(workspaceId, idIn(params), withExpectedVersion(headers, payload))
        )
    ),

    delete: inWorkspace(
      (
        workspaceId,
        { headers, params }: { readonly params: OfTask; readonly headers: Expecting }
      ) => tasks.remove(workspaceId, idIn(params), ifMatchVersion(headers))
    ),

    ...versionHandlers(idIn, tasks, (workspaceId, definition) =>
      prepare(workspaceId, definition as Definition, "a change")
    ),

    run: inWorkspace(
      (
        workspaceId,
        {
          headers,
          params,
          payload
        }: { readonly params: OfTask; readonly headers: Keyed; readonly payload: RunRequest }
      ) =>
        tasks.run(workspaceId, idIn(params), payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `${name}.run ${idIn(params)}`,
            payload,
            answer: answers.run
          })
        )
    )
  }
})
