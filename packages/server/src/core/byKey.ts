import { Conflict, Stale } from "@scheduling/domain/shared/Errors"
import { nounOf, type Resource } from "@scheduling/domain/shared/Resource"
import { Effect, Option } from "effect"
import type { SqlError } from "effect/sql"
import { isDeepStrictEqual } from "node:util"

/** The result of creating or replacing a record by its key. */
export interface UpsertResult<Record> {
  readonly isNew: boolean
  readonly record: Record
  /** The record before the change. Undefined if the record is new or nothing changed. */
  readonly before?: Record
}

interface Versioned {
  readonly version: number
}

interface Keyed extends Versioned {
  readonly key: string | null
}

interface KeyOf {
  readonly key: string
  readonly resource: Resource
}

/**
 * Creates the record with the key, or locks and changes the existing record. An unchanged
 * definition is not written. If `version` is given, the record must exist and have that version.
 */
export const upsertByKey = <Row extends Versioned, Locked extends Keyed, Record, E, R>(
  { key, resource, version }: KeyOf & { readonly version: number | undefined },
  steps: {
    readonly find: Effect.Effect<Option.Option<Row>, E, R>
    readonly make: Effect.Effect<Record, E, R>
    readonly isDefined: (row: Row) => Effect.Effect<boolean, E, R>
    readonly show: (row: Row) => Effect.Effect<Record, E, R>
    readonly lock: (row: Row) => Effect.Effect<Option.Option<Locked>, E, R>
    readonly change: (locked: Locked) => Effect.Effect<Record, E | Stale, R>
  }
): Effect.Effect<UpsertResult<Record>, E | Conflict | Stale, R> =>
  Effect.gen(function* () {
    const known = yield* steps.find
    if (Option.isNone(known)) {
      if (version !== undefined) return yield* new Stale({ version: null })
      return { isNew: true, record: yield* steps.make }
    }
    const row = known.value
    yield* checkVersion(row, version)
    if (yield* steps.isDefined(row)) return { isNew: false, record: yield* steps.show(row) }
    const before = yield* steps.show(row)
    const locked = yield* ifKeyUnchanged({ key, resource }, steps.lock(row))
    yield* checkVersion(locked, version)
    return { isNew: false, record: yield* steps.change(locked), before }
  })

/** Rejects a change that is based on another version of the row. The row must be locked. */
export const checkVersion = (
  row: Versioned,
  version: number | undefined
): Effect.Effect<void, Stale> =>
  version === undefined || version === row.version
    ? Effect.void
    : Effect.fail(new Stale({ version: row.version }))

/**
 * Returns whether all fields of the definition have the same values in the row. Other fields of the
 * row are ignored.
 */
export const matchesDefinition = (row: object, definition: object): boolean => {
  const fields = new Map<string, unknown>(Object.entries(row))
  return Object.entries(definition).every(([name, value]) =>
    isDeepStrictEqual(fields.get(name), value)
  )
}

/**
 * Retries the upsert if another request created, changed or removed the record at the same time.
 * `upsert` must include its transaction, so that each attempt begins a new one.
 */
export const retryOnConflict = <A, E, R>(upsert: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(upsert, { times: 3, while: (error) => error instanceof Conflict })

/** Returns the locked row if it still has the key by which it was found. */
const ifKeyUnchanged = <Row extends Keyed, E, R>(
  { key, resource }: KeyOf,
  locked: Effect.Effect<Option.Option<Row>, E, R>
): Effect.Effect<Row, E | Conflict, R> =>
  Effect.flatMap(locked, (row) =>
    Option.isSome(row) && row.value.key === key
      ? Effect.succeed(row.value)
      : Effect.fail(
          new Conflict({
            resource,
            field: "key",
            message: `Another request changed the ${nounOf(resource)} with the key "${key}" at the same time. Send this request again.`
          })
        )
  )

/**
 * Turns a violation of a unique key into a conflict. `noun` is the kind of record with its article,
 * such as `A cron task`. The message begins with it.
 */
export const failIfKeyTaken =
  (resource: Resource, noun: string, key: string | null | undefined) =>
  <A, E, R>(write: Effect.Effect<A, E | SqlError.SqlError, R>) =>
    Effect.catchReason(write, "SqlError", "UniqueViolation", () =>
      Effect.fail(
        new Conflict({
          resource,
          field: "key",
          message: `${noun} with the key "${key}" already exists.`
        })
      )
    )

/**
 * Adds the id of the record that already has the key to the conflict. Wrap it around the
 * transaction of the write, which cannot read anything after the violation.
 */
export const withExistingId =
  (
    key: string | null | undefined,
    find: (key: string) => Effect.Effect<Option.Option<{ readonly id: string }>>
  ) =>
  <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    key === null || key === undefined
      ? write
      : Effect.catch(write, (error) =>
          error instanceof Conflict && error.field === "key"
            ? Effect.flatMap(find(key), (holder) =>
                Effect.fail(Option.isSome(holder) ? heldBy(error, holder.value.id) : error)
              )
            : Effect.fail(error)
        )

const heldBy = <E extends Conflict>({ detail }: E, existing_id: string) =>
  new Conflict({ ...detail, existing_id }) as E
