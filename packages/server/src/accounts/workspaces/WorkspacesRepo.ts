import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Role } from "@scheduling/domain/members/Role"
import type { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { type UserId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { isSoleOwner } from "../access/isSoleOwner.ts"
import type { Actor } from "../audit/currentActor.ts"
import { type PageRequest, timestampOf, timestampOrNull } from "../../store/index.ts"

export interface WorkspaceRow {
  readonly id: AuthorizedWorkspaceId
  readonly name: string
  readonly stopped_at: Date | null
  readonly created_at: Date
}

export const toWorkspace = (row: WorkspaceRow): Workspace => ({
  id: WorkspaceId.make(row.id),
  name: row.name,
  stopped_at: timestampOrNull(row.stopped_at),
  created_at: timestampOf(row.created_at)
})

export class WorkspacesRepo extends Context.Service<
  WorkspacesRepo,
  {
    readonly insert: (
      workspace: Omit<WorkspaceRow, "stopped_at">,
      ownerId: UserId
    ) => Effect.Effect<void>
    readonly find: (id: AuthorizedWorkspaceId) => Effect.Effect<Option.Option<WorkspaceRow>>
    readonly list: (userId: UserId, page: PageRequest) => Effect.Effect<ReadonlyArray<WorkspaceRow>>
    /** Locks a workspace until the transaction ends. Returns false if the workspace was deleted. */
    readonly lock: (id: AuthorizedWorkspaceId) => Effect.Effect<boolean>
    /** Finds a user's role in the workspace, and whether the user's session still exists. */
    readonly findSessionRole: (
      id: AuthorizedWorkspaceId,
      actor: Pick<Actor, "user_id" | "session_id">
    ) => Effect.Effect<{ readonly has_session: boolean; readonly role: Role | null }>
    readonly updateName: (
      id: AuthorizedWorkspaceId,
      name: string
    ) => Effect.Effect<Option.Option<WorkspaceRow>>
    readonly remove: (id: AuthorizedWorkspaceId) => Effect.Effect<Option.Option<WorkspaceRow>>
    readonly removeSolelyOwned: (userId: UserId) => Effect.Effect<ReadonlyArray<WorkspaceRow>>
  }
>()("@scheduling/server/accounts/workspaces/WorkspacesRepo") {
  static readonly layer: Layer.Layer<WorkspacesRepo, never, SqlClient.SqlClient> = Layer.effect(
    WorkspacesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const columns = sql.literal(`
        workspaces.id, workspaces.name, workspaces.created_at,
        (
          SELECT stopped_at
          FROM stopped_workspaces
          WHERE stopped_workspaces.workspace_id = workspaces.id
        ) AS stopped_at`)

      /**
       * Locks workspaces and their rows in the order that `transactionOf.ts` defines. The cascading
       * delete locks rows in any order and could otherwise deadlock: settling a run waits for its
       * pending task, and a ping for its monitor.
       */
      const lockAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        yield* sql`
          SELECT id
          FROM workspaces
          WHERE id = ANY (${ids}::uuid[])
          ORDER BY id
          FOR UPDATE`
        yield* sql`
          SELECT count(*)
          FROM (
            SELECT id
            FROM workers
            WHERE workspace_id = ANY (${ids}::uuid[])
            ORDER BY id
            FOR UPDATE
          ) AS held`
        yield* sql`
          SELECT count(*)
          FROM (
            SELECT id
            FROM tasks
            WHERE workspace_id = ANY (${ids}::uuid[])
              AND status = 'pending'
            ORDER BY id
            FOR UPDATE
          ) AS pending`
        for (const table of [
          "heartbeats",
          "ssl_monitors",
          "process_monitors",
          "checked_monitors"
        ]) {
          yield* sql`
            SELECT count(*)
            FROM (
              SELECT kind.monitor_id
              FROM monitors
              JOIN ${sql(table)} AS kind ON kind.monitor_id = monitors.id
              WHERE monitors.workspace_id = ANY (${ids}::uuid[])
              ORDER BY kind.monitor_id
              FOR UPDATE OF kind
            ) AS watched`
        }
      })

      return WorkspacesRepo.of({
        insert: Effect.fn("WorkspacesRepo.insert")(function* (workspace, ownerId) {
          yield* sql`
            INSERT INTO workspaces (id, name, lane, created_at)
            SELECT ${workspace.id}, ${workspace.name}, lane, ${workspace.created_at}
            FROM users
            WHERE id = ${ownerId}`
          yield* sql`
            INSERT INTO memberships (user_id, workspace_id, role, created_at)
            VALUES (${ownerId}, ${workspace.id}, 'owner', ${workspace.created_at})`
        }, Effect.orDie),

        find: Effect.fn("WorkspacesRepo.find")(function* (id) {
          const rows = yield* sql<WorkspaceRow>`
            SELECT ${columns}
            FROM workspaces
            WHERE id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fn("WorkspacesRepo.list")(function* (userId, page) {
          return yield* sql<WorkspaceRow>`
            SELECT ${columns}
            FROM memberships
            JOIN workspaces ON workspaces.id = memberships.workspace_id
            WHERE memberships.user_id = ${userId}
              AND memberships.workspace_id < ${page.before}
            ORDER BY memberships.workspace_id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        // FOR UPDATE would block every insert into the workspace.
        lock: Effect.fn("WorkspacesRepo.lock")(function* (id) {
          const rows = yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${id}
            FOR NO KEY UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        findSessionRole: Effect.fn("WorkspacesRepo.findSessionRole")(function* (id, actor) {
          const [row] = yield* sql<{ readonly has_session: boolean; readonly role: Role | null }>`
            SELECT
              EXISTS (
                SELECT
                FROM sessions
                WHERE sessions.id = ${actor.session_id}
                  AND sessions.user_id = ${actor.user_id}
              ) AS has_session,
              (
                SELECT role
                FROM memberships
                WHERE workspace_id = ${id}
                  AND user_id = ${actor.user_id}
              ) AS role`
          return row ?? { has_session: false, role: null }
        }, Effect.orDie),

        updateName: Effect.fn("WorkspacesRepo.updateName")(function* (id, name) {
          const rows = yield* sql<WorkspaceRow>`
            UPDATE workspaces
            SET name = ${name}
            WHERE id = ${id}
            RETURNING ${columns}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        remove: Effect.fn("WorkspacesRepo.remove")(function* (id) {
          yield* lockAll([id])
          const rows = yield* sql<WorkspaceRow>`
            DELETE FROM workspaces
            WHERE id = ${id}
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        removeSolelyOwned: Effect.fn("WorkspacesRepo.removeSolelyOwned")(function* (userId) {
          const owned = yield* sql<{ readonly id: string }>`
            SELECT workspace_id AS id
            FROM memberships
            WHERE user_id = ${userId}
              AND role = 'owner'`
          yield* lockAll(owned.map(({ id }) => id))
          return yield* sql<WorkspaceRow>`
            DELETE FROM workspaces
            WHERE ${isSoleOwner(sql, userId)}
            RETURNING *`
        }, Effect.orDie)
      })
    })
  )
}
