import { Effect, Layer } from "effect"
import { AuditChain } from "../accounts/index.ts"
import { eachInTurn, loop, mac, type Purpose, seal, Secrets, unsealIfKnown } from "../core/index.ts"
import { type SealedColumn, SealedRepo, type SealedRow } from "./SealedRepo.ts"

interface Sealed extends SealedColumn {
  /** The name in the log. */
  readonly name: string
  readonly purpose: Purpose
  /** The context that the value was bound to when it was sealed. */
  readonly contextOf: (row: SealedRow) => string
  /** The purpose of the key that makes `hash`. */
  readonly hashedFor?: Purpose
}

/** Sealed values that nobody could enter again, because they exist nowhere in plain text. */
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
    name: "second factors",
    purpose: "totp",
    table: "totp",
    id: "user_id",
    owner: "user_id",
    sealed: "sealed_secret",
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
  }
]

/**
 * Seals again what a retired `APP_SECRET` has sealed, because nobody could open it once that secret
 * is gone. Values that no key opens are skipped and counted in the log. It starts some time after
 * the node, when the other nodes know the new secret too: a node without it could open nothing of
 * this.
 */
export const ResealingLayer: Layer.Layer<never, never, AuditChain | Secrets | SealedRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const audit = yield* AuditChain
      const repo = yield* SealedRepo
      const secrets = yield* Secrets

      const resealing = ({ contextOf, hashedFor, name, purpose, ...column }: Sealed) => {
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
          if (renewed > 0) yield* Effect.logInfo(`sealed ${renewed} ${name} anew`)
          if (unknown.length > 0 && unknown.length !== unknownBefore) {
            yield* Effect.logWarning(
              `${unknown.length} ${name} cannot be opened, because the APP_SECRET that sealed them ` +
                `is gone: ${unknown.slice(0, shownIds).join(", ")}${unknown.length > shownIds ? ", …" : ""}`
            )
          }
          unknownBefore = unknown.length
          // Other nodes may still use a retired secret, but never one that no node has.
          isOver = retired.length === 0
        })
      }

      let areMacsRenewed = false
      const renewMacs = Effect.gen(function* () {
        if (areMacsRenewed) return
        const renewed = yield* audit.renewMacs
        if (renewed > 0) yield* Effect.logInfo(`renewed the MACs of ${renewed} audit events`)
        // Each node does this after its start, so the whole log need not be read again.
        areMacsRenewed = renewed === 0
      })

      const resealAll = eachInTurn([...allSealed.map(resealing), renewMacs])
      yield* Effect.forkScoped(
        Effect.delay(
          loop("sealing anew", resealAll, {
            between: () => Effect.sleep(every),
            pauseAtMost: "1 minute"
          }),
          every
        )
      )
    })
  )

const every = "10 minutes"

const firstId = "00000000-0000-0000-0000-000000000000"

/** A log line with thousands of ids helps nobody. */
const shownIds = 10
