import { type TlsLook, TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import type { SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Clock, Context, Effect, FiberSet, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type Announcement, Outbox } from "../../events/index.ts"
import { Doorbell, elapsedMs, loop } from "../../core/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { type KnownMonitor, MonitorsRepo } from "../MonitorsRepo.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { decideLook, type LookDecision } from "./decideLook.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"
import type { LookedAtRow } from "./SslRow.ts"

/** What is kept of a look. */
export interface LookDetails {
  readonly verification?: SslVerification
  readonly message?: string
  readonly fingerprint_sha256?: string
  readonly duration_ms?: number
}

/** Handshakes take the process 2 ms each, and servers that do not answer 15 s. */
const looksAtOnce = 24
const looksOfWorkspace = 4

/** Longer than a look takes: after that another node may look. */
const leaseMs = 60_000

/** Finds out by polling what another node made due sooner. */
const askAtLeastEveryMs = 1_000

/** Looks at the certificates that are due. */
export class Looks extends Context.Service<
  Looks,
  {
    /**
     * Begins with those for which there is room, and answers for how many milliseconds nothing else
     * is due.
     */
    readonly begin: Effect.Effect<number>
    /** Waits until all have ended that were begun. */
    readonly ended: Effect.Effect<void>
    /** Rings when there is room again. */
    readonly bell: Doorbell
  }
>()("@scheduling/server/monitoring/ssl/Looks") {
  static readonly layer: Layer.Layer<
    Looks,
    never,
    | MonitorEventsRepo
    | MonitorsRepo
    | Outbox
    | SqlClient.SqlClient
    | SslMonitorsRepo
    | StatusChanges
    | TlsProbe
  > = Layer.effect(
    Looks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const clock = yield* Clock.Clock
      const events = yield* MonitorEventsRepo
      const monitors = yield* MonitorsRepo
      const outbox = yield* Outbox
      const probe = yield* TlsProbe
      const repo = yield* SslMonitorsRepo
      const statusChanges = yield* StatusChanges
      const bell = new Doorbell()
      const fibers = yield* FiberSet.make<void>()
      const run = yield* FiberSet.runtime(fibers)<never>()
      const underWay = new Map<string, number>()

      const count = (workspaceId: string, by: number) => {
        const left = (underWay.get(workspaceId) ?? 0) + by
        if (left === 0) underWay.delete(workspaceId)
        else underWay.set(workspaceId, left)
      }

      /** Unless somebody changed the monitor while it was looked at, or took too long for it. */
      const write = Effect.fnUntraced(function* (
        lookedAt: LookedAtRow,
        look: TlsLook,
        duration_ms: number
      ) {
        const row = yield* repo.findForUpdate(lookedAt.workspace_id, lookedAt.monitor_id)
        if (Option.isNone(row) || row.value.version !== lookedAt.version) return
        const at = yield* now
        const decision = decideLook(row.value, row.value, look, at.getTime(), Math.random())
        const { cause, state } = decision
        const { monitor_id, status: from, workspace_id } = row.value
        const place = { monitor_id, workspace_id, at: at.getTime() }
        yield* repo.updateFound(row.value, state, at, new Date(at.getTime() + decision.afterMs))
        yield* events.insert(
          recordsOf(decision, look, duration_ms).map((record) => ({
            ...place,
            ...record,
            status: state.status
          }))
        )
        // Whoever heard that its former target was down hears that this one is, too.
        if (from === "new" && state.status === "down") {
          yield* outbox.forget({ workspace_id, subject_id: monitor_id })
        }
        if (from !== state.status) {
          yield* statusChanges.record([{ ...place, kind: "ssl", from, to: state.status, cause }])
        }
        if (decision.isChanged || decision.expiringDays !== null) {
          const [monitor] = yield* monitors.listKnown([monitor_id])
          yield* outbox.announce(...announcementsOf(row.value, decision, monitor, at))
        }
      }, transactionOf(sql))

      const lookAt = Effect.fnUntraced(function* (row: LookedAtRow) {
        const begunMs = elapsedMs(clock)
        const { host, port, protocol, server_name } = row
        const look = yield* probe.look({ host, port, protocol, server_name: server_name ?? host })
        yield* write(row, look, Math.round(elapsedMs(clock) - begunMs))
      })

      return Looks.of({
        bell,

        begin: Effect.gen(function* () {
          const room = looksAtOnce - (yield* FiberSet.size(fibers))
          const next = room > 0 ? yield* repo.findNextCheck : undefined
          if (next === undefined) return askAtLeastEveryMs
          const at = yield* now
          const dueInMs = next.getTime() - at.getTime()
          if (dueInMs > 0) return Math.min(dueInMs, askAtLeastEveryMs)
          const rows = yield* repo.findDueForUpdate(at, {
            limit: room,
            ofWorkspace: looksOfWorkspace,
            until: new Date(at.getTime() + leaseMs),
            busy: [...underWay].flatMap(([id, looks]) => (looks < looksOfWorkspace ? [] : [id]))
          })
          for (const row of rows) {
            count(row.workspace_id, 1)
            run(
              lookAt(row).pipe(
                Effect.catchCause((cause) => Effect.logWarning("a look was not written", cause)),
                Effect.ensuring(
                  Effect.sync(() => {
                    count(row.workspace_id, -1)
                    bell.ring()
                  })
                )
              )
            )
          }
          // Where nothing was taken, others have it, or those whose share is used up.
          return rows.length === 0 ? askAtLeastEveryMs : 0
        }),

        ended: FiberSet.awaitEmpty(fibers)
      })
    })
  )
}

