import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"

/**
 * The rows of a statement that selects just these columns, in this order. The driver adds column after
 * column to an empty object: with 24 of them that takes ten times as long, and ten times the memory, as
 * to write the object down at once.
 */
export const rowsOf = <Row extends object>(columns: ReadonlyArray<keyof Row & string>) => {
  const toRow = rowMaker<Row>(columns)
  return (
    statement: Statement.Statement<Row>
  ): Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError> =>
    Effect.map(statement.values, (rows) => rows.map(toRow))
}

const rowMaker = <Row>(columns: ReadonlyArray<string>): RowMaker<Row> => {
  const fields = columns.map((column, index) => `${JSON.stringify(column)}: values[${index}]`)
  try {
    return new Function("values", `return { ${fields.join(", ")} }`) as RowMaker<Row>
  } catch (error) {
    // Where code generation is forbidden.
    if (!(error instanceof EvalError)) throw error
    return (values) =>
      Object.fromEntries(columns.map((column, index) => [column, values[index]])) as Row
  }
}

type RowMaker<Row> = (values: ReadonlyArray<unknown>) => Row
