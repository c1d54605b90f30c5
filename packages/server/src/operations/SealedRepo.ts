import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** A column with encrypted values, by the names of its table and its columns. */
export interface SealedColumn {
  readonly table: string
  readonly id: string
  /** The column with the owner, a workspace or a user. */
  readonly owner: string
  readonly sealed: string
  /** The column with a keyed hash of the value, by which rows are found. */
  readonly hash?: string
}

export interface SealedRow {
  readonly id: string
  readonly owner: string
  readonly sealed: string
}

export class SealedRepo extends Context.Service<
  SealedRepo,
  {
    /**
     * Lists the next values after this id that were encrypted with another key than the current
     * one.
     */
    readonly listSealedOtherwise: (
      column: SealedColumn,
      keyId: string,
      after: string
    ) => Effect.Effect<ReadonlyArray<SealedRow>>
    /** Replaces the value unless it was changed since it was read. */
    readonly update: (
      column: SealedColumn,
      row: SealedRow,
      anew: { readonly sealed: string; readonly hash: string | undefined }
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/operations/SealedRepo") {
  static readonly layer: Layer.Layer<SealedRepo, never, SqlClient.SqlClient> = Layer.effect(
    SealedRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return SealedRepo.of({
        listSealedOtherwise: Effect.fn("SealedRepo.listSealedOtherwise")(function* (
          { id, owner, sealed, table },
          keyId,
          after
        ) {
          return yield* sql<SealedRow>`
            SELECT ${sql(id)} AS id, ${sql(owner)} AS owner, ${sql(sealed)} AS sealed
            FROM ${sql(table)}
            WHERE ${sql(id)} > ${after}
              AND split_part(${sql(sealed)}, '.', 1) <> ${keyId}
            ORDER BY ${sql(id)}
            LIMIT ${batch}`
        }, Effect.orDie),

        update: Effect.fn("SealedRepo.update")(function* (column, row, anew) {
          const hash =
            column.hash === undefined || anew.hash === undefined
              ? sql.literal("")
              : sql`, ${sql(column.hash)} = ${anew.hash}`
          yield* sql`
            UPDATE ${sql(column.table)}
            SET ${sql(column.sealed)} = ${anew.sealed}${hash}
            WHERE ${sql(column.owner)} = ${row.owner}
              AND ${sql(column.id)} = ${row.id}
              AND ${sql(column.sealed)} = ${row.sealed}`
        }, Effect.orDie)
      })
    })
  )
}

const batch = 100
