import { Conflict } from "@scheduling/domain/shared/Errors"
import { Effect, type Option } from "effect"
import { isDeepStrictEqual } from "node:util"

/** What putting a definition under a key came to. */
export interface Upserted<Task> {
  readonly isNew: boolean
  readonly task: Task
}

/** The defined fields, with none absent. Whatever else a row holds is not part of its definition. */
export const isDefinedAs = (row: object, definition: object): boolean => {
  const fields = new Map<string, unknown>(Object.entries(row))
  return Object.entries(definition).every(([name, value]) =>
    isDeepStrictEqual(fields.get(name), value)
  )
}

/**
 * Somebody else may make, change or remove the task with the key at the same time. Then everything
 * is decided again. Use it around the transaction.
 */
export const againIfOvertaken = <A, E, R>(upsert: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(upsert, { times: 3, while: (error) => error instanceof Conflict })

/** The locked row, if it still has the key under which it was found. */
export const stillUnder =
  (key: string) =>
  <Row extends { readonly key: string | null }, R>(
    locked: Effect.Effect<Option.Option<Row>, never, R>
  ): Effect.Effect<Row, Conflict, R> =>
    Effect.flatMap(locked, (row) =>
      row._tag === "Some" && row.value.key === key
        ? Effect.succeed(row.value)
        : Effect.fail(new Conflict({ message: "The task was changed at the same time." }))
    )

export const keyIsTaken = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "Another task of this kind has the key." }))
)