/** On every node that runs something. What a node was looking at when it stopped others look at. */
export const LooksLayer: Layer.Layer<never, never, Looks> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { begin, bell } = yield* Looks
    yield* Effect.forkScoped(
      loop("looking at certificates", begin, { between: (ms) => bell.wait(ms) })
    )
  })
)

// ---------------------------------------------------------------------------

const recordsOf = (
  { expiringDays, isChanged }: LookDecision,
  { certificate, message, verification }: TlsLook,
  duration_ms: number
): ReadonlyArray<{ readonly type: string; readonly details: LookDetails }> => {
  const fingerprint =
    certificate === null ? {} : { fingerprint_sha256: certificate.fingerprint_sha256 }
  return [
    ...(isChanged ? [{ type: "certificate_changed", details: fingerprint }] : []),
    ...(expiringDays === null ? [] : [{ type: "certificate_expiring", details: fingerprint }]),
    {
      type: "check",
      details: {
        ...fingerprint,
        verification,
        duration_ms,
        ...(message === null ? {} : { message })
      }
    }
  ]
}

const announcementsOf = (
  { host }: LookedAtRow,
  { expiringDays, isChanged, state: { certificate } }: LookDecision,
  monitor: KnownMonitor | undefined,
  at: Date
): ReadonlyArray<Announcement> => {
  if (certificate === null || monitor === undefined) return []
  const { monitor_id, name, tags, workspace_id } = monitor
  const about = { workspace_id, subject_id: monitor_id, tags, at }
  const first = [certificate, ...certificate.chain].reduce((a, b) =>
    a.valid_to <= b.valid_to ? a : b
  )
  const facts = [
    { name: "Host", value: host },
    { name: "Subject", value: certificate.subject },
    { name: "Issuer", value: certificate.issuer },
    { name: "Expires", value: new Date(first.valid_to).toISOString() }
  ]
  const changed: Announcement = {
    ...about,
    event: "certificate.changed",
    data: { name, reason: `${host} shows another certificate.`, facts }
  }
  const expiring: Announcement = {
    ...about,
    event: "certificate.expiring",
    data: {
      name,
      reason: `${first === certificate ? "The certificate" : `An issuer of the certificate, ${first.subject},`} expires on ${new Date(first.valid_to).toISOString().slice(0, 10)}.`,
      facts
    }
  }
  return [...(isChanged ? [changed] : []), ...(expiringDays === null ? [] : [expiring])]
}
