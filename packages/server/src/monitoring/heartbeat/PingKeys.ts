import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Forbidden, InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Clock, Context, DateTime, Effect, Layer, Option, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { type Actor, AuditLog, makeWorkspaceLock, WorkspacesRepo } from "../../accounts/index.ts"
import { mac, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import { MinuteQuota } from "../../http/index.ts"
import { batchRequests, transactionOf } from "../../store/index.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { heartbeatMonitorKind } from "./heartbeatMonitorKind.ts"
import { type NamedHeartbeat, PingKeysRepo } from "./PingKeysRepo.ts"
import { PingUrls } from "./PingUrls.ts"

/** A workspace's ping key, and when it was created. */
export interface CreatedPingKey {
  readonly key: string
  readonly created_at: Date
}

/** How a ping URL names a heartbeat: by its workspace's ping key and its own key. */
export interface PingName {
  readonly pingKey: string
  readonly slug: string
}

/** The heartbeat that a ping names with a ping key, or why there is none. */
export type ResolvedPingName =
  | { readonly pingId: string; readonly isNew: boolean }
  | "full"
  | "unknown"

/**
 * The workspaces' ping keys. A ping URL can name a heartbeat by its workspace's ping key and its
 * own key.
 */
export class PingKeys extends Context.Service<
  PingKeys,
  {
    readonly find: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<CreatedPingKey | null>
    readonly rotate: (
      actor: Actor,
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<CreatedPingKey, Forbidden | InvalidToken | NotFound>
    readonly resolve: (name: PingName) => Effect.Effect<ResolvedPingName>
    /**
     * Finds the heartbeat. If the ping key is valid but the workspace has no such heartbeat,
     * creates it.
     */
    readonly resolveOrCreate: (name: PingName) => Effect.Effect<ResolvedPingName>
  }
>()("@scheduling/server/monitoring/heartbeat/PingKeys") {
  static readonly layer = Layer.effect(
    PingKeys,
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const clock = yield* Clock.Clock
      const heartbeats = yield* makeKindMonitors(yield* heartbeatMonitorKind)
      const lockAs = makeWorkspaceLock(yield* WorkspacesRepo)
      const repo = yield* PingKeysRepo
      const secrets = yield* Secrets
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const urls = yield* PingUrls
      const hashing = secrets.keys("ping-url")
      const shown = secrets.keys("ping-url-shown")
      const creations = new MinuteQuota()
      const creating = yield* Semaphore.make(creationsAtOnce)

      /** Finds the heartbeat that a ping names. Pings that arrive together share one statement. */
      const find = yield* batchRequests((names: ReadonlyArray<PingName>) => {
        const hashed = names.map(({ pingKey, slug }) => ({
          hashes: hashing.map((key) => mac(key, pingKey)),
          slug
        }))
        const named = hashed.flatMap(({ hashes, slug }) =>
          hashes.map((key_hash) => ({ key_hash, slug }))
        )
        return Effect.map(repo.findHeartbeats(named), (rows) =>
          hashed.map(({ hashes, slug }) =>
            rows.find((row) => row.slug === slug && hashes.includes(row.key_hash))
          )
        )
      })

      const pingOf = (found: NamedHeartbeat | undefined, isNew: boolean): ResolvedPingName => {
        if (found?.monitor_id == null || found.sealed_ping_id === null) return "unknown"
        const pingId = urls.open(found.monitor_id, found.sealed_ping_id)
        return pingId === null ? "unknown" : { pingId, isNew }
      }

      /**
       * Creates a heartbeat. Only a few are created concurrently, so that one workspace cannot
       * occupy all database connections.
       */
      const create = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        { slug }: PingName
      ) {
        if (!creations.take(workspaceId, clock.currentTimeMillisUnsafe())) return "full" as const
        return yield* heartbeats.create(workspaceId, { key: slug, name: slug, ...created }).pipe(
          Effect.as("created" as const),
          Effect.catchTag("Conflict", () => Effect.succeed("exists" as const)),
          Effect.catchTag("QuotaExceeded", () => Effect.succeed("full" as const)),
          Effect.orDie,
          creating.withPermit
        )
      })

      return PingKeys.of({
        find: Effect.fn("PingKeys.find")(function* (workspaceId) {
          const found = yield* repo.find(workspaceId)
          if (Option.isNone(found)) return null
          const { created_at, sealed_key } = found.value
          const key = unsealIfKnown(shown, workspaceId, sealed_key)
          return key === undefined ? null : { key, created_at }
        }),

        rotate: Effect.fn("PingKeys.rotate")(function* (actor, workspaceId) {
          yield* lockAs(workspaceId, actor, "admin")
          const key = randomBytes(16).toString("base64url")
          const created_at = yield* DateTime.nowAsDate
          yield* repo.replace({
            workspace_id: workspaceId,
            key_hash: mac(hashing[0], key),
            sealed_key: seal(shown, workspaceId, key),
            created_at
          })
          yield* audit.recordInWorkspace("ping_key.rotated", workspaceId, {
            actor_id: actor.user_id,
            subject_id: workspaceId,
            origin: actor.origin
          })
          return { key, created_at }
        }, transaction),

        resolve: (name) => Effect.map(find(name), (found) => pingOf(found, false)),

        resolveOrCreate: Effect.fn("PingKeys.resolveOrCreate")(function* (name) {
          const found = yield* find(name)
          if (found === undefined || found.monitor_id !== null) return pingOf(found, false)
          const outcome = yield* create(found.workspace_id, name)
          if (outcome === "full") return outcome
          return pingOf(yield* find(name), outcome === "created")
        })
      })
    })
  )
}

/**
 * The number of heartbeats that pings create concurrently. Each creation holds a database
 * connection while it waits for its workspace's lock.
 */
const creationsAtOnce = 2

/**
 * The timing of a heartbeat that a ping creates: once a day, which is also the default of
 * Healthchecks.
 */
const created = { period_seconds: 86_400, grace_seconds: 3_600 } as const
