import type { Session, SignInMethod } from "@scheduling/domain/auth/Session"
import type { Role } from "@scheduling/domain/members/Role"
import { SessionId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { batchRequests, columnsOf, type PageRequest, timestampOf } from "../../store/index.ts"

export interface SessionRow {
  readonly id: string
  readonly user_id: string
  readonly user_agent: string | null
  readonly ip: string | null
  readonly began_with: SignInMethod
  readonly generation: number
  readonly rotated_at: Date
  readonly expires_at: Date
  readonly created_at: Date
}

export const toSession = (row: SessionRow, current: string): Session => ({
  id: SessionId.make(row.id),
  user_agent: row.user_agent,
  ip: row.ip,
  began_with: row.began_with,
  created_at: timestampOf(row.created_at),
  last_used_at: timestampOf(row.rotated_at),
  current: row.id === current
})

export interface SessionRotation {
  readonly id: string
  readonly generation: number
  readonly now: Date
  readonly expires_at: Date
}

/** A session's user, and the user's role in the path's workspace. */
export interface SessionUser {
  readonly user_id: string
  readonly lane: bigint
  readonly expires_at: Date
  readonly role: Role | null
  readonly name: string | null
  /** The service account's name. Null for a person. */
  readonly service_account: string | null
}

export class SessionsRepo extends Context.Service<
  SessionsRepo,
  {
    /**
     * Inserts a session, and deletes all but the user's `keep` most recently used sessions. Locks
     * the user's row. Returns false if the account is disabled or its password has changed since it
     * was checked, because a login in progress must not survive a password change.
     */
    readonly insert: (
      session: SessionRow,
      checked: { readonly password_hash: string; readonly keep: number }
    ) => Effect.Effect<boolean>
    readonly find: (id: string) => Effect.Effect<Option.Option<SessionRow>>
    /**
     * Finds a session. Concurrent requests share one statement. The result is not cached, so that a
     * logout takes effect immediately.
     */
    readonly findLive: (
      id: string,
      workspaceId: string | undefined
    ) => Effect.Effect<Option.Option<SessionUser>>
    readonly list: (
      userId: string,
      now: Date,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<SessionRow>>
    /** Rotates a session's refresh token. Returns none if the session's generation has changed. */
    readonly rotate: (rotation: SessionRotation) => Effect.Effect<Option.Option<SessionRow>>
    readonly remove: (userId: string, id: string) => Effect.Effect<boolean>
    readonly removeAll: (userId: string) => Effect.Effect<number>
  }
>()("@scheduling/server/accounts/sessions/SessionsRepo") {
  static readonly layer: Layer.Layer<SessionsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SessionsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const findLive = yield* batchRequests(findAllLive(sql))

      return SessionsRepo.of({
        insert: Effect.fn("SessionsRepo.insert")(function* (session, { keep, password_hash }) {
          const rows = yield* sql`
            WITH locked AS MATERIALIZED (
              SELECT id, lane
              FROM users
              WHERE id = ${session.user_id}
                AND password_hash = ${password_hash}
                AND disabled_at IS NULL
              FOR NO KEY UPDATE
            ), ended AS (
              DELETE FROM sessions
              WHERE id IN (
                SELECT sessions.id
                FROM sessions
                JOIN locked ON locked.id = sessions.user_id
                ORDER BY rotated_at DESC
                OFFSET ${keep - 1}
              )
            )
            INSERT INTO sessions (
              id, user_id, lane, user_agent, ip, began_with, generation, rotated_at, expires_at,
              created_at
            )
            SELECT
              ${session.id}::uuid, id, lane, ${session.user_agent}, ${session.ip},
              ${session.began_with}, ${session.generation}::integer,
              ${session.rotated_at}::timestamptz,
              ${session.expires_at}::timestamptz, ${session.created_at}::timestamptz
            FROM locked
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        find: Effect.fn("SessionsRepo.find")(function* (id) {
          const rows = yield* sql<SessionRow>`
            SELECT *
            FROM sessions
            WHERE id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findLive: (id, workspaceId) => findLive({ id, workspaceId }),

        list: Effect.fn("SessionsRepo.list")(function* (userId, now, page) {
          return yield* sql<SessionRow>`
            SELECT *
            FROM sessions
            WHERE user_id = ${userId}
              AND expires_at > ${now}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        rotate: Effect.fn("SessionsRepo.rotate")(function* ({ expires_at, generation, id, now }) {
          const rows = yield* sql<SessionRow>`
            UPDATE sessions
            SET generation = generation + 1, rotated_at = ${now}, expires_at = ${expires_at}
            WHERE id = ${id}
              AND generation = ${generation}
              AND expires_at > ${now}
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        remove: Effect.fn("SessionsRepo.remove")(function* (userId, id) {
          const rows = yield* sql`
            DELETE FROM sessions
            WHERE id = ${id}
              AND user_id = ${userId}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        removeAll: Effect.fn("SessionsRepo.removeAll")(function* (userId) {
          const rows = yield* sql`
            DELETE FROM sessions
            WHERE user_id = ${userId}
            RETURNING id`
          return rows.length
        }, Effect.orDie)
      })
    })
  )
}

interface RequestedSession {
  readonly id: string
  readonly workspaceId: string | undefined
}

const findAllLive = (sql: SqlClient.SqlClient) => (asked: ReadonlyArray<RequestedSession>) => {
  const column = columnsOf(asked)
  return sql<SessionUser & { readonly nr: number }>`
    SELECT
      asked.nr::int, sessions.user_id, sessions.lane, sessions.expires_at, memberships.role,
      users.name, CASE WHEN users.workspace_id IS NOT NULL THEN users.name END AS service_account
    FROM unnest(
      ${column("uuid", ({ id }) => id)}, ${column("uuid", ({ workspaceId }) => workspaceId)}
    ) WITH ORDINALITY AS asked (id, workspace_id, nr)
    JOIN sessions ON sessions.id = asked.id
    JOIN users ON users.id = sessions.user_id
    LEFT JOIN memberships
      ON memberships.user_id = sessions.user_id
      AND memberships.workspace_id = asked.workspace_id`.pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const found = new Map(rows.map((row) => [row.nr, row]))
      return asked.map((_, index) => Option.fromNullishOr(found.get(index + 1)))
    })
  )
}
