import { MonitorId } from "@scheduling/domain/shared/Ids"
import type { TlsCheckResult, TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Context, Effect, FiberSet, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { loop, Waker } from "../../core/index.ts"
import { type NewOutboxEvent, Outbox } from "../../events/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { type SslStatusDecision, decideSslStatus } from "./decideSslStatus.ts"
import { makeCheckCertificate } from "./makeCheckCertificate.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"
import { type SslRow, sslTable } from "./SslRow.ts"

export interface SslCheckDetails {
  readonly verification?: SslVerification
  readonly message?: string
  readonly fingerprint_sha256?: string
  readonly duration_ms?: number
}

/**
 * The number of concurrent checks. A handshake takes 2 ms of CPU time, but waiting for an
 * unresponsive server takes 15 s.
 */
const checksAtOnce = 24
const checksOfWorkspace = 4

/** How long a check is leased. No check takes this long. */
const leaseMs = 60_000

/**
 * The maximum time between two queries for due checks. The queries are repeated, because another
 * node can make a check due earlier.
 */
const pollEveryMs = 1_000

export class CertificateChecks extends Context.Service<
  CertificateChecks,
  {
    /** Starts due checks up to the limit. Returns the milliseconds until the next call. */
    readonly startDue: Effect.Effect<number>
    readonly finished: Effect.Effect<void>
    /** Wakes the loop when a check has finished, so that it can start another check. */
    readonly waker: Waker
  }
>()("@scheduling/server/monitoring/ssl/CertificateChecks") {
  static readonly layer: Layer.Layer<
    CertificateChecks,
    never,
    Outbox | SqlClient.SqlClient | SslMonitorsRepo | StatusChanges | TlsProbe
  > = Layer.effect(
    CertificateChecks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const outbox = yield* Outbox
      const checkCertificate = yield* makeCheckCertificate
      const repo = yield* SslMonitorsRepo
      const statusChanges = yield* StatusChanges
      const waker = new Waker()
      const fibers = yield* FiberSet.make<void>()
      const run = yield* FiberSet.runtime(fibers)<never>()
      const runningChecks = new Map<AuthorizedWorkspaceId, number>()

      const count = (workspaceId: AuthorizedWorkspaceId, by: number) => {
        const left = (runningChecks.get(workspaceId) ?? 0) + by
        if (left === 0) runningChecks.delete(workspaceId)
        else runningChecks.set(workspaceId, left)
      }

      /**
       * Writes the result of a check, unless the monitor was changed or leased by another node in
       * the meantime.
       */
      const write = Effect.fnUntraced(function* (
        checked: SslRow,
        result: TlsCheckResult,
        duration_ms: number
      ) {
        const found = yield* repo.findForUpdate(checked.workspace_id, checked.monitor_id)
        if (Option.isNone(found) || found.value.row_version !== checked.row_version) return
        const row = found.value
        const at = yield* now
        const ms = at.getTime()
        const decision = decideSslStatus(row, row, result, ms, Math.random())
        const { cause, state } = decision
        const { status: from, workspace_id } = row
        const to = state.status
        // The former target's problem may still be open. It is dropped, so that a problem of the
        // new target is a separate one.
        if (from === "new" && to === "down") {
          yield* outbox.forget({ workspace_id, subject_id: row.id })
        }
        yield* statusChanges.write(sslTable, repo, row, {
          columns: { ...state, last_check_at: at, check_at: new Date(ms + decision.nextCheckMs) },
          changes:
            from === to ? [] : [{ from, to, at: ms, cause, endsFormerProblem: from === "new" }],
          events: toRecords(decision, result, duration_ms).map((record) => ({
            ...record,
            at: ms,
            status: to
          }))
        })
        yield* outbox.announce(...toAnnouncements(row, decision, at))
      }, transactionOf(sql))

      const check = Effect.fnUntraced(function* (row: SslRow) {
        const { duration_ms, result } = yield* checkCertificate(row)
        yield* write(row, result, duration_ms)
      })

      return CertificateChecks.of({
        waker,

        startDue: Effect.gen(function* () {
          const room = checksAtOnce - (yield* FiberSet.size(fibers))
          const next = room > 0 ? yield* repo.findNextCheck : undefined
          if (next === undefined) return pollEveryMs
          const at = yield* now
          const dueInMs = next.getTime() - at.getTime()
          if (dueInMs > 0) return Math.min(dueInMs, pollEveryMs)
          const rows = yield* repo.lease(at, {
            limit: room,
            ofWorkspace: checksOfWorkspace,
            until: new Date(at.getTime() + leaseMs),
            busy: [...runningChecks].flatMap(([id, checks]) =>
              checks < checksOfWorkspace ? [] : [id]
            )
          })
          for (const row of rows) {
            count(row.workspace_id, 1)
            run(
              check(row).pipe(
                Effect.catchCause((cause) =>
                  Effect.logWarning(
                    `cannot write the certificate check of monitor ${row.id}: it will be repeated within a minute`,
                    cause
                  )
                ),
                Effect.ensuring(
                  Effect.sync(() => {
                    count(row.workspace_id, -1)
                    waker.wake()
                  })
                )
              )
            )
          }
          // If no check was leased, either other nodes have leased the due checks, or the checks'
          // workspaces have reached their limit.
          return rows.length === 0 ? pollEveryMs : 0
        }),

        finished: FiberSet.awaitEmpty(fibers)
      })
    })
  )
}

/**
 * Checks certificates on every node that makes calls. If a node stops, the other nodes do its
 * checks.
 */
export const CertificateChecksLayer: Layer.Layer<never, never, CertificateChecks> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { startDue, waker } = yield* CertificateChecks
      yield* Effect.forkScoped(
        loop("checking certificates", startDue, { between: (ms) => waker.wait(ms) })
      )
    })
  )

const toRecords = (
  { expiringDays, isChanged }: SslStatusDecision,
  { certificate, message, verification }: TlsCheckResult,
  duration_ms: number
): ReadonlyArray<{ readonly type: string; readonly details: SslCheckDetails }> => {
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

const toAnnouncements = (
  { host, id, name, tags, workspace_id }: SslRow,
  { expiringDays, isChanged, state: { certificate, status } }: SslStatusDecision,
  at: Date
): ReadonlyArray<NewOutboxEvent> => {
  if (certificate === null) return []
  const base = { workspace_id, subject_id: id, tags, at }
  const about = { monitor: { id: MonitorId.make(id), kind: "ssl", status } } as const
  const first = [certificate, ...certificate.chain].reduce((a, b) =>
    a.valid_to <= b.valid_to ? a : b
  )
  const facts = [
    { name: "Host", value: host },
    { name: "Subject", value: certificate.subject },
    { name: "Issuer", value: certificate.issuer },
    { name: "Expires", value: new Date(first.valid_to).toISOString() }
  ]
  const changed: NewOutboxEvent = {
    ...base,
    event: "certificate.changed",
    data: { name, reason: `${host} presents a new certificate.`, facts, about }
  }
  const expiring: NewOutboxEvent = {
    ...base,
    event: "certificate.expiring",
    data: {
      name,
      reason: `${first === certificate ? "The certificate" : `An issuer of the certificate, ${first.subject},`} expires on ${new Date(first.valid_to).toISOString().slice(0, 10)}.`,
      facts,
      about
    }
  }
  return [...(isChanged ? [changed] : []), ...(expiringDays === null ? [] : [expiring])]
}
