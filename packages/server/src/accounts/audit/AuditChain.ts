import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, dayMs, hourMs, loop, Secrets } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"
import { AuditLog } from "./AuditLog.ts"
import {
  AuditChainRepo,
  type EventLink,
  type SignedEnd,
  type SignedEvent
} from "./AuditChainRepo.ts"
import {
  attest,
  type ChainEnd,
  checkMac,
  endOfChain,
  eventHashOf,
  linkedEvent,
  writtenEvent
} from "./chain.ts"
import { type ChainReport, verifyChain } from "./verifyChain.ts"

/**
 * Links all audit events of the service in one chain, so that no event can be changed, inserted or
 * removed unnoticed. An event is written with its MAC in the transaction of its change. Its link
 * follows right after the commit, so that changes do not wait for each other at the end of the
 * chain.
 */
export class AuditChain extends Context.Service<
  AuditChain,
  {
    /** With a known hash, also checks that its event is still in the log. */
    readonly verify: (knownHash?: string) => Effect.Effect<ChainReport>
    /** Renews the MACs that a retired `APP_SECRET` has made. Returns how many there were. */
    readonly renewMacs: Effect.Effect<number>
  }
>()("@scheduling/server/accounts/audit/AuditChain") {
  static readonly layer: Layer.Layer<
    AuditChain,
    never,
    AppConfig | AuditLog | Secrets | SqlClient.SqlClient
  > = Layer.effect(
    AuditChain,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { recorded } = yield* AuditLog
      const { auditRetentionDays } = yield* AppConfig
      const repo = yield* AuditChainRepo
      const ring = (yield* Secrets).keys("audit-chain")

      const signed = (end: ChainEnd): SignedEnd => ({ ...end, mac: attest(ring, endOfChain(end)) })

      /**
       * The end from which the chain continues. An end without a valid MAC was changed, or another
       * node has signed it with a newer secret. If no node continues it in time, this node does so
       * after a gap, which `verify` reports for as long as events are kept.
       */
      const extendableEnd = Effect.fnUntraced(function* (end: SignedEnd, hasWaited: boolean) {
        if (checkMac(ring, endOfChain(end), end.mac) === "valid") return end
        const last = yield* repo.findLastOrdinal
        if (end.ordinal === 0 && last === 0) return end
        if (!hasWaited) return
        yield* Effect.logError(
          "the end of the audit log was changed, or signed with a secret that is not given; the log goes on after a gap"
        )
        return { ordinal: Math.max(end.ordinal, last) + 1, hash: "", at: null }
      })

      /** Returns the id from which to continue, if there may be more. */
      const linkSome = Effect.fnUntraced(function* (afterId: string) {
        const signedEnd = yield* repo.lockEnd
        const events = yield* repo.listUnlinked(afterId, linkedAtOnce)
        const [first] = events
        if (first === undefined) return
        const now = yield* DateTime.nowAsDate
        // The absolute difference, because somebody may have written a time in the future.
        const hasWaited = ({ created_at }: { readonly created_at: Date }) =>
          Math.abs(now.getTime() - created_at.getTime()) > waitForNewerNodesMs
        const from = yield* extendableEnd(signedEnd, hasWaited(first))
        if (from === undefined) return
        let { at, hash, ordinal }: ChainEnd = from
        const links: Array<EventLink> = []
        for (const event of events) {
          const isValid = checkMac(ring, writtenEvent(event), event.mac) === "valid"
          // A node with a newer secret may know the MAC. After that time the event is linked with
          // the MAC that it has, and verification reports it.
          if (!isValid && !hasWaited(event)) continue
          const position = { ordinal: ordinal + 1, previous_hash: hash, previous_at: at }
          hash = eventHashOf(event, position)
          ordinal = position.ordinal
          at = event.created_at
          const mac = isValid ? attest(ring, linkedEvent(ordinal, hash)) : event.mac
          links.push({ id: event.id, ...position, hash, mac })
        }
        if (links.length > 0) yield* repo.updateLinks(links, signed({ ordinal, hash, at }))
        return events.length === linkedAtOnce ? events.at(-1)?.id : undefined
      }, transaction)

      const linkAll = Effect.gen(function* () {
        let afterId: string | undefined = firstId
        while (afterId !== undefined) afterId = yield* linkSome(afterId)
      })

      // Any node links the events of a node that died before it linked them.
      yield* Effect.forkScoped(
        loop("linking audit events", linkAll, {
          between: () => recorded.wait(checkAgainMs),
          pauseAtMost: "1 minute"
        })
      )

      const renewedMac = (event: SignedEvent) => {
        const { hash, mac, ordinal } = event
        const attested =
          ordinal === null || hash === null ? writtenEvent(event) : linkedEvent(ordinal, hash)
        return checkMac(ring, attested, mac) === "valid" ? attest(ring, attested) : undefined
      }

      const renewEnd = Effect.gen(function* () {
        const end = yield* repo.lockEnd
        if (end.mac.startsWith(`${ring[0].id}.`)) return
        if (checkMac(ring, endOfChain(end), end.mac) === "valid") yield* repo.updateEnd(signed(end))
      }).pipe(transaction)

      return AuditChain.of({
        verify: Effect.fn("AuditChain.verify")(function* (knownHash) {
          const now = yield* DateTime.nowAsDate
          return yield* verifyChain(repo, ring, {
            // One day more, because expired events are removed only every ten minutes while a node
            // runs.
            expiredBefore: new Date(now.getTime() - (auditRetentionDays - 1) * dayMs),
            linkedBefore: new Date(now.getTime() - waitForNewerNodesMs),
            knownHash
          })
        }),

        renewMacs: Effect.gen(function* () {
          let renewed = 0
          let afterId: string | undefined = firstId
          while (afterId !== undefined) {
            const events: ReadonlyArray<SignedEvent> = yield* repo.listSignedOtherwise(
              ring[0].id,
              afterId,
              renewedAtOnce
            )
            const macs = events.flatMap((event) => {
              const to = renewedMac(event)
              return to === undefined ? [] : [{ id: event.id, from: event.mac, to }]
            })
            if (macs.length > 0) yield* repo.updateMacs(macs)
            renewed += macs.length
            afterId = events.at(-1)?.id
          }
          yield* renewEnd
          return renewed
        }).pipe(Effect.withSpan("AuditChain.renewMacs"))
      })
    })
  ).pipe(Layer.provide(AuditChainRepo.layer))
}

const firstId = "00000000-0000-0000-0000-000000000000"

const checkAgainMs = 10 * 60_000

/**
 * While `APP_SECRET` changes, the nodes with the new secret link the events that others cannot
 * verify.
 */
const waitForNewerNodesMs = hourMs

const linkedAtOnce = 500
const renewedAtOnce = 500
