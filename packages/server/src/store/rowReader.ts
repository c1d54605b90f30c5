import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { objectMaker } from "../core/index.ts"

/**
 * Returns a function that reads the rows of a statement which selects exactly these columns, in
 * this order. The driver adds columns one by one to an empty object. With 24 columns, that takes
 * ten times the time and memory of one object literal.
 */
export const rowReader = <Row extends object>(columns: ReadonlyArray<keyof Row & string>) => {
  const toRow = objectMaker<Row>(columns)
  return (
    statement: Statement.Statement<Row>
  ): Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError> =>
    Effect.map(statement.values, (rows) => rows.map(toRow))
}
