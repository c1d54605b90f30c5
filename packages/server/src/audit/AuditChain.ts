import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../config/Config.ts"
import { loop } from "../platform/Loop.ts"
import { dayMs } from "../platform/millis.ts"
import { Secrets } from "../platform/Secrets.ts"
import { transactionOf } from "../sql/transaction.ts"
import { AuditLog } from "./AuditLog.ts"
import { AuditChainRepo, type ChainHead, type LinkedRow, type LinkRow } from "./AuditChainRepo.ts"
import { detailsMac, hashOf, isOneOf } from "./chain.ts"

export interface ChainReport {
  readonly events: number
  readonly problems: ReadonlyArray<string>
}

/**
 * Each event of a workspace carries the hash of the one before it, so that none can be changed,
 * added between others or taken out without notice. An event is written with its change; its link
 * follows right after the commit, so that changes do not wait for each other at the end of a chain.
 */
export class AuditChain extends Context.Service<
  AuditChain,
  {
    readonly verify: Effect.Effect<ChainReport>
  }
>()("@scheduling/server/audit/AuditChain") {
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

      const linkOne = Effect.fnUntraced(function* (workspaceId: string) {
        const head = Option.getOrUndefined(yield* repo.claimHead(workspaceId))
        if (head === undefined) return
        let { at, hash, ordinal } = head
        const links: Array<LinkRow> = []
        for (const event of yield* repo.listUnlinked(workspaceId, perWorkspace)) {
          const linked = { ordinal: ordinal + 1, previous_hash: hash, previous_at: at }
          const details_mac = detailsMac(ring, event.id, event.details)
          hash = hashOf(ring, event, details_mac, linked)
          ordinal = linked.ordinal
          at = event.created_at
          links.push({ id: event.id, ...linked, details_mac, hash })
        }
        if (links.length === 0) return
        yield* repo.updateLinks(links, { workspace_id: workspaceId, ordinal, hash, at })
      }, transaction)

      const isOurs = (event: LinkedRow) =>
        isOneOf(ring, event.hash, (key) => hashOf(key, event, event.details_mac, event))

      const problemWith = (
        event: LinkedRow,
        before: LinkedRow | undefined,
        isErased: boolean,
        cutoff: Date,
        isUnknown: boolean
      ): string | undefined => {
        if (!isUnknown) {
          if (!isOurs(event)) return "was changed"
          const said = (key: typeof ring) => detailsMac(key, event.id, event.details)
          if (!isErased && !isOneOf(ring, event.details_mac, said)) return "has other details"
        }
        if (before === undefined) {
          const isFirst = event.ordinal === 1 || (event.previous_at ?? cutoff) < cutoff
          return isFirst ? undefined : "has lost what came before it"
        }
        const follows = event.ordinal === before.ordinal + 1 && event.previous_hash === before.hash
        return follows ? undefined : "does not follow the one before it"
      }

      const verifyOne = Effect.fnUntraced(function* (head: ChainHead, cutoff: Date) {
        const isErased = yield* repo.isGone(head.workspace_id)
        const problems: Array<string> = []
        let before: LinkedRow | undefined
        let events = 0
        /** The oldest events, as long as none was made with a secret that is given. */
        let unknown = 0
        let page: ReadonlyArray<LinkedRow>
        do {
          page = yield* repo.listLinked(head.workspace_id, before?.ordinal ?? 0, pageSize)
          for (const event of page) {
            const isUnknown = unknown === events && !isOurs(event)
            if (isUnknown) unknown++
            events++
            const problem = problemWith(event, before, isErased, cutoff, isUnknown)
            if (problem !== undefined) {
              problems.push(`workspace ${head.workspace_id}: event ${event.id} ${problem}`)
            }
            before = event
          }
        } while (page.length === pageSize)
        if (unknown > 0) {
          const what = unknown === 1 ? "the oldest event" : `the oldest ${unknown} events`
          problems.push(
            `workspace ${head.workspace_id}: ${what} cannot be verified: made with a secret that is not given (APP_SECRET_PREVIOUS), or changed`
          )
        }
        // All of it may be older than events are kept.
        const isWhole =
          before === undefined
            ? head.ordinal === 0 || (head.at ?? cutoff) < cutoff
            : before.ordinal >= head.ordinal
        if (!isWhole) problems.push(`workspace ${head.workspace_id}: the last events are missing`)
        return { events, problems }
      })

      const link = Effect.gen(function* () {
        const waiting = yield* repo.listWaiting(workspacesAtOnce)
        for (const id of waiting) yield* linkOne(id)
        return waiting.length === workspacesAtOnce
      })

      // Events of a node that died before it linked them are linked by any other.
      yield* Effect.forkScoped(
        loop("linking audit events", link, {
          between: (hasMore) => (hasMore ? Effect.void : recorded.wait(lookAgainMs)),
          pauseAtMost: "1 minute"
        })
      )

      return AuditChain.of({
        verify: Effect.gen(function* () {
          const now = yield* DateTime.nowAsDate
          // A day more: expired events are removed every ten minutes, if the node runs.
          const cutoff = new Date(now.getTime() - (auditRetentionDays - 1) * dayMs)
          const problems: Array<string> = []
          let events = 0
          let after = "00000000-0000-0000-0000-000000000000"
          let heads: ReadonlyArray<ChainHead>
          do {
            heads = yield* repo.listHeads(after, pageSize)
            for (const head of heads) {
              const found = yield* verifyOne(head, cutoff)
              events += found.events
              problems.push(...found.problems)
              after = head.workspace_id
            }
          } while (heads.length === pageSize)
          return { events, problems }
        })
      })
    })
  ).pipe(Layer.provide(AuditChainRepo.layer))
}

const lookAgainMs = 10 * 60_000
const workspacesAtOnce = 100
const perWorkspace = 500
const pageSize = 1_000
