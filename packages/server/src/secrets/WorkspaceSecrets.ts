import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { mask } from "@scheduling/domain/calls/credentialHeaders"
import type { Secret, SecretDefinition, SecretUse } from "@scheduling/domain/secrets/Secret"
import {
  Conflict,
  type NotFound,
  type QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { ChangeLog, changesOf, currentAuthor, type RecordedDefinition } from "../accounts/index.ts"
import { CallSecrets } from "../engine/index.ts"
import { Ids, orNotFound, seal, Secrets, type UpsertResult } from "../core/index.ts"
import { Limits } from "../plans/index.ts"
import { pageRequest, toPage, transactionOf } from "../store/index.ts"
import { type SecretRow, SecretsRepo, toSecret } from "./SecretsRepo.ts"

/**
 * Manages workspaces' secrets. Values are encrypted on arrival, and nothing in this module decrypts
 * them.
 */
export class WorkspaceSecrets extends Context.Service<
  WorkspaceSecrets,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<Secret>>
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      name: string,
      definition: SecretDefinition
    ) => Effect.Effect<UpsertResult<Secret>, NotFound | QuotaExceeded | ValidationFailed>
    /** Removes a secret. Fails while the secret is in use. */
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      name: string
    ) => Effect.Effect<void, NotFound | Conflict>
  }
>()("@scheduling/server/secrets/WorkspaceSecrets") {
  static readonly layer: Layer.Layer<
    WorkspaceSecrets,
    never,
    CallSecrets | ChangeLog | Ids | Limits | Secrets | SecretsRepo | SqlClient.SqlClient
  > = Layer.effect(
    WorkspaceSecrets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const callSecrets = yield* CallSecrets
      const changeLog = yield* ChangeLog
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* SecretsRepo
      const ring = (yield* Secrets).keys("secret")

      const shown = Effect.fnUntraced(function* (row: SecretRow) {
        const uses = yield* repo.findUses(row.workspace_id, [row.name])
        return toSecret(row, uses.get(row.name) ?? [])
      })

      const record = Effect.fnUntraced(function* (
        before: SecretRow | undefined,
        after?: SecretRow
      ) {
        const change = changeOf(before, after)
        yield* changeLog.record(change)
        yield* sql.afterCommit(callSecrets.changed(change.workspace_id))
      })

      const create = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        name: string,
        { allowed_hosts, description = null, value }: SecretDefinition
      ) {
        if (value === undefined) return yield* valueRequired("is required for a new secret")
        yield* limits.allowOneMore(workspaceId, "secrets")
        const id = yield* ids.next
        const now = yield* DateTime.nowAsDate
        const row = {
          id,
          workspace_id: workspaceId,
          name,
          description,
          allowed_hosts: distinct(allowed_hosts),
          value_set_at: now,
          created_by: (yield* currentAuthor).actor,
          updated_by: null,
          created_at: now,
          updated_at: now
        }
        const sealed_value = seal(ring, id, Redacted.value(value))
        if (!(yield* repo.insert({ ...row, sealed_value }))) return Option.none<SecretRow>()
        yield* record(undefined, row)
        return Option.some<SecretRow>(row)
      })

      const change = Effect.fnUntraced(function* (
        before: SecretRow,
        { allowed_hosts, description = null, value }: SecretDefinition
      ) {
        const hosts = distinct(allowed_hosts)
        // New hosts require the value, because a user who cannot read the value must not be able to
        // send it to their own server.
        if (value === undefined && hosts.some((host) => !before.allowed_hosts.includes(host))) {
          return yield* valueRequired("is required to add a host to allowed_hosts")
        }
        const same = isDeepStrictEqual(
          [hosts, description],
          [before.allowed_hosts, before.description]
        )
        if (value === undefined && same) return before
        const now = yield* DateTime.nowAsDate
        const row = {
          ...before,
          allowed_hosts: hosts,
          description,
          value_set_at: value === undefined ? before.value_set_at : now,
          updated_by: (yield* currentAuthor).actor,
          updated_at: now
        }
        yield* repo.update({
          ...row,
          ...(value !== undefined && { sealed_value: seal(ring, before.id, Redacted.value(value)) })
        })
        yield* record(before, row)
        return row
      })

      return WorkspaceSecrets.of({
        list: Effect.fn("WorkspaceSecrets.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const rows = yield* repo.list(workspaceId, page)
          const uses = yield* repo.findUses(
            workspaceId,
            rows.map(({ name }) => name)
          )
          return toPage(rows, page, (row) => toSecret(row, uses.get(row.name) ?? []))
        }),

        upsert: Effect.fn("WorkspaceSecrets.upsert")(function* (workspaceId, name, definition) {
          const known = yield* repo.findForUpdate(workspaceId, name)
          const made = Option.isNone(known)
            ? yield* create(workspaceId, name, definition)
            : Option.none<SecretRow>()
          if (Option.isSome(made)) return { isNew: true, record: yield* shown(made.value) }
          // If a concurrent request has just created the secret, this request updates it.
          const row = Option.isSome(known)
            ? known.value
            : yield* requireSecret(repo.findForUpdate(workspaceId, name))
          return { isNew: false, record: yield* shown(yield* change(row, definition)) }
        }, transaction),

        remove: Effect.fn("WorkspaceSecrets.remove")(function* (workspaceId, name) {
          const row = yield* requireSecret(repo.findForUpdate(workspaceId, name))
          const { used_by } = yield* shown(row)
          const [first] = used_by
          if (first !== undefined) {
            return yield* new Conflict({
              resource: "secret",
              existing_id: first.id,
              message: `${namesOf(used_by)} ${used_by.length === 1 ? "uses" : "use"} this secret. Change ${used_by.length === 1 ? "it" : "them"} first.`
            })
          }
          yield* repo.remove(workspaceId, name)
          yield* record(row)
        }, transaction)
      })
    })
  )
}

/**
 * Returns the definition for the change log. Each new value counts as a change, even if it equals
 * the old value.
 */
const definitionOf = (row: SecretRow): RecordedDefinition => {
  const { allowed_hosts, description, name, updated_at, value_set_at } = row
  const shown = { name, description, allowed_hosts, value: mask }
  const stored = { ...shown, value: value_set_at.toISOString() }
  const updated_by = row.updated_by ?? row.created_by
  return { version: 1, updated_at, updated_by, shown, stored }
}

const changeOf = changesOf("secret", definitionOf, ({ name }) => ({ id: name }))

const requireSecret = orNotFound("secret")

const distinct = (hosts: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(hosts.map((host) => host.toLowerCase()))
]

const valueRequired = (problem: string) =>
  Effect.fail(ValidationFailed.at(["value"], "required", problem))

/** The maximum number of uses that an error message names. */
const namedUses = 3

/**
 * Lists the uses in a phrase such as `The cron task "Nightly report", the chain "Close the day" and
 * 2 more`.
 */
const namesOf = (uses: ReadonlyArray<SecretUse>): string => {
  const named = uses
    .slice(0, namedUses)
    .map(({ id, kind, name }) => `the ${kind.replaceAll("_", " ")} "${name ?? id}"`)
  const rest = uses.length - named.length
  const all = rest > 0 ? [...named, `${rest} more`] : named
  const text = all.length === 1 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}
