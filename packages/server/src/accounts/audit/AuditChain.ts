import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, dayMs, hourMs, loop, Secrets } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"
import { AuditLog } from "./AuditLog.ts"
import {
  AuditChainRepo,
  type AuditChainLink,
  type SignedAuditChainEnd,
  type SignedAuditEvent
} from "./AuditChainRepo.ts"
import {
  createMac,
  type AuditChainEnd,
  checkMac,
  attestedChainEnd,
  hashEvent,
  attestedLinkedEvent,
  attestedUnlinkedEvent
} from "./auditChainHashes.ts"
import { type AuditChainReport, verifyAuditChain } from "./verifyAuditChain.ts"

/**
 * Links all audit events in one hash chain, so that no event can be changed, inserted or removed
 * unnoticed. A change writes its event, with a MAC, in its own transaction. The event is linked
 * soon after the commit, so that concurrent changes need not wait for each other to extend the
 * chain.
 */
export class AuditChain extends Context.Service<
  AuditChain,
  {
    /**
     * Verifies the whole chain. If `knownHash` is given, also verifies that the log has an event
     * with this hash.
     */
    readonly verify: (knownHash?: string) => Effect.Effect<AuditChainReport>
    /** Replaces the MACs made with a retired `APP_SECRET`, and returns how many were replaced. */
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

      const signEnd = (end: AuditChainEnd): SignedAuditChainEnd => ({
        ...end,
        mac: createMac(ring, attestedChainEnd(end))
      })

      /**
       * Returns the recorded end from which the chain can be continued. An end without a valid MAC
       * was either tampered with or signed by a node with a newer secret. If no such node continues
       * the chain in time, this node continues it after a gap, which `verify` reports for as long
       * as the events are kept.
       */
      const findExtendableEnd = Effect.fnUntraced(function* (
        end: SignedAuditChainEnd,
        hasWaited: boolean
      ) {
        if (checkMac(ring, attestedChainEnd(end), end.mac) === "valid") return end
        const last = yield* repo.findLastOrdinal
        if (end.ordinal === 0 && last === 0) return end
        if (!hasWaited) return
        yield* Effect.logError(
          "the end of the audit log was changed, or signed with a secret that this node does not have (APP_SECRET_PREVIOUS): the log continues after a gap"
        )
        return { ordinal: Math.max(end.ordinal, last) + 1, hash: "", at: null }
      })

      /**
       * Links a batch of events. Returns the last event's id if there may be more events to link.
       */
      const linkBatch = Effect.fnUntraced(function* (afterId: string) {
        const signedEnd = yield* repo.lockEnd
        const events = yield* repo.listUnlinked(afterId, maxLinkedAtOnce)
        const [first] = events
        if (first === undefined) return
        const now = yield* DateTime.nowAsDate
        // The absolute difference is used, because an attacker could have written a time in the
        // future.
        const hasWaited = ({ created_at }: { readonly created_at: Date }) =>
          Math.abs(now.getTime() - created_at.getTime()) > waitForNewerNodesMs
        const from = yield* findExtendableEnd(signedEnd, hasWaited(first))
        if (from === undefined) return
        let { at, hash, ordinal }: AuditChainEnd = from
        const links: Array<AuditChainLink> = []
        for (const event of events) {
          const isValid = checkMac(ring, attestedUnlinkedEvent(event), event.mac) === "valid"
          // A node with a newer secret may be able to verify the MAC. If no such node links the
          // event in time, this node links it with its MAC unchanged, and `verify` reports it.
          if (!isValid && !hasWaited(event)) continue
          const position = { ordinal: ordinal + 1, previous_hash: hash, previous_at: at }
          hash = hashEvent(event, position)
          ordinal = position.ordinal
          at = event.created_at
          const mac = isValid ? createMac(ring, attestedLinkedEvent(ordinal, hash)) : event.mac
          links.push({ id: event.id, ...position, hash, mac })
        }
        if (links.length > 0) yield* repo.updateLinks(links, signEnd({ ordinal, hash, at }))
        return events.length === maxLinkedAtOnce ? events.at(-1)?.id : undefined
      }, transaction)

      const linkAll = Effect.gen(function* () {
        let afterId: string | undefined = firstId
        while (afterId !== undefined) afterId = yield* linkBatch(afterId)
      })

      yield* Effect.forkScoped(
        loop("linking audit events", linkAll, {
          between: () => Effect.andThen(recorded.wait(pollMs), waitForMoreEvents),
          pauseAtMost: "1 minute"
        })
      )

      const renewedMac = (event: SignedAuditEvent) => {
        const { hash, mac, ordinal } = event
        const attested =
          ordinal === null || hash === null
            ? attestedUnlinkedEvent(event)
            : attestedLinkedEvent(ordinal, hash)
        return checkMac(ring, attested, mac) === "valid" ? createMac(ring, attested) : undefined
      }

      const renewEnd = Effect.gen(function* () {
        const end = yield* repo.lockEnd
        if (end.mac.startsWith(`${ring[0].id}.`)) return
        if (checkMac(ring, attestedChainEnd(end), end.mac) === "valid")
          yield* repo.updateEnd(signEnd(end))
      }).pipe(transaction)

      return AuditChain.of({
        verify: Effect.fn("AuditChain.verify")(function* (knownHash) {
          const now = yield* DateTime.nowAsDate
          return yield* verifyAuditChain(repo, ring, {
            // The margin is one day, because expired events are deleted only every ten minutes, and
            // only while a node runs.
            expiredBefore: new Date(now.getTime() - (auditRetentionDays - 1) * dayMs),
            linkedBefore: new Date(now.getTime() - waitForNewerNodesMs),
            knownHash
          })
        }),

        renewMacs: Effect.gen(function* () {
          let renewed = 0
          let afterId: string | undefined = firstId
          while (afterId !== undefined) {
            const events: ReadonlyArray<SignedAuditEvent> = yield* repo.listSignedByOtherKeys(
              ring[0].id,
              afterId,
              maxRenewedAtOnce
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
 * Waits for further events of the same batch. Otherwise, a node that creates hundreds of tasks per
 * second would spend a third of its time on linking batches of three events. The wait uses the
 * system clock, even in tests.
 */
const waitForMoreEvents = Effect.provideService(
  Effect.sleep(300),
  Clock.Clock,
  Clock.Clock.defaultValue()
)

/**
 * How long this node waits for nodes with a newer `APP_SECRET` to link events whose MACs it cannot
 * verify itself.
 */
const waitForNewerNodesMs = hourMs

const maxLinkedAtOnce = 500
const maxRenewedAtOnce = 500
