import { executionError } from "@scheduling/domain/executions/ExecutionError"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { SigningSecretId } from "@scheduling/domain/shared/Ids"
import type {
  SigningSecret,
  SigningSecretGeneration
} from "@scheduling/domain/workspaces/SigningSecret"
import { deriveReceiverSecret } from "@scheduling/calls/signing"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Ids, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import { type PageRequest, timestampOf, timestampOrNull } from "../../store/index.ts"

/**
 * The root secrets of workspaces, encrypted at rest. Signing secrets are derived from them, one per
 * receiver (see `deriveReceiverSecret`). A workspace has one root secret, and two for a day after a
 * rotation. A secret whose `APP_SECRET` is no longer configured cannot be decrypted and is treated
 * as missing.
 */
export class SigningSecrets extends Context.Service<
  SigningSecrets,
  {
    readonly insert: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<SigningSecretGeneration>
    /**
     * Adds a secret. The previous secret stays valid for a day, and older secrets are deleted. The
     * workspace must be locked: otherwise two concurrent rotations would each add a secret, and
     * neither would expire the secret of the other.
     */
    readonly rotate: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<SigningSecretGeneration>
    /** Returns the secrets with which the receiver at the origin verifies signatures. */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      origin: string,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<SigningSecret>>
    /**
     * Returns the active root secrets of each workspace, newest first. A workspace without one
     * cannot send anything: see `signingError`.
     */
    readonly findLive: (
      workspaceIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<Redacted.Redacted>>>
  }
>()("@scheduling/server/engine/signing/SigningSecrets") {
  static readonly layer: Layer.Layer<SigningSecrets, never, Ids | Secrets | SqlClient.SqlClient> =
    Layer.effect(
      SigningSecrets,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ids = yield* Ids
        const ring = (yield* Secrets).keys("signing-secret")

        const openSecrets = (rows: ReadonlyArray<SigningSecretRow>) =>
          rows.flatMap((row) => {
            const text = unsealIfKnown(ring, row.workspace_id, row.sealed_secret)
            return text === undefined ? [] : [{ row, secret: redactSecret(text) }]
          })

        const insert = Effect.fn("SigningSecrets.insert")(function* (
          workspaceId: AuthorizedWorkspaceId
        ) {
          const text = `whsec_${randomBytes(32).toString("base64")}`
          const row: SigningSecretRow = {
            id: yield* ids.next,
            workspace_id: workspaceId,
            sealed_secret: seal(ring, workspaceId, text),
            expires_at: null,
            created_at: yield* DateTime.nowAsDate
          }
          yield* sql`INSERT INTO signing_secrets ${sql.insert({ ...row })}`
          return generationOf(row)
        }, Effect.orDie)

        return SigningSecrets.of({
          insert,

          rotate: Effect.fn("SigningSecrets.rotate")(function* (workspaceId) {
            const now = yield* DateTime.nowAsDate
            yield* sql`
            DELETE FROM signing_secrets
            WHERE workspace_id = ${workspaceId}
              AND expires_at IS NOT NULL`
            yield* sql`
            UPDATE signing_secrets
            SET expires_at = ${new Date(now.getTime() + rotationMs)}
            WHERE workspace_id = ${workspaceId}`
            return yield* insert(workspaceId)
          }, Effect.orDie),

          list: Effect.fn("SigningSecrets.list")(function* (workspaceId, origin, page) {
            const rows = yield* sql<SigningSecretRow>`
            SELECT *
            FROM signing_secrets
            WHERE workspace_id = ${workspaceId}
              AND (expires_at IS NULL OR expires_at > ${yield* DateTime.nowAsDate})
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
            return openSecrets(rows).map((one) => toSigningSecret(one, origin))
          }, Effect.orDie),

          findLive: Effect.fn("SigningSecrets.findLive")(function* (workspaceIds) {
            const rows = yield* sql<SigningSecretRow>`
            SELECT *
            FROM signing_secrets
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])
              AND (expires_at IS NULL OR expires_at > ${yield* DateTime.nowAsDate})
            ORDER BY id DESC`
            const live = new Map<string, Array<Redacted.Redacted>>()
            for (const { row, secret } of openSecrets(rows)) {
              live.set(row.workspace_id, [...(live.get(row.workspace_id) ?? []), secret])
            }
            return live
          }, Effect.orDie)
        })
      })
    )
}

interface SigningSecretRow {
  readonly id: string
  readonly workspace_id: string
  readonly sealed_secret: string
  readonly expires_at: Date | null
  readonly created_at: Date
}

const redactSecret = (text: string) => Redacted.make(text, { label: "signing_secret" })

const generationOf = (row: SigningSecretRow): SigningSecretGeneration => ({
  id: SigningSecretId.make(row.id),
  created_at: timestampOf(row.created_at),
  expires_at: timestampOrNull(row.expires_at)
})

const toSigningSecret = (
  {
    row,
    secret
  }: {
    readonly row: SigningSecretRow
    readonly secret: Redacted.Redacted
  },
  origin: string
): SigningSecret => ({
  ...generationOf(row),
  origin,
  call_secret: redactSecret(Option.getOrThrow(deriveReceiverSecret(secret, "call", origin))),
  message_secret: redactSecret(Option.getOrThrow(deriveReceiverSecret(secret, "message", origin)))
})

/**
 * The error of a call that cannot be signed. The call is not sent, because its target could not
 * verify it.
 */
export const signingError = executionError(
  "internal",
  "the workspace has no signing secret that can be decrypted: rotate it to get a new one"
)

const rotationMs = 24 * 60 * 60 * 1000
