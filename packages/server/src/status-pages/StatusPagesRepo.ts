import type { StatusPage } from "@scheduling/domain/status-pages/StatusPage"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  type DefinitionColumns,
  namedDefinitionsRepo,
  type NamedDefinitionsRepo
} from "../accounts/index.ts"

export interface StatusPageRow extends DefinitionColumns {
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly published: boolean
  /** Null if the page needs no password. */
  readonly sealed_password: string | null
  readonly groups: ReadonlyArray<Omit<StatusPage["groups"][number], "monitor_keys">>
  readonly notices: StatusPage["notices"]
}

export class StatusPagesRepo extends Context.Service<
  StatusPagesRepo,
  NamedDefinitionsRepo<StatusPageRow>
>()("@scheduling/server/status-pages/StatusPagesRepo") {
  static readonly layer: Layer.Layer<StatusPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    StatusPagesRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      namedDefinitionsRepo<StatusPageRow>(sql, "status_pages", "slug", {
        slug: "text",
        title: "text",
        description: "text",
        published: "boolean",
        sealed_password: "text",
        groups: "jsonb",
        notices: "jsonb"
      })
    )
  )
}
