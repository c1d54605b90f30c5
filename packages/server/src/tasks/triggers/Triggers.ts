import { NotFound } from "@scheduling/domain/shared/Errors"
import type { TriggerInput, TriggerSender } from "@scheduling/domain/tasks/Trigger"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { AuditLog, currentAuthor } from "../../accounts/index.ts"
import { mac, orNotFound, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"
import type { CronOrChainRef } from "../TaskRow.ts"
import { type RequestedTriggerRow, type TriggerRow, TriggersRepo } from "./TriggersRepo.ts"

/** A task's trigger URL, with the secret part of the URL. */
export interface TaskTrigger {
  /** Null if the `APP_SECRET` that encrypted it is no longer configured. */
  readonly token: string | null
  readonly sender: TriggerSender | null
  readonly created_at: Date
}

/** The signature that requests must have. `secret` is null if it cannot be decrypted. */
export interface ExpectedSignature {
  readonly sender: TriggerSender
  readonly secret: string | null
}

/** The task that a trigger URL belongs to. */
export interface RequestedTrigger extends Pick<
  RequestedTriggerRow,
  "kind" | "lane" | "workspace_id"
> {
  readonly task_id: string
  readonly signature: ExpectedSignature | null
}

/** The trigger URLs of cron tasks and chains. A task has at most one. */
export class Triggers extends Context.Service<
  Triggers,
  {
    /** Finds the trigger of a task. Returns null if the trigger is turned off. */
    readonly find: (task: CronOrChainRef) => Effect.Effect<TaskTrigger | null, NotFound>
    /** Creates the URL unless it exists, and sets the signature. */
    readonly set: (
      task: CronOrChainRef,
      input: TriggerInput
    ) => Effect.Effect<TaskTrigger, NotFound>
    readonly rotate: (task: CronOrChainRef) => Effect.Effect<TaskTrigger, NotFound>
    readonly remove: (task: CronOrChainRef) => Effect.Effect<void, NotFound>
    /** Finds the task that a request runs, by the secret part of the request's URL. */
    readonly findByToken: (token: string) => Effect.Effect<RequestedTrigger, NotFound>
  }
>()("@scheduling/server/tasks/triggers/Triggers") {
  static readonly layer: Layer.Layer<
    Triggers,
    never,
    AuditLog | Secrets | SqlClient.SqlClient | TriggersRepo
  > = Layer.effect(
    Triggers,
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const repo = yield* TriggersRepo
      const secrets = yield* Secrets
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const hashing = secrets.keys("trigger-url")
      const shown = secrets.keys("trigger-url-shown")
      const signing = secrets.keys("trigger-secret")

      const toTrigger = ({ created_at, sealed_token, sender, task_id }: TriggerRow) => ({
        token: unsealIfKnown(shown, task_id, sealed_token) ?? null,
        sender,
        created_at
      })

      const find = Effect.fnUntraced(function* (task: CronOrChainRef) {
        const row = yield* repo.find(task)
        return row === undefined
          ? yield* new NotFound({ resource: task.kind === "cron" ? "task" : "chain" })
          : row
      })

      const makeUrl = Effect.fnUntraced(function* (id: string) {
        const token = randomBytes(32).toString("base64url")
        return {
          token_hash: mac(hashing[0], token),
          sealed_token: seal(shown, id, token),
          created_at: yield* DateTime.nowAsDate
        }
      })

      const lock = (task: CronOrChainRef) =>
        orNotFound(task.kind === "cron" ? "task" : "chain")(repo.lockTask(task))

      const record = Effect.fnUntraced(function* (
        action: "trigger.created" | "trigger.updated" | "trigger.rotated" | "trigger.deleted",
        { id, kind, workspaceId }: CronOrChainRef,
        details: { readonly name: string | null; readonly sender?: TriggerSender | null }
      ) {
        const { actor, origin } = yield* currentAuthor
        yield* audit.record({
          action,
          workspace_id: workspaceId,
          user_id: null,
          actor,
          subject_id: id,
          origin,
          details: { ...details, kind }
        })
      })

      return Triggers.of({
        find: Effect.fn("Triggers.find")(function* (task) {
          const row = yield* find(task)
          return row && toTrigger(row)
        }),

        set: Effect.fn("Triggers.set")(function* (task, { signature = null }) {
          const { name } = yield* lock(task)
          const before = yield* find(task)
          const { id, workspaceId } = task
          const row: TriggerRow = {
            ...(before ?? (yield* makeUrl(id))),
            task_id: id,
            workspace_id: workspaceId,
            sender: signature && signature.sender,
            sealed_secret: signature && seal(signing, id, Redacted.value(signature.secret))
          }
          yield* repo.save(row)
          const action = before === null ? "trigger.created" : "trigger.updated"
          yield* record(action, task, { name, sender: row.sender })
          return toTrigger(row)
        }, transaction),

        rotate: Effect.fn("Triggers.rotate")(function* (task) {
          const { name } = yield* lock(task)
          const before = yield* find(task)
          if (before === null) return yield* new NotFound({ resource: "trigger", message: isOff })
          const row = { ...before, ...(yield* makeUrl(task.id)) }
          yield* repo.save(row)
          yield* record("trigger.rotated", task, { name })
          return toTrigger(row)
        }, transaction),

        remove: Effect.fn("Triggers.remove")(function* (task) {
          const { name } = yield* lock(task)
          if (yield* repo.remove(task)) yield* record("trigger.deleted", task, { name })
        }, transaction),

        findByToken: Effect.fn("Triggers.findByToken")(function* (token) {
          const found = yield* repo.findByHash(hashing.map((key) => mac(key, token)))
          if (Option.isNone(found)) return yield* unknownTriggerError
          const { kind, lane, sealed_secret, sender, task_id, workspace_id } = found.value
          const secret =
            sealed_secret === null ? undefined : unsealIfKnown(signing, task_id, sealed_secret)
          const signature = sender && { sender, secret: secret ?? null }
          return { kind, lane, signature, task_id, workspace_id }
        })
      })
    })
  )
}

export const unknownTriggerError = new NotFound({
  resource: "trigger",
  message: "No trigger at this URL. It was turned off or replaced, or its task was deleted."
})

const isOff = "The task has no trigger URL. Turn it on first."
