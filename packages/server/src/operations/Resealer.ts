import { Effect, Layer } from "effect"
import { AuditChain } from "../accounts/index.ts"
import {
  loop,
  mac,
  type KeyPurpose,
  runAllInSequence,
  seal,
  Secrets,
  unsealIfKnown
} from "../core/index.ts"
import { type SealedColumn, SealedRepo, type SealedRow } from "./SealedRepo.ts"

interface Sealed extends SealedColumn {
  /** The name of these values in the log. */
  readonly name: string
  readonly purpose: KeyPurpose
  readonly contextOf: (row: SealedRow) => string
  /** The purpose of the key with which `hash` is computed. */
  readonly hashedFor?: KeyPurpose
}

/** All encrypted values. They exist nowhere in plain text. */
const allSealed: ReadonlyArray<Sealed> = [
  {
    name: "signing secrets",
    purpose: "signing-secret",
    table: "signing_secrets",
    id: "id",
    owner: "workspace_id",
    sealed: "sealed_secret",
    contextOf: ({ owner }) => owner
  },
  {
    name: "secrets of notification channels",
    purpose: "notification-channel",
    table: "notification_channels",
    id: "id",
    owner: "workspace_id",
    sealed: "sealed_secrets",
    contextOf: ({ id }) => id
  },
  {
    name: "secrets of workspaces",
    purpose: "secret",
    table: "secrets",
    id: "id",
    owner: "workspace_id",
    sealed: "sealed_value",
    contextOf: ({ id }) => id
  },
  {
    name: "passwords of status pages",
    purpose: "status-page",
    table: "status_pages",
    id: "id",
    owner: "workspace_id",
    sealed: "sealed_password",
    contextOf: ({ owner }) => owner
  },
  {
    name: "second factors",
    purpose: "totp",
    table: "totp",
    id: "user_id",
    owner: "user_id",
    sealed: "sealed_secret",
    contextOf: ({ id }) => id
  },
  {
    name: "tokens of identity providers",
    purpose: "provider-token",
    table: "provider_sessions",
    id: "session_id",
    owner: "session_id",
    sealed: "sealed_token",
    contextOf: ({ id }) => id
  },
  {
    name: "ping URLs",
    purpose: "ping-url-shown",
    table: "ping_urls",
    id: "monitor_id",
    owner: "workspace_id",
    sealed: "sealed_ping_id",
    contextOf: ({ id }) => id,
    hash: "ping_hash",
    hashedFor: "ping-url"
  },
  {
    name: "ping keys",
    purpose: "ping-url-shown",
    table: "ping_keys",
    id: "workspace_id",
    owner: "workspace_id",
    sealed: "sealed_key",
    contextOf: ({ id }) => id,
    hash: "key_hash",
    hashedFor: "ping-url"
  },
  {
    name: "trigger URLs",
    purpose: "trigger-url-shown",
    table: "task_triggers",
    id: "task_id",
    owner: "workspace_id",
    sealed: "sealed_token",
    contextOf: ({ id }) => id,
    hash: "token_hash",
    hashedFor: "trigger-url"
  },
  {
    name: "secrets of trigger URLs",
    purpose: "trigger-secret",
    table: "task_triggers",
    id: "task_id",
    owner: "workspace_id",
    sealed: "sealed_secret",
    contextOf: ({ id }) => id
  }
]

/**
 * Re-encrypts values that were encrypted with a retired `APP_SECRET`, using the current one. They
 * would become unreadable once the retired secret is removed. Values that no key can decrypt are skipped and
 * counted in the log. The work begins some time after the node has started, when the other nodes
 * have the new secret too.
 */
export const ResealerLayer: Layer.Layer<never, never, AuditChain | Secrets | SealedRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const audit = yield* AuditChain
      const repo = yield* SealedRepo
      const secrets = yield* Secrets

      const makeReseal = ({ contextOf, hashedFor, name, purpose, ...column }: Sealed) => {
        const ring = secrets.keys(purpose)
        const [current, ...retired] = ring
        let unknownBefore = 0
        let isOver = false

        return Effect.gen(function* () {
          if (isOver) return
          let renewed = 0
          const unknown: Array<string> = []
          let after: string | undefined = firstId
          while (after !== undefined) {
            const rows: ReadonlyArray<SealedRow> = yield* repo.listSealedOtherwise(
              column,
              current.id,
              after
            )
            for (const row of rows) {
              const text = unsealIfKnown(ring, contextOf(row), row.sealed)
              if (text === undefined) {
                unknown.push(row.id)
                continue
              }
              yield* repo.update(column, row, {
                sealed: seal(ring, contextOf(row), text),
                hash: hashedFor && mac(secrets.keys(hashedFor)[0], text)
              })
              renewed++
            }
            after = rows.at(-1)?.id
          }
          if (renewed > 0) {
            yield* Effect.logInfo(`encrypted ${renewed} ${name} with the current APP_SECRET`)
          }
          if (unknown.length > 0 && unknown.length !== unknownBefore) {
            yield* Effect.logWarning(
              `${unknown.length} ${name} cannot be decrypted, because the APP_SECRET that encrypted them ` +
                `is not configured (APP_SECRET_PREVIOUS): ${unknown.slice(0, shownIds).join(", ")}${unknown.length > shownIds ? ", …" : ""}`
            )
          }
          unknownBefore = unknown.length
          // As long as a retired secret is configured, other nodes may still encrypt values with
          // it.
          isOver = retired.length === 0
        })
      }

      let areMacsRenewed = false
      const renewMacs = Effect.gen(function* () {
        if (areMacsRenewed) return
        const renewed = yield* audit.renewMacs
        if (renewed > 0) yield* Effect.logInfo(`renewed the MACs of ${renewed} audit events`)
        // Once no MAC is left to renew, the audit log is not read again until the next start.
        areMacsRenewed = renewed === 0
      })

      const resealAll = runAllInSequence([...allSealed.map(makeReseal), renewMacs])
      yield* Effect.forkScoped(
        Effect.delay(
          loop("re-encrypting values of a retired APP_SECRET", resealAll, {
            between: () => Effect.sleep(resealInterval),
            pauseAtMost: "1 minute"
          }),
          resealInterval
        )
      )
    })
  )

const resealInterval = "10 minutes"

const firstId = "00000000-0000-0000-0000-000000000000"

/** The maximum number of ids in a log line. */
const shownIds = 10
