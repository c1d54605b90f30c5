import { Clock, Context, DateTime, Effect, Layer } from "effect"
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
  hashEvent,
  linkedEvent,
  writtenEvent
} from "./chainHashes.ts"
import { type ChainReport, verifyChain } from "./verifyChain.ts"

/**
 * Links all audit events in one hash chain, so that no event can be changed, inserted or removed
 * unnoticed. The transaction of a change writes its event with a MAC. The event is linked right
 * after the commit, so that changes do not wait for each other at the end of the chain.
 */
export class AuditChain extends Context.Service<
  AuditChain,
  {
    /** Verifies the whole chain. With a known hash, also verifies that its event is in the log. */
    readonly verify: (knownHash?: string) => Effect.Effect<ChainReport>
    /** Replaces MACs made with a retired `APP_SECRET`, and returns their number. */
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
       * Returns the recorded end from which the chain continues. An end without a valid MAC was
       * changed, or signed by a node with a newer secret. If no such node continues the chain in
       * time, this node continues it after a gap, which `verify` reports for as long as events are
       * kept.
       */
      const findExtendableEnd = Effect.fnUntraced(function* (end: SignedEnd, hasWaited: boolean) {
        if (checkMac(ring, endOfChain(end), end.mac) === "valid") return end
        const last = yield* repo.findLastOrdinal
        if (end.ordinal === 0 && last === 0) return end
        if (!hasWaited) return
        yield* Effect.logError(
          "the end of the audit log was changed, or signed with a secret that this node does not have (APP_SECRET_PREVIOUS): the log continues after a gap"
        )
        return { ordinal: Math.max(end.ordinal, last) + 1, hash: "", at: null }
      })

      /** Links a batch of events. Returns the id of the last one if more may follow. */
      const linkBatch = Effect.fnUntraced(function* (afterId: string) {
        const signedEnd = yield* repo.lockEnd
        const events = yield* repo.listUnlinked(afterId, linkedAtOnce)
        const [first] = events
        if (first === undefined) return
        const now = yield* DateTime.nowAsDate
        // The difference is absolute, because an attacker could have written a time in the future.
        const hasWaited = ({ created_at }: { readonly created_at: Date }) =>
          Math.abs(now.getTime() - created_at.getTime()) > waitForNewerNodesMs
        const from = yield* findExtendableEnd(signedEnd, hasWaited(first))
        if (from === undefined) return
        let { at, hash, ordinal }: ChainEnd = from
        const links: Array<EventLink> = []
        for (const event of events) {
          const isValid = checkMac(ring, writtenEvent(event), event.mac) === "valid"
          // A node with a newer secret may be able to verify the MAC. After the wait, the event is
          // linked with the MAC that it has, and `verify` reports it.
          if (!isValid && !hasWaited(event)) continue
          const position = { ordinal: ordinal + 1, previous_hash: hash, previous_at: at }
          hash = hashEvent(event, position)
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
        while (afterId !== undefined) afterId = yield* linkBatch(afterId)
      })

      yield* Effect.forkScoped(
        loop("linking audit events", linkAll, {
          between: () => Effect.andThen(recorded.wait(pollMs), gather),
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
            // The margin is one day, because expired events are deleted every ten minutes, and only
            // while a node runs.
            expiredBefore: new Date(now.getTime() - (auditRetentionDays - 1) * dayMs),
            linkedBefore: new Date(now.getTime() - waitForNewerNodesMs),
            knownHash
          })
        }),

        renewMacs: Effect.gen(function* () {
          let renewed = 0
          let afterId: string | undefined = firstId
          while (afterId !== undefined) {
            const events: ReadonlyArray<SignedEvent> = yield* repo.listSignedByOtherKeys(
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

const pollMs = 10 * 60_000

/**
 * Waits for further events of the same batch. Without this, a node that creates hundreds of tasks
 * per second would spend a third of its time linking them in batches of three. The wait uses the
 * system clock, even in tests.
 */
const gather = Effect.provideService(Effect.sleep(300), Clock.Clock, Clock.Clock.defaultValue())

/** How long events with unknown MACs are left to nodes with a newer `APP_SECRET`. */
const waitForNewerNodesMs = hourMs

const linkedAtOnce = 500
const renewedAtOnce = 500
